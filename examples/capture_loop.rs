//! Depth inside a capture loop: two cameras, rectified, matched, and the distance of what is in the middle of the image.
//!
//! `cargo run --no-default-features --features cameras --example capture_loop -- calibration/example-rig.toml webcam:0,1`

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use stereopsis::cameras::CameraPairs;
use stereopsis::depth::depth_map;
use stereopsis::matching::Matcher;
use stereopsis::parameters::Settings;
use stereopsis::rectification::{LoadOptions, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [calibration, cameras] = arguments.as_slice() else { return Err("expected CALIBRATION CAMERAS".into()) };
    let pairs = CameraPairs::open(cameras, None)?;
    let (width, height) = pairs.size();
    let rectifier = load(&[calibration.into()], &LoadOptions::default())?.rectifier(width, height, 0.0)?;
    let settings = Settings::of_words(&[("preset", "fast"), ("num-disparities", "64")])?;
    let mut matcher = Matcher::new(settings); // one for all pairs: it keeps its memory
    for pair in pairs.take(30) {
        let pair = pair?;
        let (left, right) = rectifier.apply(&pair.left, &pair.right)?;
        let result = matcher.match_pair(left, right)?;
        let depth_m = depth_map(&result.map, &rectifier.geometry()).at(width / 2, height / 2);
        println!("{}: {depth_m:.3} m in the middle, {:?}", pair.name, result.compute_time);
    }
    Ok(())
}
