//! Writes the small models of the tests into a folder: `cargo run -p stereopsis-model --example small_models -- FOLDER`

use std::error::Error;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_model::testing::{BlockMatching, classifier, custom_operator, without_numbers};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected FOLDER")?;
    let write = |name: &str, bytes: &[u8]| files::write(&Path::new(&folder).join(format!("{name}.onnx")), bytes);
    let plain = BlockMatching::default();
    write("block-matching", &plain.file())?;
    write("block-matching-64", &BlockMatching { disparities: 64, ..plain }.file())?;
    write("halved-flow", &BlockMatching { is_halved: true, is_flow: true, scale: -1.0, ..plain }.file())?;
    write("fixed", &BlockMatching { size: Some((736, 320)), ..plain }.file())?;
    write("custom-operator", &custom_operator())?;
    write("classifier", &classifier())?;
    write("without-numbers", &without_numbers())?;
    Ok(())
}
