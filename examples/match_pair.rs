//! Matches two pictures that are rectified, and prints how much was measured and the disparity in the middle.
//!
//! `cargo run --release --no-default-features --example match_pair -- left.png right.png`

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use stereopsis::matching::{CpuEngine, StereoParams, job, read_luma, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<_> = std::env::args().skip(1).collect();
    let [left, right] = files.as_slice() else { return Err("expected LEFT RIGHT".into()) };
    let (left, right) = (read_luma(left.as_ref())?, read_luma(right.as_ref())?);
    let (width, height) = left.size();
    let output = run(&mut CpuEngine::new(None), job(left, right, StereoParams::default()))?;
    let map = output.map.ok_or("the CPU engine gives a map")?;
    println!("{:.1} % measured in {:?}", 100.0 * map.valid_share(), output.compute_time);
    println!("disparity in the middle: {:?} px", map.disparity_px(width / 2, height / 2));
    Ok(())
}
