//! Preparation of a raw pair: rectification, working size, geometry. A raw pair in, a frame out.

use super::{Frame, FrameRows, RawPair, RowCorrection, Scale, SourceInfo, mask};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use stereopsis_base::geometry::{Axis, Geometry};
use stereopsis_base::image::Picture;
use stereopsis_base::process::memory;
use stereopsis_base::rate::LatencySince;
use stereopsis_calibration::{CalibrationError, Correction, Rectifier, RowField};

/// Preparation of frames from raw pairs.
#[derive(Clone, Debug, Default)]
pub struct FramePreparation {
    /// Rectification of pairs; `None` passes raw pairs on unchanged.
    pub rectifier: Option<Arc<Rectifier>>,
    /// Geometry that takes precedence over the rectifier's and the source's, at the source's size.
    pub geometry: Option<Geometry>,
    /// Direction of the baseline of pairs without a geometry.
    pub axis: Axis,
    /// Correction of the rows of the right image; `None` leaves them unchanged.
    pub rows: Option<Arc<RowCorrection>>,
    /// Working size.
    pub scale: Scale,
    /// Whether left and right are swapped, before all other steps.
    pub swapped: bool,
    /// Whether the calibration is the source's own, so that other cameras of a pair hold for it.
    pub follows: bool,
}

/// Pair at the source's size, ready to be scaled.
struct RectifiedPair<'a> {
    left: Cow<'a, Picture>,
    right: Cow<'a, Picture>,
    rows: Option<FrameRows>,
    /// Masks of both images, rectified like them.
    masks: Option<[Picture; 2]>,
}

impl FramePreparation {
    /// Returns the preparation by a correction of the calibration; `None` without a rectifier. The rows are corrected anew: a field of theirs
    /// was that of the rig before.
    ///
    /// # Errors
    /// Errors of [`Rectifier::corrected`].
    pub fn corrected(&self, correction: &Correction) -> Result<Option<Self>, CalibrationError> {
        let Some(rectifier) = &self.rectifier else { return Ok(None) };
        let rectifier = Some(Arc::new(rectifier.corrected(correction)?));
        let rows = self.rows.as_ref().map(|_| Arc::new(RowCorrection::auto()));
        Ok(Some(Self { rectifier, rows, ..self.clone() }))
    }

    /// Returns the geometry that converts disparity to metres, at the source's size.
    pub fn geometry(&self, source: &SourceInfo) -> Option<Geometry> {
        let of_source = || source.geometry.map(|geometry| if self.swapped { geometry.swapped() } else { geometry });
        self.geometry.or_else(|| self.rectifier.as_ref().map(|rectifier| rectifier.geometry())).or_else(of_source)
    }

    /// Returns the geometry of one pair, at its size; `None` also for a pair that cannot be prepared.
    pub fn geometry_of(&self, raw: &RawPair, source: &SourceInfo) -> Option<Geometry> {
        self.of_pair(raw, source).ok()?.1
    }

    /// Returns rectifier and geometry of one pair, at its size: it may be of other cameras or of another size than the first one.
    fn of_pair(
        &self,
        raw: &RawPair,
        source: &SourceInfo,
    ) -> Result<(Option<Arc<Rectifier>>, Option<Geometry>), CalibrationError> {
        let sizes = self.sides(raw).map(Picture::size);
        let cameras = raw.cameras.as_ref().filter(|_| self.follows);
        let rectifier = match &self.rectifier {
            Some(first) if cameras.is_some() || sizes != first.raw_sizes() => {
                Some(first.for_others(cameras.and_then(|note| note.rig.as_deref()), sizes)?)
            }
            None if sizes[0] != sizes[1] => return Err(CalibrationError::PairSizes(sizes)),
            first => first.clone(),
        };
        let geometry = match (cameras, &self.rectifier, &rectifier) {
            (Some(cameras), _, Some(rectifier)) => cameras.geometry.or_else(|| Some(rectifier.geometry())),
            (Some(cameras), _, None) => {
                cameras.geometry.map(|geometry| if self.swapped { geometry.swapped() } else { geometry })
            }
            (None, Some(first), Some(rectifier)) => match self.geometry {
                Some(geometry) => Some(geometry.scaled(sizes[0].0 as f64 / first.size().0 as f64)),
                None => Some(rectifier.geometry()),
            },
            (None, ..) => self.geometry(source),
        };
        Ok((rectifier, geometry))
    }

    fn sides<'a>(&self, raw: &'a RawPair) -> [&'a Picture; 2] {
        let sides = [&raw.left, &raw.right];
        if self.swapped { [sides[1], sides[0]] } else { sides }
    }

    /// Checks whether this pair can be prepared.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn check(&self, raw: &RawPair, source: &SourceInfo) -> Result<(), CalibrationError> {
        let [left, right] = self.sides(raw);
        let (rectifier, _) = self.of_pair(raw, source)?;
        rectifier.map_or(Ok(()), |rectifier| rectifier.check(left, right))
    }

    /// Refuses a pair whose rectified and scaled images do not fit into memory.
    fn check_memory(&self, left: &Picture, right: &Picture) -> Result<(), CalibrationError> {
        let raw = left.bytes() + right.bytes();
        let rectified = match (&self.rectifier, &self.rows) {
            (Some(_), _) => raw,
            (None, Some(_)) => right.bytes(),
            (None, None) => 0,
        };
        let divisor = self.scale.divisor() as u64;
        let scaled = if rectified > 0 && divisor == 1 { 0 } else { raw / (divisor * divisor) };
        let bytes = rectified + scaled;
        memory::check(bytes).map_err(|free| CalibrationError::PairMemory { size: left.size(), bytes, free })
    }

    /// Prepares the frame of a pair; `arrived` is the time at which the pair came.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn prepare(
        &self,
        raw: &Arc<RawPair>,
        source: &SourceInfo,
        arrived: Instant,
    ) -> Result<Frame, CalibrationError> {
        let start = Instant::now();
        let scale = self.scale;
        let [left, right] = self.sides(raw);
        self.check_memory(left, right)?;
        let (rectifier, geometry) = self.of_pair(raw, source)?;
        let axis = geometry.map_or(self.axis, |geometry| geometry.axis);
        let masks = raw.masks.as_deref().map(|masks| masks.of_sides(self.swapped));
        let RectifiedPair { left, right, rows, masks } =
            self.rectified([left, right], masks, rectifier.as_ref(), (axis, source.is_camera))?;
        let scaled = |picture: Cow<'_, Picture>| match picture {
            Cow::Owned(picture) if scale == Scale::One => picture,
            picture => scale.picture(&picture),
        };
        let (mut left, mut right) = (scaled(left), scaled(right));
        let is_masked = masks.is_some();
        for (picture, mask) in [&mut left, &mut right].into_iter().zip(masks.into_iter().flatten()) {
            mask::leave_out(picture, &scaled(Cow::Owned(mask)));
        }
        // ground truth belongs to the unrectified pixels of the left image
        let truth = raw.truth.as_ref().filter(|_| self.rectifier.is_none() && !self.swapped);
        let truth =
            truth.map(|truth| if scale == Scale::One { Arc::clone(truth) } else { Arc::new(scale.truth(truth)) });
        let geometry = geometry.map(|geometry| geometry.scaled(scale.factor()));
        Ok(Frame {
            left: Arc::new(left),
            right: Arc::new(right),
            raw: Arc::clone(raw),
            axis,
            truth,
            geometry,
            rows,
            is_masked,
            rectifier,
            is_camera: source.is_camera,
            arrived,
            latency_begin: (arrived, LatencySince::Arrival),
            rectify_time: start.elapsed(),
        })
    }

    /// Rectifies both images and corrects the right one's rows: by the field in force, or for files by that of the pair.
    fn rectified<'a>(
        &self,
        [left, right]: [&'a Picture; 2],
        masks: Option<[&Picture; 2]>,
        rectifier: Option<&Arc<Rectifier>>,
        (axis, is_camera): (Axis, bool),
    ) -> Result<RectifiedPair<'a>, CalibrationError> {
        let size = left.size(); // of both rectified images
        let map = |rows: &RowCorrection, field: RowField| rows.map(field, axis, size, rectifier);
        let mut field = self.rows.as_ref().map(|rows| rows.field()).unwrap_or_default();
        let first = self.rows.as_ref().and_then(|rows| map(rows, field));
        let raw = right;
        let (left, mut right) = match rectifier {
            Some(rectifier) => {
                let (left, right) = rectifier.apply_with(left, right, first.as_deref())?;
                (Cow::Owned(left), Cow::Owned(right))
            }
            None => (Cow::Borrowed(left), first.map_or(Cow::Borrowed(right), |map| Cow::Owned(map.apply(right)))),
        };
        let masks_with = |field: RowField| -> Result<Option<[Picture; 2]>, CalibrationError> {
            let Some([left, right]) = masks else { return Ok(None) };
            let of_rows = self.rows.as_ref().and_then(|rows| map(rows, field));
            Ok(Some(match rectifier {
                Some(rectifier) => rectifier.apply_with(left, right, of_rows.as_deref())?.into(),
                None => [left.clone(), of_rows.map_or_else(|| right.clone(), |map| map.apply(right))],
            }))
        };
        let Some(rows) = &self.rows else {
            return Ok(RectifiedPair { left, right, rows: None, masks: masks_with(field)? });
        };
        let fit = if is_camera { None } else { rows.of_pair(&left.luma, &right.luma, axis) };
        if let Some(fit) = fit
            && let Some(map) = map(rows, fit.field)
        {
            field = fit.field;
            right = Cow::Owned(map.apply(raw));
        }
        let masks = masks_with(field)?;
        Ok(RectifiedPair { left, right, rows: Some(FrameRows { correction: Arc::clone(rows), field, fit }), masks })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Masks, SCENE};
    use super::*;
    use std::time::SystemTime;
    use stereopsis_base::image::{Image, Luma, QuarterTurn};
    use stereopsis_calibration::{Crop, StereoRig, matches};

    /// Creates a wall at 12 px whose right image shows every point `px` lower.
    fn wall(px: f64) -> RawPair {
        let wave = |x: f64, y: f64| {
            let soft = (0.31 * x).sin() * (0.27 * y + 0.05 * x).cos() + (0.11 * x - 0.19 * y).sin();
            soft + 0.6 * (0.73 * x + 0.41 * y).sin() * (0.07 * y).cos()
        };
        let view = |dx: f64, dy: f64| {
            Picture::from(Image::from_fn(320, 240, |x, y| {
                [(128.0 + 38.0 * wave(x as f64 + dx, y as f64 + dy)).round() as u8; 3]
            }))
        };
        RawPair::new("wall", 0, SystemTime::UNIX_EPOCH, view(0.0, 0.0), view(12.0, -px))
    }

    fn corrected(rows: RowCorrection, axis: Axis) -> FramePreparation {
        FramePreparation { rows: Some(Arc::new(rows)), axis, ..FramePreparation::default() }
    }

    fn frame(preparation: &FramePreparation, raw: &Arc<RawPair>, is_camera: bool) -> Frame {
        let source = SourceInfo { is_camera, ..SourceInfo::default() };
        preparation.prepare(raw, &source, Instant::now()).unwrap()
    }

    /// Returns the median vertical offset of the right image, px; positive is lower.
    fn lower_px(left: &Picture, right: &Picture) -> f64 {
        let mut offsets: Vec<_> = matches(&left.luma, &right.luma).iter().map(|m| m.right.y - m.left.y).collect();
        offsets.sort_by(f64::total_cmp);
        offsets[offsets.len() / 2]
    }

    #[test]
    fn file_pairs_are_corrected_one_by_one_along_either_axis() {
        let raw = Arc::new(wall(0.5));
        let plain = frame(&FramePreparation::default(), &raw, false);
        assert!((lower_px(&plain.left, &plain.right) - 0.5).abs() < 0.05 && plain.rows.is_none());
        let upright = frame(&corrected(RowCorrection::auto(), Axis::Horizontal), &raw, false);
        assert!(lower_px(&upright.left, &upright.right).abs() < 0.05);
        let fit = upright.rows.unwrap().fit.unwrap();
        assert!((fit.max_px - 0.5).abs() < 0.1 && fit.after_px < 0.1, "{fit}");
        let turned = |picture: &Picture| picture.turned(QuarterTurn::Right);
        let columns = RawPair { left: turned(&raw.left), right: turned(&raw.right), ..(*raw).clone() };
        let vertical = frame(&corrected(RowCorrection::auto(), Axis::Vertical), &Arc::new(columns), false);
        let [left, right] = [&vertical.left, &vertical.right].map(|picture| picture.turned(QuarterTurn::Left));
        assert!(lower_px(&left, &right).abs() < 0.05);
    }

    #[test]
    fn masks_go_the_way_of_their_images() {
        let mut raw = wall(0.5);
        let all = Image::filled(320, 240, SCENE);
        let hole =
            Image::from_fn(320, 240, |x, y| if (130..170).contains(&x) && (90..110).contains(&y) { 0 } else { SCENE });
        raw.masks = Some(Arc::new(Masks::new([all, hole])));
        // black scene
        let Luma::U8(luma) = &mut raw.right.luma else { panic!() };
        luma.row_mut(200)[..20].fill(0);
        let raw = Arc::new(raw);
        let black = |picture: &Picture| {
            let luma = picture.luma.to_u8();
            let places = (0..luma.height()).flat_map(|y| (0..luma.width()).map(move |x| (x, y)));
            let places: Vec<_> = places.filter(|&(x, y)| luma.at(x, y) == 0).collect();
            let ends = |of: fn(&(usize, usize)) -> usize| {
                let all = places.iter().map(of);
                (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
            };
            (places.len(), ends(|at| at.0), ends(|at| at.1))
        };
        let found = |preparation: &FramePreparation| {
            let frame = frame(preparation, &raw, false);
            assert!(frame.is_masked && frame.pictures().iter().all(|picture| picture.is_masked));
            [&frame.left, &frame.right].map(|picture| black(picture))
        };
        let none = (0, (0, 0), (0, 0));
        let whole = (800, (130, 169), (90, 109));
        assert_eq!(found(&FramePreparation::default()), [none, whole]);
        let half = FramePreparation { scale: Scale::Half, ..FramePreparation::default() };
        assert_eq!(found(&half), [none, (200, (65, 84), (45, 54))]);
        let swapped = FramePreparation { swapped: true, ..FramePreparation::default() };
        assert_eq!(found(&swapped), [whole, none]);
        // twice as large around the middle, (159.5, 119.5)
        let geometry = Geometry::new(160.0, 0.1, 0.0, [159.5, 119.5]);
        let crop = Crop { rectified_fov_deg: Some(2.0 * 0.5_f64.atan().to_degrees()), ..Crop::default() };
        let rectifier = StereoRig::of_rectified(&geometry, (320, 240)).rectifier(320, 240, crop).unwrap();
        let larger = FramePreparation { rectifier: Some(Arc::new(rectifier)), ..FramePreparation::default() };
        let [left, (_, columns, rows)] = found(&larger);
        assert_eq!((left, columns, rows), (none, (99, 180), (59, 100)), "and pixels that are partly masked");
        // rows half a pixel higher: a pixel that is partly masked is left out
        let [left, right] = found(&corrected(RowCorrection::auto(), Axis::Horizontal));
        assert_eq!((left, right.1, right.2.1 - right.2.0), (none, (130, 169), 20), "{right:?}");
    }

    #[test]
    fn cameras_follow_pair_by_pair_slowly_and_a_kept_field_stays() {
        let size = (320, 240);
        let [half, more] = [0.5, 0.9].map(|px| Arc::new(wall(px)));
        let preparation = corrected(RowCorrection::auto(), Axis::Horizontal);
        let correction = preparation.rows.clone().unwrap();
        let error_px = |raw: &Arc<RawPair>| {
            let frame = frame(&preparation, raw, true);
            let found = matches(&frame.left.luma, &frame.right.luma);
            let rows = frame.rows.as_ref().unwrap();
            assert!(rows.fit.is_none(), "the capture thread estimates nothing");
            correction.follow(&found, size, &rows.field).unwrap();
            lower_px(&frame.left, &frame.right)
        };
        assert!((error_px(&half) - 0.5).abs() < 0.05, "nothing is known of the first pair");
        assert!(error_px(&half).abs() < 0.05);
        let errors: Vec<_> = (0..12).map(|_| error_px(&more)).collect();
        assert!((errors[0] - 0.4).abs() < 0.05 && (errors[1] - 0.3).abs() < 0.05, "{errors:?}");
        assert!(errors[11].abs() < 0.08, "{errors:?}");
        let kept = corrected(RowCorrection::kept(correction.field()), Axis::Horizontal);
        for (raw, is_camera) in [(&half, true), (&half, false)] {
            let frame = frame(&kept, raw, is_camera);
            let field = frame.rows.as_ref().unwrap().field;
            let fit = kept.rows.as_ref().unwrap().follow(&matches(&frame.left.luma, &frame.right.luma), size, &field);
            assert!((fit.unwrap().after_px - 0.4).abs() < 0.1, "{fit:?}");
            assert_eq!(field, correction.field());
        }
    }
}
