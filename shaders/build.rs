//! Lists the shaders in this folder, so that the crate contains the text of each.

use std::path::Path;
use std::{env, fs};

fn main() {
    let [root, out] = ["CARGO_MANIFEST_DIR", "OUT_DIR"].map(|name| env::var(name).expect("a folder, from cargo"));
    let mut files = Vec::new();
    list(Path::new(&root), "", &mut files);
    files.sort();
    let text = format!("&[\n{}]\n", files.concat());
    fs::write(Path::new(&out).join("files.rs"), text).expect("the folder can be written");
}

/// Adds stem and text of each shader in a folder and below it; `parents` is the begin of the stems.
fn list(folder: &Path, parents: &str, files: &mut Vec<String>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("a folder of shaders") {
        let path = entry.expect("a shader").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            list(&path, &format!("{parents}{name}/"), files);
        } else if let Some(stem) = name.strip_suffix(".wgsl") {
            let literal = format!("{:?}", path.to_string_lossy());
            files.push(format!("(\"{parents}{stem}\", include_str!({literal})),\n"));
        }
    }
}
