//! Prints, as JSON, how a calibration is rectified: focal length, principal point, and where every 16th rectified pixel comes
//! from in both raw images. `tools/rectification_peer.py` compares this with OpenCV.
//!
//! `cargo run --example rectification_points -- stereo.yml 640 480 0.0`

use std::error::Error;
use std::path::PathBuf;
use stereopsis::rectification::{LengthUnit, LoadOptions, load};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [file, width, height, alpha] = arguments.as_slice() else {
        return Err("expected CALIBRATION WIDTH HEIGHT ALPHA".into());
    };
    let (width, height) = (width.parse()?, height.parse()?);
    let options = LoadOptions { unit: Some(LengthUnit::Metre), ..LoadOptions::default() };
    let rig = load(&[PathBuf::from(file)], &options)?;
    let rectifier = rig.rectifier(width, height, alpha.parse::<f64>()?)?;
    let mut points = Vec::new();
    for y in (0..height).step_by(16) {
        for x in (0..width).step_by(16) {
            let [left, right] = rectifier.sources(x, y);
            points.push(serde_json::json!({ "at": [x, y], "left": left, "right": right }));
        }
    }
    let json = serde_json::json!({ "geometry": rectifier.geometry(), "points": points });
    serde_json::to_writer(std::io::stdout().lock(), &json)?;
    Ok(())
}
