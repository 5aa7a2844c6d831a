//! Matches every pair with every setting, and computes the figures.

use super::inputs::{Input, SCENE};
use super::variants::Variant;
use anyhow::Context as _;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use stereopsis_base::console;
use stereopsis_base::files::Outputs;
use stereopsis_frame::engine::{Engine, EngineChoice, Job, ModelFile, Output};
use stereopsis_frame::{Frame, FramePreparation, MaxPixels, RowCorrection, SourceInfo};
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_images::{describe, write_disparity, write_errors};
use stereopsis_metrics::{Figures, OtherScale, TruthRegion, figures, truth_error};
use stereopsis_recording::pair_bar;

/// Plan of an evaluation.
pub(super) struct Plan<'a> {
    pub(super) variants: &'a [Variant],
    pub(super) regions: &'a [TruthRegion],
    pub(super) errors: Option<&'a Path>,
    pub(super) maps: Option<&'a Path>,
    pub(super) max_pixels: MaxPixels,
    /// Whether rows of files are corrected.
    pub(super) corrects_rows: bool,
    pub(super) shows_progress: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) variant: usize,
    pub(super) regions: Vec<(TruthRegion, Figures)>,
    /// Time of the engine for the pair, ms.
    pub(super) time_ms: f64,
    /// Engine, parameters and times, for other programs.
    pub(super) about: Value,
    /// File with the image of the errors, if it was written.
    pub(super) errors: Option<PathBuf>,
    /// File with the disparity, if it was written.
    pub(super) map: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(super) struct SceneRows {
    pub(super) name: String,
    pub(super) layout: &'static str,
    pub(super) size: (usize, usize),
    pub(super) rows: Vec<Row>,
}

/// Results of an evaluation.
#[derive(Clone, Debug, Default)]
pub(super) struct Evaluation {
    /// Rows in the order of the inputs.
    pub(super) rows: Vec<SceneRows>,
    /// Engine of the first pair, for people.
    pub(super) engine: String,
    /// Sentences on what is left out of the inputs.
    pub(super) remarks: Vec<String>,
}

/// Evaluates until the last pair, an error, or Ctrl-C; returns the results, and how the run ended.
pub(super) fn run(
    plan: &Plan<'_>,
    inputs: &[Input],
    outputs: Outputs,
    interrupt: &AtomicBool,
) -> (Evaluation, anyhow::Result<()>) {
    let total: u64 = inputs.iter().map(Input::pairs).sum();
    let bar = pair_bar(Some(total).filter(|&pairs| pairs > 1 && plan.shows_progress));
    let mut run = Run { plan, engines: Vec::new(), outputs, found: Evaluation::default(), done: 0, other_scale: None };
    let mut see = |pair: PairWithTruth| {
        if interrupt.load(Ordering::Acquire) {
            return Ok(ControlFlow::Break(()));
        }
        run.pair(&pair)?;
        bar.inc(1);
        Ok(ControlFlow::Continue(()))
    };
    let mut remarks = Vec::new();
    let each = |input: &Input| input.each(plan.max_pixels, &mut remarks, &mut see);
    let ended = inputs.iter().map(each).find(|ended| !matches!(ended, Ok(ControlFlow::Continue(()))));
    bar.finish_and_clear();
    run.found.remarks.extend(remarks);
    let ended = match ended {
        Some(Ok(_)) => Err(anyhow::anyhow!("interrupted after {} of {total} pairs", run.done)),
        Some(Err(err)) => Err(err),
        None => Ok(()),
    };
    (run.found, ended)
}

/// Settings that decide the engine: variants that agree in them share one.
type EngineKey = (EngineChoice, Option<usize>, Option<String>, Option<ModelFile>);

struct Run<'a> {
    plan: &'a Plan<'a>,
    engines: Vec<(EngineKey, Box<dyn Engine>)>,
    outputs: Outputs,
    found: Evaluation,
    done: u64,
    /// Other scale of the truth of the present pair.
    other_scale: Option<OtherScale>,
}

impl Run<'_> {
    fn pair(&mut self, pair: &PairWithTruth) -> anyhow::Result<()> {
        let frame = Arc::new(self.frame(pair)?);
        self.other_scale = None;
        let mut rows = Vec::new();
        for variant in 0..self.plan.variants.len() {
            let row = self.row(pair, &frame, variant);
            let name = &self.plan.variants[variant].name;
            rows.extend(row.with_context(|| format!("{} with the setting {name}", console::foreign(&pair.name)))?);
        }
        self.done += 1;
        if let Some(found) = self.other_scale.take() {
            self.found.remarks.push(format!("{} is left out: {found}", console::foreign(&pair.name)));
        } else if !rows.is_empty() {
            let (name, size) = (pair.name.clone(), frame.size());
            self.found.rows.push(SceneRows { name, layout: pair.layout, size, rows });
        }
        Ok(())
    }

    /// Returns the pair with corrected rows, as wherever pairs of files are matched. The truth belongs to the left image, which stays.
    fn frame(&self, pair: &PairWithTruth) -> anyhow::Result<Frame> {
        let raw = Arc::clone(&pair.raw);
        let rows = (self.plan.corrects_rows && pair.layout != SCENE).then(|| Arc::new(RowCorrection::auto()));
        let preparation = FramePreparation { rows, ..FramePreparation::default() };
        let frame = preparation.prepare(&raw, &SourceInfo::default(), Instant::now())?;
        Ok(Frame { truth: Some(Arc::clone(&pair.truth)), ..frame })
    }

    /// Evaluates one setting; `None` where the pair has none of the regions.
    fn row(&mut self, pair: &PairWithTruth, frame: &Arc<Frame>, number: usize) -> anyhow::Result<Option<Row>> {
        let variant = &self.plan.variants[number];
        let regions = pair.regions.present();
        let regions: Vec<_> = regions.into_iter().filter(|(region, _)| self.plan.regions.contains(region)).collect();
        if regions.is_empty() {
            return Ok(None);
        }
        let params = Arc::new(variant.params(frame.size().0, pair.num_disparities)?);
        let job = Job { frame: Arc::clone(frame), params, read_back: true, wants_right: false };
        let output = stereopsis_frame::engine::run(self.engine(variant, &job)?, job)?;
        let map = output.map.as_deref().context("the engine gave no numbers back")?;
        self.other_scale = self.other_scale.or(truth_error(map, &pair.truth).and_then(|error| error.other_scale));
        let of_region = |(region, mask)| {
            let figures = figures(map, &pair.truth.left_px, mask);
            figures
                .map(|figures| (region, figures))
                .with_context(|| format!("no pixel of the region {region} has truth"))
        };
        let regions = regions.into_iter().map(of_region).collect::<anyhow::Result<_>>()?;
        let name = file_name(&pair.name, &variant.name);
        let (errors, map_file) =
            (self.target(self.plan.errors, &name, "png")?, self.target(self.plan.maps, &name, "pfm")?);
        if let Some(path) = &errors {
            write_errors(path, map, &pair.truth.left_px)?;
        }
        if let Some(path) = &map_file {
            write_disparity(path, map)?;
        }
        if self.found.engine.is_empty() {
            self.found.engine = format!("{} ({})", output.engine.kind, output.engine.adapter);
        }
        Ok(Some(Row {
            variant: number,
            regions,
            time_ms: time_ms(&output),
            about: describe(&output),
            errors,
            map: map_file,
        }))
    }

    /// Returns the engine of a setting, opened for this job if no other setting has opened it.
    fn engine(&mut self, variant: &Variant, job: &Job) -> anyhow::Result<&mut dyn Engine> {
        let settings = &variant.settings;
        let key = (settings.engine, settings.threads, settings.adapter.clone(), settings.model_file());
        let known = self.engines.iter().position(|(of, _)| *of == key);
        let at = known.unwrap_or(self.engines.len());
        if known.is_none() {
            self.engines.push((key, stereopsis_engine::open(&settings.engine_options().into(), Some(job))?.engine));
        }
        Ok(self.engines[at].1.as_mut())
    }

    /// Returns the file of a result, after a check that it may be written.
    fn target(&mut self, folder: Option<&Path>, name: &str, ending: &str) -> anyhow::Result<Option<PathBuf>> {
        let path = folder.map(|folder| folder.join(format!("{name}.{ending}")));
        path.iter().try_for_each(|path| self.outputs.add(path))?;
        Ok(path)
    }
}

fn time_ms(output: &Output) -> f64 {
    output.compute_time.as_secs_f64() * 1e3
}

/// Returns a file name for a pair and a setting that every system accepts: both names may come from a file.
fn file_name(pair: &str, variant: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    format!("{pair}-{variant}").trim_start_matches('.').chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_stay_in_their_folder() {
        assert_eq!(file_name("middlebury2003/teddy", "my desk"), "middlebury2003-teddy-my-desk");
        assert_eq!(file_name("../../etc", "a\\b"), "-..-etc-a-b");
    }
}
