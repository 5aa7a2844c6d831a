//! Matching and depth inside a capture loop of one's own: here the pictures are made up as rectified ones of a wall 2 m away.
//! Those of cameras go through `rectifier.apply(&left, &right)` first.
//!
//! `cargo run --release --no-default-features --example capture_loop -- calibration/example-rig.toml`

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use stereopsis::depth::depth_map;
use stereopsis::matching::{CpuEngine, Image, Luma, Picture, StereoParams, job, run};
use stereopsis::rectification::{LoadOptions, load};

/// A wall parallel to both cameras, moved up a little from pair to pair; a program of yours asks its cameras here.
fn captured(pair: usize, (width, height): (usize, usize), disparity_px: usize) -> [Picture; 2] {
    let texture = move |x: usize, y: usize| ((x * 73) ^ ((y + pair) * 151) ^ (x * (y + pair) * 7)) as u8;
    let of = |shift| Picture { luma: Luma::U8(Image::from_fn(width, height, |x, y| texture(x + shift, y))), rgb: None };
    [of(0), of(disparity_px)]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("expected CALIBRATION")?;
    let rig = load(&[file.into()], &LoadOptions::default())?;
    let size = rig.size.ok_or("the calibration does not tell the size of its pictures")?;
    let rectifier = rig.rectifier(size.0, size.1, 0.0)?;
    let geometry = rectifier.geometry();
    let wall_px = geometry.disparity_px(2.0).round() as usize;
    let params = StereoParams { num_disparities: 128, ..StereoParams::default() };
    let mut engine = CpuEngine::new(None); // one for all pairs: it keeps its memory
    for pair in 0..5 {
        let [left, right] = captured(pair, size, wall_px);
        let output = run(&mut engine, job(left.luma, right.luma, params.clone()))?;
        let map = output.map.ok_or("the CPU engine gives a map")?;
        let depth_m = depth_map(&map, &geometry).at(size.0 / 2, size.1 / 2);
        println!("pair {pair}: {depth_m:.3} m in the middle, {:?}", output.compute_time);
    }
    Ok(())
}
