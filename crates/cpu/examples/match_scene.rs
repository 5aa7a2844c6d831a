//! Matches the first pairs of the built-in scene with one thread and prints nothing: tools/bench_instructions.py counts its
//! instructions. FILE keeps the pairs as bytes; they are rendered where it does not exist.
//!
//! `cargo run -p stereopsis-cpu --example match_scene -- FILE 640x480 2 num-disparities=128 weighted-median=off`

use std::error::Error;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_base::image::{Image, Luma};
use stereopsis_cpu::CpuEngine;
use stereopsis_cpu::simd::SimdLevel;
use stereopsis_frame::SceneOptions;
use stereopsis_scene::SceneRenderer;
use stereopsis_stereo::StereoParams;

/// Number of pairs in the file.
const PAIRS: u64 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let [file, size, matched, settings @ ..] = words.as_slice() else {
        return Err("expected FILE WIDTHxHEIGHT PAIRS [PARAMETER=VALUE ...]".into());
    };
    let (width, height) = size.split_once('x').ok_or("the size has to be WIDTHxHEIGHT")?;
    let (width, height) = (width.parse()?, height.parse()?);
    let params = params(settings)?;
    let pictures = pictures(file.as_ref(), width, height)?;
    let mut engine = CpuEngine::with_level(Some(1), SimdLevel::chosen()?);
    for pair in pictures.chunks_exact(2).take(matched.parse()?) {
        engine.match_next(&pair[0], &pair[1], &params, false)?;
    }
    Ok(())
}

/// Returns the left and the right image of each pair in turn.
fn pictures(file: &Path, width: usize, height: usize) -> Result<Vec<Luma>, Box<dyn Error>> {
    if !file.exists() {
        let scene = SceneRenderer::new(&SceneOptions { width, height, ..SceneOptions::default() })?;
        let pairs = (0..PAIRS).map(|number| scene.pair(number));
        let bytes: Vec<_> =
            pairs.flat_map(|pair| [pair.left, pair.right].map(|picture| picture.luma.to_u8().into_pixels())).collect();
        files::write(file, &bytes.concat())?;
    }
    let bytes = std::fs::read(file)?;
    if bytes.len() != 2 * PAIRS as usize * width * height {
        return Err("the file has images of another size".into());
    }
    let pictures = bytes.chunks_exact(width * height);
    Ok(pictures.map(|pixels| Luma::U8(Image::new(width, height, pixels.to_vec()))).collect())
}

/// Returns the defaults with these settings applied.
fn params(settings: &[String]) -> Result<StereoParams, Box<dyn Error>> {
    let mut params = StereoParams::default();
    let table = StereoParams::table();
    for setting in settings {
        let (name, text) = setting.split_once('=').ok_or("a setting has to be PARAMETER=VALUE")?;
        let parameter = table.iter().find(|parameter| parameter.name == name);
        let parameter = parameter.ok_or_else(|| format!("there is no {name}"))?;
        params.set(parameter, parameter.parse(text)?);
    }
    params.validate()?;
    Ok(params)
}
