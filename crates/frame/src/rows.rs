//! Correction of the right image's rows: estimation of its field, and the field in force.

use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use stereopsis_base::geometry::Axis;
use stereopsis_base::image::{Luma, QuarterTurn};
use stereopsis_calibration::{Match, Rectifier, RowField, RowFit, RowRemap, matches, row_field};

/// Share by which the field of cameras follows a new estimate, so that a wrong one has little effect.
const FOLLOWING: f64 = 0.25;
/// Smallest change that justifies a new map, px.
const MIN_CHANGE_PX: f64 = 0.02;

/// Correction of one source's rows. Frames share it: an estimate from one of them corrects the next one.
#[derive(Debug, Default)]
pub struct RowCorrection {
    /// Fixed field of the rig file.
    kept: Option<RowField>,
    /// Field of a camera's pairs, which follows them slowly.
    followed: Mutex<Option<RowField>>,
    /// Last map, valid while field, size and rectifier stay unchanged.
    map: Mutex<Option<(MapKey, Arc<RowRemap>)>>,
}

#[derive(Debug)]
struct MapKey {
    field: RowField,
    axis: Axis,
    size: (usize, usize),
    rectifier: Option<Weak<Rectifier>>,
}

impl RowCorrection {
    /// Creates a correction that is estimated.
    pub fn auto() -> Self {
        Self::default()
    }

    /// Creates a correction by a fixed field.
    pub fn kept(field: RowField) -> Self {
        Self { kept: Some(field), ..Self::default() }
    }

    /// Whether the field is fixed.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns the field that corrects the next pair of a camera.
    pub fn field(&self) -> RowField {
        self.kept.or(*self.followed.lock()).unwrap_or_default()
    }

    /// Takes the matches of a camera's pair of `width` x `height` with disparities along its rows, already corrected by `applied`. The
    /// field follows them slowly, unless it is fixed. Returns it with the errors of this pair; `None` with too few matches.
    pub fn follow(&self, found: &[Match], (width, height): (usize, usize), applied: &RowField) -> Option<RowFit> {
        let new = row_field(found, width, height, applied)?;
        let after_px = row_field(found, width, height, &RowField::default())?.before_px;
        let mut followed = self.followed.lock();
        let field = match (self.kept, *followed) {
            (Some(kept), _) => kept,
            (None, None) => new.field,
            (None, Some(last)) => {
                let field = last.towards(&new.field, FOLLOWING);
                let change = RowField { terms: std::array::from_fn(|n| field.terms[n] - last.terms[n]) };
                if change.max_px(height) < MIN_CHANGE_PX { last } else { field }
            }
        };
        *followed = Some(field);
        Some(RowFit { field, after_px, max_px: field.max_px(height), ..new })
    }

    /// Estimates the field of a pair of files or of a recording, independently of earlier pairs.
    pub(super) fn of_pair(&self, left: &Luma, right: &Luma, axis: Axis) -> Option<RowFit> {
        if self.is_kept() {
            return None;
        }
        let turned;
        let [left, right] = match axis {
            Axis::Horizontal => [left, right],
            Axis::Vertical => {
                turned = [left, right].map(|luma| luma.turned(QuarterTurn::Left));
                [&turned[0], &turned[1]]
            }
        };
        let (width, height) = left.size();
        row_field(&matches(left, right), width, height, &RowField::default())
    }

    /// Returns the map of a field; `None` for one that changes nothing.
    pub(super) fn map(
        &self,
        field: RowField,
        axis: Axis,
        size: (usize, usize),
        rectifier: Option<&Arc<Rectifier>>,
    ) -> Option<Arc<RowRemap>> {
        if field.is_zero() || size.0 < 2 || size.1 < 2 {
            return None;
        }
        let rectifier_of = rectifier.map(Arc::downgrade);
        let mut map = self.map.lock();
        let same = |key: &MapKey| {
            let is_same_rectifier = match (&key.rectifier, &rectifier_of) {
                (Some(one), Some(other)) => one.ptr_eq(other),
                (one, other) => one.is_none() && other.is_none(),
            };
            (key.field, key.axis, key.size) == (field, axis, size) && is_same_rectifier
        };
        if let Some((key, map)) = &*map
            && same(key)
        {
            return Some(Arc::clone(map));
        }
        let made = Arc::new(RowRemap::new(&field, axis, size, rectifier.map(|rectifier| &**rectifier)));
        *map = Some((MapKey { field, axis, size, rectifier: rectifier_of }, Arc::clone(&made)));
        Some(made)
    }
}

/// Correction of a frame's rows.
#[derive(Clone, Debug)]
pub struct FrameRows {
    /// Correction of the frame's source.
    pub correction: Arc<RowCorrection>,
    /// Applied field.
    pub field: RowField,
    /// Estimate of this pair, for files and recordings; [`None`] for cameras, and with too few matches.
    pub fit: Option<RowFit>,
}
