//! Measurements of successive results: depth quality of a region, the distance of two pixels, scores, error against truth.

use std::collections::VecDeque;
use std::sync::Arc;
use stereopsis_base::geometry::Geometry;
use stereopsis_frame::Frame;
use stereopsis_frame::engine::Output;
use stereopsis_metrics::depth_quality::{Distance, STEP_PX, TemporalNoise, depth_quality, distance};
use stereopsis_metrics::scores::{View, scores};
use stereopsis_metrics::{Better, Missing, Quantity, Region, Trend, TruthError, trend, truth_error};
use stereopsis_stereo::{DisparityMap, StereoParams, Subpixel};

/// Share of each side of the image in the default region, as in RealSense's tool.
const DEFAULT_SHARE: f64 = 0.4;
/// Largest number of recent values for trends and their curves.
const MAX_VALUES: usize = 110;

/// Pair and map, for the temporal agreement of the next pair.
pub type PreviousPair = (Arc<Frame>, Arc<DisparityMap>);

/// Subject of measurements in an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subject {
    /// Rectangle with a flat surface.
    pub region: Region,
    /// True distance of the surface in the middle of the image, m.
    pub true_distance_m: Option<f64>,
    /// Two pixels whose distance is measured.
    pub points: Option<[(usize, usize); 2]>,
}

impl Subject {
    /// Returns the default region: the middle, 40 % of each side.
    pub fn middle(size: (usize, usize)) -> Region {
        Region::centred(size, DEFAULT_SHARE)
    }

    /// Measures the region, and the distance of the points, in a map with these parameters; `noise` has the maps up to this one.
    pub fn quantities(
        &self,
        map: &DisparityMap,
        geometry: Option<&Geometry>,
        params: &StereoParams,
        noise: &TemporalNoise,
    ) -> Vec<Quantity> {
        let quality = depth_quality(map, geometry, self.region, self.true_distance_m);
        let mut quantities = quality.quantities(noise.percent());
        if let Some(points) = self.points {
            quantities.extend(of_distance(distance(map, geometry, points, step_px(params))));
        }
        quantities
    }
}

fn of_distance(found: Result<Distance, Missing>) -> [Quantity; 6] {
    let part = |of: fn(&Distance) -> Result<f64, Missing>| found.as_ref().map_err(|&why| why).and_then(of);
    let quantity = |title, name, value| Quantity { title, name, unit: "mm", better: Better::Neither, value };
    [
        quantity("distance of the points", "distance_mm", part(|d| Ok(d.distance_mm))),
        quantity("its expected error ±", "distance_total_error_mm", part(|d| Ok(d.total_mm))),
        quantity("± of quantisation", "distance_quantisation_error_mm", part(|d| Ok(d.quantisation_mm))),
        quantity("± of matching", "distance_matching_error_mm", part(|d| d.matching_mm)),
        quantity("± of calibration", "distance_calibration_error_mm", part(|d| d.calibration_mm)),
        quantity("± of a step of 1/16 px", "distance_error_mm", part(|d| Ok(d.error_mm))),
    ]
}

/// Returns the step of the disparities of maps with these parameters, px.
fn step_px(params: &StereoParams) -> f64 {
    if params.subpixel == Subpixel::Off { 1.0 } else { STEP_PX }
}

fn of_truth(error: TruthError) -> [Quantity; 2] {
    let quantity = |title, name, value| Quantity { title, name, unit: "%", better: Better::Lower, value: Ok(value) };
    [
        quantity("bad-1 all", "bad_1_percent", error.all.bad_1_percent),
        quantity("bad-2 all", "bad_2_percent", error.all.bad_2_percent),
    ]
}

/// Computes scores of a whole map, and its error where the truth is known.
pub fn of_pair(
    frame: &Arc<Frame>,
    map: &DisparityMap,
    params: &StereoParams,
    previous: Option<&PreviousPair>,
) -> Vec<Quantity> {
    let previous = previous.map(|(frame, map)| (frame.in_rows(), frame.map_in_rows(map)));
    let previous = previous.as_ref().map(|(frame, map)| View { left: &frame.left.luma, map });
    let (in_rows, map_in_rows) = (frame.in_rows(), frame.map_in_rows(map));
    let view = View { left: &in_rows.left.luma, map: &map_in_rows };
    let mut quantities = scores(view, &in_rows.right.luma, params.left_right.is_some(), previous).quantities();
    quantities.extend(frame.truth.as_ref().and_then(|truth| truth_error(map, truth)).into_iter().flat_map(of_truth));
    quantities
}

/// Number with its last values.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number in the newest result.
    pub quantity: Quantity,
    /// Last values of the number, the oldest first; results that lack it are left out.
    pub values: Vec<f64>,
    /// Trend of the values; `None` for fewer than 20.
    pub trend: Option<Trend>,
}

/// Numbers of a result.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// All numbers.
    pub rows: Vec<Row>,
    /// Number of the series.
    pub series: u64,
    /// Number of results since the series began.
    pub results: usize,
}

/// Request to measure a result.
#[derive(Clone)]
pub struct MeasureRequest {
    /// Result to measure; skipped if its map is not on the host.
    pub output: Arc<Output>,
    /// Subject of the measurement.
    pub subject: Subject,
    /// Number of the series; another number starts anew.
    pub series: u64,
}

impl MeasureRequest {
    /// Returns whether both give equal numbers.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.output, &other.output) && self.subject == other.subject && self.series == other.series
    }
}

/// Measurement of successive results, with the history for trends and noise. Another region, size or series starts anew; other
/// parameters of matching restart the noise only, and the trends show their effect.
#[derive(Default)]
pub struct Meter {
    series: Option<Series>,
}

struct Series {
    number: u64,
    size: (usize, usize),
    region: Region,
    params: Arc<StereoParams>,
    noise: TemporalNoise,
    /// Pair that was measured last.
    newest: Option<PreviousPair>,
    /// Previous pair, computed with equal parameters.
    previous: Option<PreviousPair>,
    /// Recent values of each number, by name.
    values: Vec<(&'static str, VecDeque<Option<f64>>)>,
    results: usize,
}

impl Meter {
    /// Measures a result; `None` where its numbers are not on the host.
    pub fn measure(&mut self, wish: MeasureRequest) -> Option<Measurement> {
        let MeasureRequest { output, subject, series: number } = wish;
        let map = output.map.as_ref()?;
        let size = output.job.frame.size();
        self.series.take_if(|old| (old.number, old.size, old.region) != (number, size, subject.region));
        let series = self.series.get_or_insert_with(|| Series {
            number,
            size,
            region: subject.region,
            params: Arc::clone(&output.job.params),
            noise: TemporalNoise::new(subject.region),
            newest: None,
            previous: None,
            values: Vec::new(),
            results: 0,
        });
        let rows = series.add(&output, map, &subject);
        let results = series.results;
        Some(Measurement { rows, series: number, results })
    }
}

impl Series {
    fn add(&mut self, output: &Output, map: &Arc<DisparityMap>, subject: &Subject) -> Vec<Row> {
        let (frame, params) = (&output.job.frame, &output.job.params);
        if *self.params != **params {
            self.params = Arc::clone(params);
            self.noise = TemporalNoise::new(self.region);
            (self.newest, self.previous) = (None, None);
        }
        // a pair that is measured again adds no noise
        let is_known = self.newest.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, frame));
        if !is_known {
            self.noise.add(map, frame.geometry.as_ref());
            self.previous = self.newest.replace((Arc::clone(frame), Arc::clone(map)));
            self.results += 1;
        }
        let mut quantities = subject.quantities(map, frame.geometry.as_ref(), params, &self.noise);
        quantities.extend(of_pair(frame, map, params, self.previous.as_ref()));
        quantities.into_iter().map(|quantity| self.row(quantity, is_known)).collect()
    }

    /// Returns a number with its history; a repeated result replaces the last value.
    fn row(&mut self, quantity: Quantity, replaces: bool) -> Row {
        let at = self.values.iter().position(|(name, _)| *name == quantity.name).unwrap_or_else(|| {
            self.values.push((quantity.name, VecDeque::new()));
            self.values.len() - 1
        });
        let values = &mut self.values[at].1;
        if replaces {
            values.pop_back();
        }
        values.push_back(quantity.value.ok());
        if values.len() > MAX_VALUES {
            values.pop_front();
        }
        let values: Vec<_> = values.iter().copied().flatten().collect();
        Row { trend: trend(&values, quantity.better), values, quantity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_cpu::CpuEngine;
    use stereopsis_frame::SceneOptions;
    use stereopsis_frame::engine::{Job, run};
    use stereopsis_scene::render;

    fn frame(number: u64) -> Arc<Frame> {
        let options = SceneOptions { width: 64, height: 48, ..SceneOptions::default() };
        let raw = Arc::new(render(&options, number, false));
        let truth = raw.truth.clone();
        Arc::new(Frame { geometry: Some(options.geometry()), truth, ..Frame::of_raw(raw) })
    }

    fn output(frame: &Arc<Frame>, p1: u32) -> Arc<Output> {
        let params = Arc::new(StereoParams { p1, num_disparities: 12, ..StereoParams::default() });
        let job = Job { frame: Arc::clone(frame), params, read_back: true, wants_right: false };
        Arc::new(run(&mut CpuEngine::new(Some(1)), job).unwrap())
    }

    const SUBJECT: Subject =
        Subject { region: Region { x: 10, y: 8, width: 30, height: 20 }, true_distance_m: None, points: None };

    fn wish(output: &Arc<Output>) -> MeasureRequest {
        MeasureRequest { output: Arc::clone(output), subject: SUBJECT, series: 0 }
    }

    fn row<'a>(measured: &'a Measurement, name: &str) -> &'a Row {
        measured.rows.iter().find(|row| row.quantity.name == name).unwrap()
    }

    #[test]
    fn numbers_are_complete_and_those_of_the_metrics() {
        let output = output(&frame(0), 14);
        let measured = Meter::default().measure(wish(&output)).unwrap();
        let (map, geometry) = (output.map.as_ref().unwrap(), output.job.frame.geometry.as_ref());
        let quality = depth_quality(map, geometry, SUBJECT.region, None);
        assert_eq!(row(&measured, "fill_percent").quantity.value, Ok(quality.fill_percent));
        assert_eq!(row(&measured, "z_accuracy_percent").quantity.value, Err(Missing::TrueDistance));
        assert_eq!(row(&measured, "temporal_noise_percent").quantity.value, Err(Missing::Pairs));
        assert!(row(&measured, "bad_1_percent").quantity.value.is_ok(), "the scene has its truth with it");
        assert!(measured.rows.iter().all(|row| row.quantity.name != "distance_mm"), "no points, no distance");
    }

    #[test]
    fn noise_and_values_ignore_a_repeated_pair() {
        let mut meter = Meter::default();
        let (first, second) = (output(&frame(0), 14), output(&frame(1), 14));
        meter.measure(wish(&first)).unwrap();
        let distance = Subject { true_distance_m: Some(2.0), ..SUBJECT };
        let again = meter.measure(MeasureRequest { subject: distance, ..wish(&first) }).unwrap();
        assert_eq!((again.results, row(&again, "fill_percent").values.len()), (1, 1));
        assert_eq!(row(&again, "z_accuracy_percent").values.len(), 1);
        assert_eq!(row(&again, "temporal_noise_percent").quantity.value, Err(Missing::Pairs));
        let next = meter.measure(wish(&second)).unwrap();
        assert_eq!((next.results, row(&next, "fill_percent").values.len()), (2, 2));
        assert!(row(&next, "temporal_noise_percent").quantity.value.is_ok());
        assert!(row(&next, "agreement_percent").quantity.value != Err(Missing::Previous));
    }

    #[test]
    fn other_parameters_restart_noise_another_region_everything() {
        let mut meter = Meter::default();
        let (first, second) = (frame(0), frame(1));
        for frame in [&first, &second] {
            meter.measure(wish(&output(frame, 14))).unwrap();
        }
        let changed = output(&second, 20);
        let found = meter.measure(wish(&changed)).unwrap();
        assert_eq!(row(&found, "temporal_noise_percent").quantity.value, Err(Missing::Pairs));
        assert_eq!(row(&found, "agreement_percent").quantity.value, Err(Missing::Previous));
        assert_eq!(row(&found, "fill_percent").values.len(), 3, "the trend shows what the change does");
        let anew = meter.measure(MeasureRequest { series: 1, ..wish(&changed) }).unwrap();
        assert_eq!((anew.results, row(&anew, "fill_percent").values.len()), (1, 1));
        let region = Region { x: 0, ..SUBJECT.region };
        let subject = Subject { region, ..SUBJECT };
        let other = meter.measure(MeasureRequest { series: 1, subject, ..wish(&changed) }).unwrap();
        assert_eq!(other.results, 1);
    }

    #[test]
    fn keeps_no_more_values_than_a_trend_needs() {
        let mut meter = Meter::default();
        let (even, odd) = (output(&frame(0), 14), output(&frame(1), 14));
        let mut last = None;
        for k in 0..MAX_VALUES + 5 {
            last = meter.measure(wish(if k % 2 == 0 { &even } else { &odd }));
        }
        let last = last.unwrap();
        assert_eq!((last.results, row(&last, "fill_percent").values.len()), (MAX_VALUES + 5, MAX_VALUES));
        assert_eq!(row(&last, "fill_percent").trend, Some(Trend::Steady));
    }
}
