//! Two parameters over a grid: coarse first, so that the map fills everywhere at once.

use super::axis::Axis;
use super::judge::Judge;
use super::meter::{EngineMeter, Failure, Meter};
use super::sample::Sample;
use super::task::{Progress, Shared, Task};
use super::trial::Trial;
use crate::engine::worker::Wake;
use crate::engine::{EngineInfo, OpenOptions};
use crate::image::Image;
use crate::stereo::{DisparityMap, StereoParams};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One place of the grid.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Its turn has not come.
    Waiting,
    /// The two values do not go together, or the engine cannot do them; the reason.
    Invalid(String),
    /// It was tried.
    Tried(Arc<Tried>),
}

/// The setting of a cell, tried on all samples.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The setting with its loss and time.
    pub trial: Trial,
    /// The map of the first sample, about [`THUMBNAIL_WIDTH`] wide. Its disparities are those of the full size.
    pub thumbnail: DisparityMap,
}

/// How far a sweep is.
#[derive(Clone, Debug)]
pub struct SweepProgress {
    /// The two parameters: along a row of cells, and from row to row.
    pub axes: [Axis; 2],
    /// What the cells are judged by.
    pub judge: Judge,
    /// What computes; `None` before it is open.
    pub engine: Option<Arc<EngineInfo>>,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
    /// Number of cells that wait no more.
    pub done: usize,
    /// Time left, by the cells so far; `None` before the first one.
    pub left: Option<Duration>,
    /// Why it ended early.
    pub error: Option<String>,
    /// Nothing will follow.
    pub ended: bool,
}

/// Width of a thumbnail at most, px.
pub(crate) const THUMBNAIL_WIDTH: usize = 160;

impl SweepProgress {
    fn begin(axes: [Axis; 2], judge: Judge) -> Self {
        let total = axes[0].values().len() * axes[1].values().len();
        let cells = vec![Cell::Waiting; total];
        Self { axes, judge, engine: None, cells, done: 0, left: None, error: None, ended: false }
    }

    /// Number of cells.
    pub fn total(&self) -> usize {
        self.cells.len()
    }

    /// The cell at these places of both axes.
    pub fn cell(&self, x: usize, y: usize) -> &Cell {
        &self.cells[y * self.axes[0].values().len() + x]
    }
}

impl Progress for SweepProgress {
    fn failed(&self, why: String) -> Self {
        Self { error: Some(why), ended: true, left: None, ..self.clone() }
    }
}

/// The running sweep. Dropping it stops it.
pub struct Sweep {
    task: Task<SweepProgress>,
}

impl Sweep {
    /// Tries `base` with all values of both axes on all samples, of which there is at least one. The two parameters differ.
    ///
    /// # Errors
    /// The system gives no thread. An engine that cannot be opened is an error of the progress.
    pub fn start(
        samples: Vec<Sample>,
        base: StereoParams,
        axes: [Axis; 2],
        judge: Judge,
        engine: OpenOptions,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let (num_samples, samples) = (samples.len(), Arc::from(samples));
        let begin = SweepProgress::begin(axes, judge);
        let first = begin.clone();
        let task = Task::start("sweep", begin, wake, move |shared| {
            let meter = EngineMeter::open(&engine, samples, judge, &base);
            let swept = meter.and_then(|mut meter| fill(first.clone(), &base, num_samples, &mut meter, shared));
            if let Err(Failure::Lost(why) | Failure::Refused(why)) = swept {
                shared.fail(why);
            }
        })?;
        Ok(Self { task })
    }

    /// How far it is.
    pub fn progress(&self) -> Arc<SweepProgress> {
        self.task.progress()
    }
}

/// Tries one cell after the other, and publishes each.
fn fill(
    mut progress: SweepProgress,
    base: &StereoParams,
    num_samples: usize,
    meter: &mut dyn Meter,
    shared: &Shared<SweepProgress>,
) -> Result<(), Failure> {
    let begin = Instant::now();
    progress.engine = meter.engine();
    let [columns, rows] = [0, 1].map(|k| progress.axes[k].values().len());
    for (x, y) in coarse_first(columns, rows) {
        if shared.is_stopped() {
            return Err(Failure::Stopped);
        }
        let cell = match params_of(base, &progress.axes, (x, y)) {
            Err(why) => Cell::Invalid(why),
            Ok(params) => match try_all(params, num_samples, meter, &|| shared.is_stopped()) {
                Ok(tried) => Cell::Tried(Arc::new(tried)),
                Err(Failure::Refused(why)) => Cell::Invalid(why),
                Err(failure) => return Err(failure),
            },
        };
        progress.cells[y * columns + x] = cell;
        progress.done += 1;
        let waiting = (progress.total() - progress.done) as u32;
        progress.left = Some(begin.elapsed() / progress.done as u32 * waiting);
        progress.ended = waiting == 0;
        shared.publish(progress.clone());
    }
    Ok(())
}

/// Every place of a grid once: each fourth column of each fourth row, then each second, then all.
fn coarse_first(columns: usize, rows: usize) -> impl Iterator<Item = (usize, usize)> {
    [4, 2, 1].into_iter().flat_map(move |step| {
        let places = (0..rows).step_by(step).flat_map(move |y| (0..columns).step_by(step).map(move |x| (x, y)));
        places.filter(move |(x, y)| step == 4 || x % (2 * step) != 0 || y % (2 * step) != 0)
    })
}

/// The parameters of a cell. What neither axis sets follows by the rules of flags.
fn params_of(base: &StereoParams, axes: &[Axis; 2], (x, y): (usize, usize)) -> Result<StereoParams, String> {
    let mut params = base.clone();
    for (axis, place) in axes.iter().zip([x, y]) {
        params.set(axis.parameter(), axis.values()[place]);
    }
    params.repair(|name| axes.iter().any(|axis| axis.parameter().name == name));
    params.validate().map_err(|err| err.to_string())?;
    Ok(params)
}

/// Tries a setting on all samples; a single one twice, for its time.
fn try_all(
    params: StereoParams,
    num_samples: usize,
    meter: &mut dyn Meter,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Tried, Failure> {
    let mut trial = Trial::of(Arc::new(params), Vec::new());
    let mut first: Option<Arc<DisparityMap>> = None;
    for run in 0..num_samples.max(2) {
        if is_stopped() {
            return Err(Failure::Stopped);
        }
        let sample = run % num_samples.max(1);
        let measured = meter.measure(&trial.params, sample, is_stopped)?;
        trial.add(sample, measured.run);
        first = first.or(measured.map);
    }
    let map = first.ok_or_else(|| Failure::Lost("there is no map to show".to_owned()))?;
    Ok(Tried { trial, thumbnail: thumbnail(&map) })
}

/// Every n-th pixel of every n-th row.
fn thumbnail(map: &DisparityMap) -> DisparityMap {
    let (width, height) = map.size();
    let step = width.div_ceil(THUMBNAIL_WIDTH).max(1);
    let (columns, rows) = (width / step, height / step);
    // from the middle of the pixels that each stands for
    let at = |k: usize| k * step + step / 2;
    DisparityMap {
        values: Image::from_fn(columns, rows, |x, y| map.values.at(at(x), at(y))),
        reasons: Image::from_fn(columns, rows, |x, y| map.reasons.at(at(x), at(y))),
        confidence: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::parameter::Value;
    use std::collections::BTreeSet;

    fn axes(base: &StereoParams) -> [Axis; 2] {
        let axis = |name: &str, values: &[i64]| {
            let values = values.iter().map(|&v| Value::Integer(v)).collect();
            Axis::of(name, base).unwrap().with_values(values)
        };
        [axis("p1", &[4, 14, 60]), axis("p2", &[30, 60])]
    }

    /// A sweep in progress without a thread.
    fn task(base: &StereoParams, meter: Fake) -> Task<SweepProgress> {
        let begin = SweepProgress::begin(axes(base), Judge::Truth);
        let (first, base, mut meter) = (begin.clone(), base.clone(), meter);
        let work = move |shared: &Shared<SweepProgress>| {
            if let Err(failure) = fill(first, &base, 2, &mut meter, shared) {
                shared.fail(failure.to_string());
            }
        };
        Task::start("sweep", begin, Arc::new(|| {}), work).unwrap()
    }

    fn ended(task: &Task<SweepProgress>) -> Arc<SweepProgress> {
        let end = Instant::now() + Duration::from_secs(30);
        while !task.progress().ended {
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
        task.progress()
    }

    #[test]
    fn cells_have_their_setting_or_the_reason_why_not() {
        let base = StereoParams::default();
        let found = ended(&task(&base, Fake::new()));
        assert_eq!((found.done, found.total(), &found.error), (6, 6, &None));
        for (x, p1) in [4, 14].into_iter().enumerate() {
            for (y, p2) in [30, 60].into_iter().enumerate() {
                let Cell::Tried(tried) = found.cell(x, y) else { panic!("{:?}", found.cell(x, y)) };
                assert_eq!((tried.trial.params.p1, tried.trial.params.p2, tried.trial.samples), (p1, p2, 2));
                assert_eq!(tried.thumbnail.size(), (160, 20));
                assert_eq!(tried.thumbnail.values.at(3, 2), 7 + 5);
            }
        }
        for y in 0..2 {
            let Cell::Invalid(why) = found.cell(2, y) else { panic!("{:?}", found.cell(2, y)) };
            assert!(why.contains("--p1 60 is not below --p2"), "{why}");
        }
    }

    #[test]
    fn a_lost_engine_ends_it_and_a_refused_cell_does_not() {
        let lost = ended(&task(&StereoParams::default(), Fake { lost_at: Some(5), ..Fake::new() }));
        // two cells of two samples, and one that is invalid
        assert_eq!((lost.done, lost.error.as_deref()), (3, Some("the GPU was lost")));
        let base = StereoParams { gating: Some(6), ..StereoParams::default() };
        let refused = ended(&task(&base, Fake::new()));
        assert!(refused.error.is_none());
        assert!(refused.cells.iter().all(|cell| matches!(cell, Cell::Invalid(_))), "{:?}", refused.cells);
    }

    #[test]
    fn every_cell_comes_once_and_coarse_ones_first() {
        for (columns, rows) in [(1, 1), (2, 3), (9, 17), (10, 4)] {
            let order: Vec<_> = coarse_first(columns, rows).collect();
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), columns * rows);
            assert_eq!(order.len(), columns * rows);
            let coarse = columns.div_ceil(4) * rows.div_ceil(4);
            assert!(order[..coarse].iter().all(|(x, y)| x % 4 == 0 && y % 4 == 0), "{order:?}");
            let middle = columns.div_ceil(2) * rows.div_ceil(2);
            assert!(order[..middle].iter().all(|(x, y)| x % 2 == 0 && y % 2 == 0), "{order:?}");
        }
    }
}
