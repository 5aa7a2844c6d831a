//! Validity of the scores without truth: rank correlations with true errors over random settings per scene, and a cross-validated
//! combination.

mod fit;
mod settings;
mod study;

use fit::{Agreement, Weights};
use std::io::Write;
use std::path::Path;
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::MaxPixels;
use stereopsis_images::picture_files::truth::find_truth_pairs;
use stereopsis_metrics::scores::PARTS;
use study::Study;

/// Options of the study.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Seed of the settings.
    pub seed: u64,
    /// Number of settings per scene.
    pub settings: usize,
    /// Whether to print JSON instead of tables.
    pub json: bool,
}

/// Studies every scene with truth below a folder on the CPU engine, and prints the results.
///
/// # Errors
/// The folder has no scene with truth, a file is damaged, `out` cannot be written.
pub fn run(data: &Path, options: Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut studies = Vec::new();
    for pair in find_truth_pairs(data)? {
        let scene = pair.read(MaxPixels::default())?;
        let (left, right) = (&scene.raw.left, &scene.raw.right);
        let mut engine = CpuEngine::new(None);
        let mut matcher = |params: &_| Ok(engine.match_next(left, right, params, false)?.0.left);
        let study = study::study(&scene, options.seed, options.settings, &mut matcher)?;
        if !options.json {
            print(&study, out)?;
        }
        studies.push(study);
    }
    let (weights, agreements) = fit::fit(&studies);
    if options.json {
        let value =
            serde_json::json!({ "parts": PARTS, "weights": weights, "agreements": agreements, "results": studies });
        writeln!(out, "{}", stereopsis_base::console::json(&value)?)?;
        return Ok(());
    }
    Ok(print_fit(&weights, &agreements, out)?)
}

fn number(correlation: Option<f64>) -> String {
    correlation.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

fn print(study: &Study, out: &mut dyn Write) -> std::io::Result<()> {
    let Study { scene, drawn, samples, .. } = study;
    writeln!(out, "{scene}: {} of {drawn} settings within twice the best one's bad-1.0", samples.len())?;
    for (k, part) in PARTS.iter().enumerate() {
        let [one, two] = study.correlations(|sample| sample.parts[k]).map(number);
        writeln!(out, "  {part:<26} bad-1.0 {one:>6}  bad-2.0 {two:>6}")?;
    }
    Ok(())
}

fn print_fit(weights: &Weights, agreements: &[Agreement], out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "\nscore without truth, on each scene with weights fitted to the others:")?;
    for Agreement { scene, weights, correlations } in agreements {
        let [one, two] = correlations.map(number);
        writeln!(out, "  {scene:<26} bad-1.0 {one:>6}  bad-2.0 {two:>6}  tenths {weights:?}")?;
    }
    writeln!(out, "weights fitted to all scenes, in tenths: {weights:?} of {}", PARTS.join("; "))
}
