//! Sweep of two parameters over a grid, coarse first so that the map fills everywhere at once.

use super::axis::SearchAxis;
use super::judge::Judge;
use super::meter::{EngineMeter, Failure, Meter};
use super::sample::Sample;
use super::steps::steps;
use super::trial::Trial;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::image::Image;
use stereopsis_base::threads::{Progress, Running, Task};
use stereopsis_engine::OpenOptions;
use stereopsis_frame::Wake;
use stereopsis_frame::engine::{EngineError, EngineInfo};
use stereopsis_stereo::{DisparityMap, ParamsError, StereoParams};

/// Cell of the grid.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Cell that was not tried yet.
    Waiting,
    /// Values that contradict each other or that the engine refuses, with the reason.
    Invalid(Arc<InvalidCell>),
    /// Tried cell with its result.
    Tried(Arc<TriedCell>),
}

/// Reason why the values of a cell cannot be tried.
#[derive(Debug, thiserror::Error)]
pub enum InvalidCell {
    /// They contradict each other.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The engine cannot match with them.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Setting of a cell, tried on all samples.
#[derive(Clone, Debug)]
pub struct TriedCell {
    /// Setting with its loss and time.
    pub trial: Trial,
    /// Map of the first sample, about [`THUMBNAIL_WIDTH`] wide, with the disparities of the full size.
    pub thumbnail: DisparityMap,
}

/// Progress of a sweep.
#[derive(Clone, Debug)]
pub struct SweepProgress {
    /// Parameters along a row of cells and from row to row.
    pub axes: [SearchAxis; 2],
    /// Judge of the cells.
    pub judge: Judge,
    /// Engine of the sweep, once open.
    pub engine: Option<Arc<EngineInfo>>,
    /// Cells row by row.
    pub cells: Vec<Cell>,
    /// Number of finished cells.
    pub done: usize,
    /// Time left, estimated from the finished cells.
    pub left: Option<Duration>,
    /// Error that ended the sweep early.
    pub error: Option<String>,
    /// Whether the sweep has ended.
    pub ended: bool,
}

pub(crate) const THUMBNAIL_WIDTH: usize = 160;

impl SweepProgress {
    fn begin(axes: [SearchAxis; 2], judge: Judge) -> Self {
        let total = axes[0].values().len() * axes[1].values().len();
        let cells = vec![Cell::Waiting; total];
        Self { axes, judge, engine: None, cells, done: 0, left: None, error: None, ended: false }
    }

    /// Returns the number of cells.
    pub fn total(&self) -> usize {
        self.cells.len()
    }

    /// Returns the cell at these positions of both axes.
    pub fn cell(&self, x: usize, y: usize) -> &Cell {
        &self.cells[y * self.axes[0].values().len() + x]
    }
}

impl Progress for SweepProgress {
    fn failed(&self, why: String) -> Self {
        Self { error: Some(why), ended: true, left: None, ..self.clone() }
    }
}

/// Running sweep, which stops when dropped.
pub struct Sweep {
    task: Task<SweepProgress>,
}

impl Sweep {
    /// Tries `base` with all values of two axes of different parameters on at least one sample.
    ///
    /// # Errors
    /// The system cannot start a thread; a failure to open the engine is an error of the progress instead.
    pub fn start(
        samples: Vec<Sample>,
        base: StereoParams,
        axes: [SearchAxis; 2],
        judge: Judge,
        engine: OpenOptions,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let begin = SweepProgress::begin(axes, judge);
        let (first, num_samples) = (begin.clone(), samples.len());
        let open = move || {
            let meter = EngineMeter::open(&engine, samples.into(), judge, &base)?;
            let filling = Filling::new(SweepProgress { engine: meter.engine(), ..first }, base, num_samples);
            Ok((meter, filling))
        };
        let step = |filling: &mut Filling, meter: &mut EngineMeter, running: &_| filling.step(meter, running);
        Ok(Self { task: Task::start("sweep", begin, wake, steps(open, step))? })
    }

    /// Returns the progress.
    pub fn progress(&self) -> Arc<SweepProgress> {
        self.task.progress()
    }
}

/// Grid whose cells are tried one after the other.
struct Filling {
    progress: SweepProgress,
    base: StereoParams,
    num_samples: usize,
    waiting: std::vec::IntoIter<(usize, usize)>,
    begin: Instant,
}

impl Filling {
    fn new(progress: SweepProgress, base: StereoParams, num_samples: usize) -> Self {
        let [columns, rows] = [0, 1].map(|k| progress.axes[k].values().len());
        let waiting = coarse_first(columns, rows).collect::<Vec<_>>().into_iter();
        Self { progress, base, num_samples, waiting, begin: Instant::now() }
    }

    /// Tries the next cell and publishes it; breaks after the last one.
    fn step(&mut self, meter: &mut dyn Meter, running: &Running<SweepProgress>) -> Result<ControlFlow<()>, Failure> {
        let Self { progress, base, num_samples, waiting, begin } = self;
        let Some((x, y)) = waiting.next() else { return Ok(ControlFlow::Break(())) };
        if running.is_stopped() {
            return Err(Failure::Stopped);
        }
        let cell = match params_of(base, &progress.axes, (x, y)) {
            Err(why) => Cell::Invalid(Arc::new(why.into())),
            Ok(params) => match try_all(params, *num_samples, meter, &|| running.is_stopped()) {
                Ok(tried) => Cell::Tried(Arc::new(tried)),
                Err(Failure::Refused(why)) => Cell::Invalid(Arc::new(why.into())),
                Err(failure) => return Err(failure),
            },
        };
        let columns = progress.axes[0].values().len();
        progress.cells[y * columns + x] = cell;
        progress.done += 1;
        let waiting = (progress.total() - progress.done) as u32;
        progress.left = Some(begin.elapsed() / progress.done as u32 * waiting);
        progress.ended = waiting == 0;
        running.publish(progress.clone());
        Ok(ControlFlow::Continue(()))
    }
}

/// Iterates over every place of a grid once: each fourth column of each fourth row, then each second, then all.
fn coarse_first(columns: usize, rows: usize) -> impl Iterator<Item = (usize, usize)> {
    [4, 2, 1].into_iter().flat_map(move |step| {
        let places = (0..rows).step_by(step).flat_map(move |y| (0..columns).step_by(step).map(move |x| (x, y)));
        places.filter(move |(x, y)| step == 4 || x % (2 * step) != 0 || y % (2 * step) != 0)
    })
}

/// Returns the parameters of a cell, in which those outside the axes follow the rules of flags.
fn params_of(base: &StereoParams, axes: &[SearchAxis; 2], (x, y): (usize, usize)) -> Result<StereoParams, ParamsError> {
    let mut params = base.clone();
    for (axis, place) in axes.iter().zip([x, y]) {
        params.set(axis.parameter(), axis.values()[place]);
    }
    params.repair(|name| axes.iter().any(|axis| axis.parameter().name == name));
    params.validate()?;
    Ok(params)
}

/// Tries a setting on all samples, on a single one twice for its time.
fn try_all(
    params: StereoParams,
    num_samples: usize,
    meter: &mut dyn Meter,
    is_stopped: &dyn Fn() -> bool,
) -> Result<TriedCell, Failure> {
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
    let map = first.ok_or(Failure::NoMap)?;
    Ok(TriedCell { trial, thumbnail: thumbnail(&map) })
}

fn thumbnail(map: &DisparityMap) -> DisparityMap {
    let (width, height) = map.size();
    let step = width.div_ceil(THUMBNAIL_WIDTH).max(1);
    let (columns, rows) = (width / step, height / step);
    // sampled from the middle of the represented pixels
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
    use crate::fake::FakeMeter;
    use std::collections::BTreeSet;
    use stereopsis_base::parameter::Value;

    fn axes(base: &StereoParams) -> [SearchAxis; 2] {
        let axis = |name: &str, values: &[i64]| {
            let values = values.iter().map(|&v| Value::Integer(v)).collect();
            SearchAxis::of(name, base).unwrap().with_values(values)
        };
        [axis("p1", &[4, 14, 60]), axis("p2", &[30, 60])]
    }

    fn task(base: &StereoParams, meter: FakeMeter) -> Task<SweepProgress> {
        let begin = SweepProgress::begin(axes(base), Judge::Truth);
        let filling = Filling::new(begin.clone(), base.clone(), 2);
        let step = |filling: &mut Filling, meter: &mut FakeMeter, running: &_| filling.step(meter, running);
        Task::start("sweep", begin, Arc::new(|| {}), steps(move || Ok((meter, filling)), step)).unwrap()
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
        let found = ended(&task(&base, FakeMeter::new()));
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
            assert!(why.to_string().contains("p1 60 is not below p2"), "{why}");
        }
    }

    #[test]
    fn a_lost_engine_ends_it_and_a_refused_cell_does_not() {
        let lost = ended(&task(&StereoParams::default(), FakeMeter { lost_at: Some(5), ..FakeMeter::new() }));
        // two cells of two samples, and an invalid one
        assert_eq!((lost.done, lost.error.as_deref()), (3, Some("the GPU was lost")));
        let base = StereoParams { gating: Some(6), ..StereoParams::default() };
        let refused = ended(&task(&base, FakeMeter::new()));
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
