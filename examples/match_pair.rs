//! Matches two images that are rectified, and prints how much was measured and the disparity in the middle.
//!
//! `cargo run --no-default-features --example match_pair -- left.png right.png`

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use stereopsis::matching::{Matcher, StereoParams, read_picture};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<_> = std::env::args().skip(1).collect();
    let [left, right] = files.as_slice() else { return Err("expected LEFT RIGHT".into()) };
    let (left, right) = (read_picture(left.as_ref())?, read_picture(right.as_ref())?);
    let (width, height) = left.size();
    let result = Matcher::new(StereoParams::default()).match_pair(left, right)?;
    println!("{:.1} % measured in {:?}", 100.0 * result.map.valid_share(), result.compute_time);
    println!("disparity in the middle: {:?} px", result.map.disparity_px(width / 2, height / 2));
    Ok(())
}
