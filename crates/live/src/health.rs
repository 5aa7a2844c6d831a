//! Health of the newest pair, measured once a second on a thread: alignment, brightness, motion. It only reads finished results, so that
//! it delays no pair.

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use std::convert::Infallible;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_base::geometry::Axis;
use stereopsis_base::image::{Luma, QuarterTurn};
use stereopsis_calibration::{
    Drift, DriftGatherer, Exchanged, Match, RowFit, RowOffset, Verdict, edge_matches, exchanged, matches, row_offset_of,
};
use stereopsis_frame::engine::{Job, Output};
use stereopsis_frame::{Frame, RawPair};
use stereopsis_metrics::{Blank, LumaDifference, blank, luma_difference, motion};

/// Measurements of a recent pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Whether it was measured; otherwise all values are unknown.
    pub is_measured: bool,
    /// Difference of rows of the rectified images, or of columns where one camera stands above the other, px at working size; `None` with
    /// too few matches.
    pub row_offset: Option<RowOffset>,
    /// Correction of the rows, with its gain; `None` without a correction or with too few matches.
    pub row_fit: Option<RowFit>,
    /// Change of the rig since its calibration, by the matches gathered so far; `None` without a calibration, or with too few matches.
    pub drift: Option<Drift>,
    /// Number of points in one column of both images, where the cameras seem to stand one above the other without being declared so.
    pub in_columns: Option<usize>,
    /// Sign that left and right are exchanged.
    pub exchanged: Option<Exchanged>,
    /// Number of points at which edges match, where brightness matches at hardly any: images of two kinds of light.
    pub edges_alone: Option<usize>,
    /// Disparities of the points that both images show in one row, px, in ascending order; `None` where no points were looked for.
    pub common_px: Option<Vec<f64>>,
    /// Whether both views are parts of one image.
    pub is_cut: bool,
    /// Reason why the pair has no texture or light for depth; nothing else is measured then.
    pub blank: Option<Blank>,
    /// Brightness difference of the images.
    pub luma: Option<LumaDifference>,
    /// Speed of the fastest motion in the left image, px/s at the source's size.
    pub motion_px_per_s: Option<f64>,
}

impl Health {
    /// Measures one pair, without motion; its rig is judged by this view alone.
    pub fn of(job: &Job) -> Self {
        Self::gathering(job, &mut DriftGatherer::default())
    }

    /// Measures one pair, without motion; its rig is judged by the views gathered, and this one.
    pub fn gathering(job: &Job, gatherer: &mut DriftGatherer) -> Self {
        let frame = &job.frame;
        let in_rows = frame.in_rows();
        let (left, right) = (&in_rows.left.luma, &in_rows.right.luma);
        let found = matches(left, right);
        let (width, height) = left.size();
        // cameras without a calibration may converge: the user searches behind infinity then
        let searched_px = f64::from(job.params.min_disparity.min(0));
        let farthest_px = frame.geometry.map_or(searched_px, |geometry| -geometry.doffs_px);
        let row_offset = row_offset_of(&found, width, height).map(|offset| offset.upright(frame.axis));
        // a pair with many matches is not too dark
        let is_cause = |blank: &Blank| !matches!(blank, Blank::Dark { .. }) || row_offset.is_none();
        let blank = blank(&frame.raw.left.luma, &frame.raw.right.luma).filter(is_cause);
        if blank.is_some() {
            return Self { is_measured: true, blank, ..Self::default() };
        }
        Self {
            is_measured: true,
            row_offset,
            row_fit: row_fit(frame, &found, (width, height)),
            drift: drift(frame, &found, (width, height), gatherer),
            in_columns: in_columns(frame, row_offset.as_ref()),
            exchanged: exchanged(left, right, &found, farthest_px),
            edges_alone: edges_alone(left, right, &found),
            common_px: Some(common_px(&found)),
            is_cut: frame.raw.is_cut,
            blank: None,
            luma: luma_difference(left, right),
            motion_px_per_s: None,
        }
    }

    /// Returns the offset of the rows if it is too large for matching.
    pub fn misaligned(&self) -> Option<&RowOffset> {
        self.row_offset.as_ref().filter(|rows| rows.verdict() == Verdict::Bad)
    }
}

/// Returns the correction of a pair's rows: the frame's, or for a camera the running one, updated with this pair.
fn row_fit(frame: &Frame, found: &[Match], size: (usize, usize)) -> Option<RowFit> {
    let rows = frame.rows.as_ref()?;
    rows.fit.or_else(|| rows.correction.follow(found, size, &rows.field))
}

/// Gathers the matches of a pair, and returns the change of its rig.
fn drift(frame: &Frame, found: &[Match], size: (usize, usize), gatherer: &mut DriftGatherer) -> Option<Drift> {
    let rectifier = frame.rectifier.as_ref()?;
    let field = frame.rows.as_ref().map(|rows| rows.field).unwrap_or_default();
    if let Err(why) = gatherer.add(rectifier, found, size, &field) {
        log::warn!("the rig cannot be judged: {why}");
    }
    gatherer.drift()
}

/// Returns the number of points in one column of both images, if their rows disagree and these agree.
fn in_columns(frame: &Frame, row_offset: Option<&RowOffset>) -> Option<usize> {
    let agree = row_offset.is_some_and(|rows| rows.verdict() != Verdict::Bad);
    if agree || frame.axis == Axis::Vertical || frame.geometry.is_some() {
        return None;
    }
    let [left, right] = [&frame.left, &frame.right].map(|picture| picture.luma.turned(QuarterTurn::Left));
    let (width, height) = left.size();
    let columns = row_offset_of(&matches(&left, &right), width, height)?;
    let is_better = row_offset.is_none_or(|rows| rows.median_abs_px > 4.0 * columns.median_abs_px);
    (is_better && columns.verdict() != Verdict::Bad).then_some(columns.matches)
}

/// Number of matches that tell that two images show the same things.
pub(super) const MIN_MATCHES: usize = 24;
/// Largest difference of the rows of a match that matching along rows still finds, px.
const MAX_ROW_PX: f64 = 2.0;

/// Returns the disparities of the matches in one row of both images, in ascending order.
fn common_px(found: &[Match]) -> Vec<f64> {
    let in_row = found.iter().filter(|found| (found.left.y - found.right.y).abs() <= MAX_ROW_PX);
    let mut disparities: Vec<_> = in_row.map(|found| found.left.x - found.right.x).collect();
    disparities.sort_by(f64::total_cmp);
    disparities
}

/// Returns the number of points at which edges match, if they are many more than those at which brightness does.
fn edges_alone(left: &Luma, right: &Luma, found: &[Match]) -> Option<usize> {
    if found.len() >= MIN_MATCHES {
        return None;
    }
    let edges = edge_matches(left, right).len();
    (edges >= MIN_MATCHES.max(3 * found.len())).then_some(edges)
}

pub(super) struct HealthMonitor {
    measured: Arc<Mutex<CurrentHealth>>,
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// Newest measurement of the current source.
struct CurrentHealth {
    /// Time at which the source was opened: earlier pairs belong to another one.
    since: Instant,
    health: Option<Health>,
}

const INTERVAL: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Largest distance of two pairs for a measurement of motion.
const MAX_PAIR_DISTANCE: Duration = Duration::from_millis(400);

impl HealthMonitor {
    /// Measures the results that `newest` returns.
    pub(super) fn start(newest: impl Fn() -> Option<Arc<Output>> + Send + 'static) -> std::io::Result<Self> {
        let measured = Arc::new(Mutex::new(CurrentHealth { since: Instant::now(), health: None }));
        let (stop, stopped) = bounded(0);
        let monitor = Monitor { newest, stopped, measured: Arc::clone(&measured) };
        let thread = std::thread::Builder::new().name("health".into()).spawn(move || monitor.run())?;
        Ok(Self { measured, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) fn health(&self) -> Health {
        self.measured.lock().health.clone().unwrap_or_default()
    }

    /// Forgets earlier pairs: another source is read from now on.
    pub(super) fn forget(&self) {
        *self.measured.lock() = CurrentHealth { since: Instant::now(), health: None };
    }

    /// Measures this result if none has been measured: a run may end before the thread comes to it.
    pub(super) fn measure_last(&self, output: &Output) {
        self.measured.lock().health.get_or_insert_with(|| Health::of(&output.job));
    }
}

impl Drop for HealthMonitor {
    fn drop(&mut self) {
        self.stop = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the health thread panicked");
        }
    }
}

struct Monitor<F> {
    newest: F,
    stopped: Receiver<Infallible>,
    measured: Arc<Mutex<CurrentHealth>>,
}

impl<F: Fn() -> Option<Arc<Output>>> Monitor<F> {
    fn run(&self) {
        let mut last: Option<Arc<Output>> = None;
        let mut gathered = (self.measured.lock().since, DriftGatherer::default());
        while self.sleep(INTERVAL) {
            let Some(output) = (self.newest)() else { continue };
            if last.as_ref().is_some_and(|last| Arc::ptr_eq(&last.job.frame, &output.job.frame)) {
                continue; // paused, or no pair has come
            }
            let frame = &output.job.frame;
            let next = self.next_pair(&frame.raw);
            let motion_px_per_s = next.and_then(|next| speed(&frame.raw, &next));
            let since = self.measured.lock().since;
            if since != gathered.0 {
                gathered = (since, DriftGatherer::default());
            }
            let health = Health { motion_px_per_s, ..Health::gathering(&output.job, &mut gathered.1) };
            let mut measured = self.measured.lock();
            if frame.arrived >= measured.since {
                measured.health = Some(health);
            }
            drop(measured);
            last = Some(output);
        }
    }

    /// Sleeps; returns `false` at once when the thread has to stop.
    fn sleep(&self, time: Duration) -> bool {
        self.stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
    }

    /// Returns the pair after this one, or one soon after.
    fn next_pair(&self, pair: &Arc<RawPair>) -> Option<Arc<RawPair>> {
        let end = Instant::now() + MAX_PAIR_DISTANCE;
        while Instant::now() < end && self.sleep(POLL_INTERVAL) {
            let next = Arc::clone(&(self.newest)()?.job.frame.raw);
            if !Arc::ptr_eq(&next, pair) {
                return Some(next);
            }
        }
        None
    }
}

fn speed(pair: &RawPair, next: &RawPair) -> Option<f64> {
    let between = next.capture_time.duration_since(pair.capture_time).ok()?;
    if between.is_zero() || between > MAX_PAIR_DISTANCE {
        return None;
    }
    Some(motion(&pair.left.luma, &next.left.luma)? / between.as_secs_f64())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::time::SystemTime;
    use stereopsis_base::geometry::Geometry;
    use stereopsis_base::image::{Image, Picture};
    use stereopsis_calibration::StereoRig;
    use stereopsis_frame::{FramePreparation, RowCorrection, SourceInfo};
    use stereopsis_stereo::StereoParams;

    const SIZE: (usize, usize) = (320, 240);

    /// Returns a pair of a wall, another one at another distance for each number, whose right image shows every point `lower_px` lower.
    pub(crate) fn wall(number: u32, lower_px: f64) -> RawPair {
        let n = f64::from(number);
        let wave = |x: f64, y: f64| {
            let soft = ((0.31 + 0.01 * n) * x + n).sin() * (0.27 * y + 0.05 * x).cos() + (0.11 * x - 0.19 * y).sin();
            soft + 0.6 * ((0.73 - 0.02 * n) * x + 0.41 * y).sin() * (0.07 * y + n).cos()
        };
        let view = |dx: f64, dy: f64| {
            let grey = |x, y| (128.0 + 38.0 * wave(x as f64 + dx, y as f64 + dy)).round() as u8;
            Picture::from(Luma::U8(Image::from_fn(SIZE.0, SIZE.1, grey)))
        };
        RawPair::new("wall", 0, SystemTime::UNIX_EPOCH, view(0.0, 0.0), view(6.0 + 4.0 * n, -lower_px))
    }

    fn health(preparation: &FramePreparation, lower_px: f64, walls: u32, gatherer: &mut DriftGatherer) -> Health {
        let of = |number| {
            let raw = Arc::new(wall(number, lower_px));
            let frame = Arc::new(preparation.prepare(&raw, &SourceInfo::default(), Instant::now()).unwrap());
            Job { frame, params: Arc::new(StereoParams::default()), read_back: true, wants_right: false }
        };
        (0..walls).map(|number| Health::gathering(&of(number), gatherer)).last().unwrap()
    }

    #[test]
    fn a_rig_that_has_turned_is_corrected_once_views_tell() {
        let rig = StereoRig::of_rectified(&Geometry::centred(250.0, 0.06, 0.0, SIZE), SIZE);
        let rectifier = Some(Arc::new(rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap()));
        let rows = Some(Arc::new(RowCorrection::auto()));
        let preparation = FramePreparation { rectifier, rows, ..FramePreparation::default() };
        let one = health(&preparation, 2.0, 1, &mut DriftGatherer::default()).drift.unwrap();
        assert!(!one.is_enough && !one.is_offered, "{one:?}");
        let mut gatherer = DriftGatherer::default();
        let still = health(&preparation, 0.0, 5, &mut gatherer).drift.unwrap();
        assert!(still.is_enough && !still.is_offered && still.lens.is_none(), "{still:?}");

        // the corrected rows of these pairs do not hide it
        let mut gatherer = DriftGatherer::default();
        let found = health(&preparation, 2.0, 5, &mut gatherer).drift.unwrap();
        assert!(found.is_offered && found.rows_before_px > 1.5 && found.rows_after_px < 0.3, "{found:?}");
        let corrected = preparation.corrected(&found.correction).unwrap().unwrap();
        let after = health(&corrected, 2.0, 5, &mut DriftGatherer::default()).drift.unwrap();
        assert!(!after.is_offered && after.in_force == Some(found.correction), "{after:?}");
    }
}
