//! Judge of a map, which computes a loss that is small for good maps.

use super::sample::Sample;
use super::trial::Run;
use std::time::Duration;
use stereopsis_base::parameter::choices;
use stereopsis_metrics::scores::{View, score_without_truth, scores, unmeasured_percent};
use stereopsis_metrics::truth_error;
use stereopsis_stereo::{DisparityMap, Fill, StereoParams};

choices! {
    /// Loss by which a setting is judged.
    pub enum Judge {
        /// Pixels off by more than 1 px, % of all with truth; holes are filled for it.
        Truth = "truth",
        /// The score without truth, which needs the left-right check; 0 for a perfect map.
        WithoutTruth = "without-truth",
    }
}

impl Judge {
    /// Returns truth if every sample has it.
    pub fn of(samples: &[Sample]) -> Self {
        let all_have = samples.iter().all(|sample| sample.frame.truth.is_some());
        if all_have { Self::Truth } else { Self::WithoutTruth }
    }

    /// Returns the name of the loss with its unit, for figures and tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Truth => "bad-1 all: pixels off by more than 1 px, of all with truth, holes filled, %",
            Self::WithoutTruth => "score without truth (0 is best)",
        }
    }

    /// Returns a short name for the heading of a column.
    pub fn short_title(self) -> &'static str {
        match self {
            Self::Truth => "bad-1 all, filled",
            Self::WithoutTruth => "score",
        }
    }

    /// Returns the setting whose map is judged; holes are filled for the truth, since their errors would make every check look too strict.
    pub(super) fn judged(self, params: StereoParams) -> StereoParams {
        let fills = self == Self::Truth && params.fill == Fill::None;
        StereoParams { fill: if fills { Fill::Planes } else { params.fill }, ..params }
    }

    /// Judges the map of these parameters, computed in this time.
    pub(super) fn run(self, sample: &Sample, params: &StereoParams, map: &DisparityMap, time: Duration) -> Run {
        let frame = &sample.frame;
        let (width, height) = map.size();
        let loss = match self {
            Self::Truth => {
                frame.truth.as_ref().and_then(|truth| truth_error(map, truth)).map(|error| error.all.bad_1_percent)
            }
            Self::WithoutTruth => {
                let (in_rows, map) = (frame.in_rows(), frame.map_in_rows(map));
                let view = View { left: &in_rows.left.luma, map: &map };
                let scores = scores(view, &in_rows.right.luma, params.left_right.is_some(), None);
                score_without_truth(&scores).ok()
            }
        };
        Run {
            loss,
            measured_percent: 100.0 - unmeasured_percent(map),
            time_ms: time.as_secs_f64() * 1e3,
            pixels: width * height,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::UNIX_EPOCH;
    use stereopsis_base::image::{Image, Luma, Picture, Truth};
    use stereopsis_frame::{Frame, RawPair};
    use stereopsis_stereo::match_pair;

    /// Returns a sample whose texture lies 3 px further left in the right image.
    fn sample(has_truth: bool) -> Sample {
        let texture = |x: usize, y: usize| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8;
        let picture =
            |shift: usize| Picture { luma: Luma::U8(Image::from_fn(40, 20, |x, y| texture(x + shift, y))), rgb: None };
        let frame = Frame::of_raw(Arc::new(RawPair::new("a", 0, UNIX_EPOCH, picture(0), picture(3))));
        let truth = Truth { left_px: Image::filled(40, 20, 3.0), right_px: None, occluded: None, scale: None };
        Sample::of(Arc::new(Frame { truth: has_truth.then(|| Arc::new(truth)), ..frame }))
    }

    fn params() -> StereoParams {
        StereoParams { num_disparities: 8, ..StereoParams::default() }
    }

    fn run(judge: Judge, sample: &Sample, params: &StereoParams, spoil: impl Fn(&mut DisparityMap)) -> Run {
        let Frame { left, right, .. } = &*sample.frame;
        let mut map = match_pair(&left.luma, &right.luma, params);
        spoil(&mut map);
        judge.run(sample, params, &map, Duration::from_millis(2))
    }

    #[test]
    fn truth_counts_wrong_pixels_of_a_filled_map() {
        let sample = sample(true);
        let good = run(Judge::Truth, &sample, &params(), |_| {});
        let wrong = run(Judge::Truth, &sample, &params(), |map| (20..30).for_each(|x| map.values.set(x, 5, 16 * 6)));
        let percent = 100.0 * 10.0 / 800.0;
        assert!((wrong.loss.unwrap() - good.loss.unwrap() - percent).abs() < 1e-9, "{wrong:?} {good:?}");
        assert_eq!((good.time_ms, good.pixels), (2.0, 800));
        let filled = StereoParams { fill: Fill::Interpolate, ..params() };
        assert_eq!(Judge::Truth.judged(params()), StereoParams { fill: Fill::Planes, ..params() });
        assert_eq!(Judge::Truth.judged(filled.clone()), filled, "the user's own way stays");
        assert_eq!(Judge::WithoutTruth.judged(params()), params());
    }

    #[test]
    fn without_truth_a_check_is_needed() {
        let (sample, checked) = (sample(false), params());
        assert_eq!(Judge::of(std::slice::from_ref(&sample)), Judge::WithoutTruth);
        let good = run(Judge::WithoutTruth, &sample, &checked, |_| {});
        let holes = run(Judge::WithoutTruth, &sample, &checked, |map| {
            for x in 10..20 {
                (0..20).for_each(|y| map.invalidate(x, y, stereopsis_stereo::reason::LEFT_RIGHT));
            }
        });
        assert!(holes.loss.unwrap() > good.loss.unwrap() + 0.5, "{holes:?} {good:?}");
        assert!(holes.measured_percent < good.measured_percent - 20.0);
        let unchecked = StereoParams { left_right: None, ..checked };
        assert_eq!(run(Judge::WithoutTruth, &sample, &unchecked, |_| {}).loss, None);
    }
}
