//! Source whose pairs get masks: those of the user, and parts of the views that are no scene.

use super::no_scene::{Mark, MarkSearch, Within, bars};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_base::image::Image;
use stereopsis_base::rate::LatencySince;
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::engine::SourceEngine;
use stereopsis_frame::{
    CaptureError, Masks, MaxPixels, Next, PairSource, RawPair, SCENE, SourceInfo, SourceState, Transport,
};
use stereopsis_images::decode::read_picture;

/// Brightness of a mask's image from which on the view shows the scene.
const MIN_SCENE: u8 = 128;
/// Interval between the pairs of a camera in which marks are searched for, so that the scene can move.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Mask that does not fit the views.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: the mask has {}x{} px, the {view} view of {source_name} {}x{}: draw it over one view, as the source has it before rectification",
    console::path(.file), .mask.0, .mask.1, .size.0, .size.1
)]
struct MaskSize {
    file: PathBuf,
    mask: (usize, usize),
    view: &'static str,
    source_name: String,
    size: (usize, usize),
}

/// Number of masks that is neither one for both views nor one for each.
#[derive(Debug, thiserror::Error)]
#[error("{0} masks: give one for both views, or LEFT,RIGHT")]
struct MaskCount(usize);

/// Reads masks: one file for both views, or one for each.
pub(super) fn read_masks(files: &[PathBuf]) -> Result<Option<GivenMasks>, CaptureError> {
    let (left, right) = match files {
        [] => return Ok(None),
        [both] => (both, both),
        [left, right] => (left, right),
        more => return Err(CaptureError::File(MaskCount(more.len()).into())),
    };
    let read = |file: &PathBuf| -> Result<(PathBuf, Image<u8>), CaptureError> {
        let picture = read_picture(file, false, MaxPixels::default())?;
        Ok((file.clone(), picture.luma.to_u8().map(|&v| if v < MIN_SCENE { 0 } else { SCENE })))
    };
    Ok(Some([read(left)?, read(right)?]))
}

/// Masks of the left and the right view, with their files.
pub(super) type GivenMasks = [(PathBuf, Image<u8>); 2];

/// Source of another source's pairs, with masks.
pub(super) struct MaskedSource {
    source: Box<dyn PairSource>,
    given: Option<GivenMasks>,
    is_cut: bool,
    /// What is no scene in views of a size, with its masks.
    found: Option<Found>,
    marks: MarkSearch,
    /// Time of the last look at a camera's pair; `None` before, and for other sources.
    looked: Option<Instant>,
    has_looked: bool,
    has_said_bars: bool,
    remarks: Vec<String>,
}

/// Parts that are no scene, and the masks made of them and of the user's.
#[derive(Debug, PartialEq)]
struct Found {
    sizes: [(usize, usize); 2],
    bars: Option<Within>,
    marks: Vec<Mark>,
    masks: Option<Arc<Masks>>,
}

impl MaskedSource {
    /// Wraps a source; `is_cut` is whether its views are parts of one image.
    pub(super) fn new(source: Box<dyn PairSource>, given: Option<GivenMasks>, is_cut: bool) -> Self {
        Self {
            source,
            given,
            is_cut,
            found: None,
            marks: MarkSearch::default(),
            looked: None,
            has_looked: false,
            has_said_bars: false,
            remarks: Vec::new(),
        }
    }

    /// Checks whether the user's masks have the size of the views; `is_right_alike` is whether both views have one size.
    ///
    /// # Errors
    /// A mask has another size.
    pub(super) fn check(&self, is_right_alike: bool) -> Result<(), CaptureError> {
        let SourceInfo { name, width, height, .. } = self.source.info();
        let checked = if is_right_alike { 2 } else { 1 };
        let mut given = self.given.iter().flatten().zip(["left", "right"]).take(checked);
        if let Some(((file, mask), view)) = given.find(|((_, mask), _)| mask.size() != (width, height)) {
            let (file, mask) = (file.clone(), mask.size());
            let wrong = MaskSize { file, mask, view, source_name: name, size: (width, height) };
            return Err(CaptureError::File(wrong.into()));
        }
        Ok(())
    }

    /// Attaches the masks of a pair.
    fn mask(&mut self, pair: &mut RawPair) {
        let sizes = [pair.left.size(), pair.right.size()];
        let bars = bars(&pair.left.luma, &pair.right.luma);
        let before = self.found.take().filter(|found| found.sizes == sizes);
        let mut marks = before.as_ref().map(|found| found.marks.clone()).unwrap_or_default();
        if let Some(found) = self.new_marks(pair) {
            self.remarks.extend(found.iter().map(said_of_mark));
            marks = found;
        }
        if let Some(within) = bars.as_ref().filter(|_| !std::mem::replace(&mut self.has_said_bars, true)) {
            self.remarks.push(said_of_bars(within, sizes[0]));
        }
        let same = before.filter(|found| found.bars == bars && found.marks == marks);
        let found = match same {
            Some(found) => found,
            None => Found { masks: self.masks(sizes, bars.as_ref(), &marks).map(Arc::new), sizes, bars, marks },
        };
        pair.masks.clone_from(&found.masks);
        self.found = Some(found);
    }

    /// Looks for marks in a pair, until they have been searched for once.
    fn new_marks(&mut self, pair: &RawPair) -> Option<Vec<Mark>> {
        let is_soon = self.looked.is_some_and(|last| last.elapsed() < LOOK_EVERY);
        if self.has_looked || is_soon {
            return None;
        }
        self.looked = self.source.info().is_camera.then(Instant::now);
        let found = self.marks.look(&pair.left.luma, &pair.right.luma)?;
        self.has_looked = true;
        self.marks = MarkSearch::default();
        Some(found)
    }

    /// Makes the masks of views of these sizes; of the user's those that fit.
    fn masks(&mut self, sizes: [(usize, usize); 2], bars: Option<&Within>, marks: &[Mark]) -> Option<Masks> {
        let given = self.given.iter().flatten().zip(sizes).filter(|((_, mask), size)| mask.size() != *size);
        for ((file, _), (width, height)) in given {
            self.remarks.push(format!("{}: no mask for views of {width}x{height}", console::path(file)));
        }
        let given = [0, 1].map(|side| {
            let given = self.given.as_ref().map(|given| &given[side].1);
            given.filter(|mask| mask.size() == sizes[side])
        });
        if given == [None, None] && bars.is_none() && marks.is_empty() {
            return None;
        }
        let is_scene = |x: usize, y: usize| {
            bars.is_none_or(|within| within.columns.contains(&x) && within.rows.contains(&y))
                && !marks.iter().any(|(columns, rows)| columns.contains(&x) && rows.contains(&y))
        };
        Some(Masks::new([0, 1].map(|side| {
            Image::from_fn(sizes[side].0, sizes[side].1, |x, y| {
                if is_scene(x, y) { given[side].map_or(SCENE, |mask| mask.at(x, y)) } else { 0 }
            })
        })))
    }
}

fn said_of_bars(Within { rows, columns }: &Within, (width, height): (usize, usize)) -> String {
    let parts = [
        (height - rows.len(), format!("{} rows at the top and {} at the bottom", rows.start, height - rows.end)),
        (
            width - columns.len(),
            format!("{} columns at the left and {} at the right", columns.start, width - columns.end),
        ),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    format!("{} of both views are even black bars, which are left out of matching", parts.join(", "))
}

fn said_of_mark((columns, rows): &Mark) -> String {
    format!(
        "a mark of {}x{} px at {},{} stays at one place of both views, such as a clock or a logo, and is left out of matching",
        columns.len(),
        rows.len(),
        columns.start,
        rows.start
    )
}

impl PairSource for MaskedSource {
    fn info(&self) -> SourceInfo {
        self.source.info()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let mut next = self.source.next(timeout)?;
        if let Next::Pair(pair) = &mut next {
            pair.is_cut |= self.is_cut;
            self.mask(pair);
        }
        Ok(next)
    }

    fn state(&self) -> SourceState {
        let mut state = self.source.state();
        state.remarks.extend(self.remarks.iter().cloned());
        state
    }

    fn resync(&mut self) {
        self.source.resync();
    }

    fn calibration(&self) -> Option<&CalibrationNote> {
        self.source.calibration()
    }

    fn files(&self) -> Vec<PathBuf> {
        let masks = self.given.iter().flatten().map(|(file, _)| file.clone());
        self.source.files().into_iter().chain(masks).collect()
    }

    fn transport(&self) -> Option<Arc<Transport>> {
        self.source.transport()
    }

    fn engine(&self) -> Option<Arc<dyn SourceEngine>> {
        self.source.engine()
    }

    fn latency_begin(&self, arrived: Instant) -> (Instant, LatencySince) {
        self.source.latency_begin(arrived)
    }
}
