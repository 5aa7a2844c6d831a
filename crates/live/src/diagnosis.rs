//! Conditions that make depth worse, as messages to the user with cause and numbers.

use super::Health;
use super::health::MIN_MATCHES;
use std::fmt;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_calibration::Drift;
use stereopsis_frame::SourceState;
use stereopsis_frame::engine::{Job, Output};
use stereopsis_stereo::{CostKind, Shares, StereoParams};

/// Condition that makes depth worse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Kind, from which a remedy follows.
    pub cause: Cause,
    /// Message to the user.
    pub text: String,
}

/// Kinds of conditions that make depth worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Images without enough texture or light for depth.
    Blank,
    /// Left and right exchanged.
    Exchanged,
    /// Large share at the last candidate: nearer things are cut off.
    TooNear,
    /// Large share at the first candidate: farther things are cut off.
    TooFar,
    /// Rows of the images that differ.
    Rows,
    /// Rig that has changed since its calibration.
    Drift,
    /// Hardly any pixel with a partner, or such that disagree, without another known cause.
    Matches,
    /// Disparities of the scene outside of the search range.
    Range,
    /// Images taken at different times.
    Skew,
    /// Brightness difference above the tolerance of the cost in use.
    Light,
    /// Remark of the source.
    Source,
}

/// Share of the measured pixels at an end of the range from which it counts as cut off.
const MAX_SHARE_AT_END: f64 = 0.05;
/// Share of measured pixels below which a map is no result.
const MIN_MEASURED: f64 = 0.05;
/// Share of agreeing neighbours below which a map is noise if the images have hardly any points in common. Under the default parameters that
/// of noise is 0.22, and that of the sparsest maps that are right without such points, of nearly dark images, 0.34 to 0.41.
const MIN_AGREEING: f64 = 0.28;
/// Number of points in common and in range from which on a map is sparse, and no noise.
const MIN_COMMON: usize = 8;
/// Share of the points that both images show within the search range below which the range lies elsewhere.
const MIN_IN_RANGE: f64 = 0.2;
/// Share of measured pixels above which the range is not doubted: points are few, and may lie on one near thing.
const MAX_DOUBTED: f64 = 0.5;
/// Largest correction of calibrated rows without a warning, px.
const MAX_SILENT_PX: f64 = 1.0;
/// Number of candidates below which any end has many pixels.
const MIN_CANDIDATES: u32 = 8;

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for Warning {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Returns the conditions of one result, whose pair has this health.
pub fn warnings_of(output: &Output, health: &Health) -> Vec<Warning> {
    let Job { frame, params, .. } = &output.job;
    let shares = output.map.as_ref().map(|map| map.shares(params.min_disparity, params.last_disparity()));
    warnings(&SourceState::default(), health, params, shares.as_ref(), frame.geometry.as_ref())
}

/// Returns the conditions of the source, of its newest pair, and of the map computed with `params`, the worst one first. `shares` is
/// `None` before a map was measured, `geometry` where disparities have no depth.
pub fn warnings(
    source: &SourceState,
    health: &Health,
    params: &StereoParams,
    shares: Option<&Shares>,
    geometry: Option<&Geometry>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |cause, text| warnings.push(Warning { cause, text });
    if let Some(blank) = health.blank {
        warn(Cause::Blank, format!("this map tells nothing of depth: {blank}"));
    }
    if let Some(exchanged) = health.exchanged {
        let advice = if geometry.is_some() {
            format!("swap them ({})", option("swap-pictures"))
        } else {
            let first = (exchanged.lowest_px / 8.0).floor() * 8.0;
            format!(
                "swap them ({}); if they are right, the cameras converge: estimate that ({}), or begin lower ({})",
                option("swap-pictures"),
                Remedy::set("rectify", "auto"),
                Remedy::set("min-disparity", first)
            )
        };
        warn(Cause::Exchanged, format!("{exchanged}; {advice}"));
    }
    // rows and range are meaningless while the views are exchanged
    let is_judged = health.exchanged.is_none() && health.blank.is_none();
    let judged = shares.filter(|_| is_judged);
    let range = judged.and_then(|shares| range_elsewhere(health, params, shares, geometry));
    let is_noise = range.is_none() && judged.is_some_and(|shares| is_noise(health, params, shares));
    let has_ends = params.num_disparities >= MIN_CANDIDATES && range.is_none() && !is_noise;
    if let Some(shares) = judged.filter(|_| has_ends) {
        if shares.at_last > MAX_SHARE_AT_END {
            let (share, last) = (100.0 * shares.at_last, params.last_disparity());
            warn(
                Cause::TooNear,
                format!(
                    "{share:.0} % end at {last} px: nearer things are cut off and come out wrong; search further (num-disparities)"
                ),
            );
        }
        // nothing lies behind infinity
        let infinity_px = geometry.map_or(0.0, |geometry| -geometry.doffs_px);
        let first = params.min_disparity;
        if shares.at_first > MAX_SHARE_AT_END && f64::from(first) > infinity_px + 1.0 {
            let share = 100.0 * shares.at_first;
            warn(
                Cause::TooFar,
                format!(
                    "{share:.0} % end at {first} px: farther things are cut off and come out wrong; begin lower (min-disparity)"
                ),
            );
        }
    }
    let is_calibrated = geometry.is_some_and(|geometry| !geometry.estimated);
    if let Some(points) = health.in_columns.filter(|_| is_judged) {
        let text = format!(
            "{points} points lie in the same column of both images: if one camera stands above the other, say so ({})",
            option("vertical")
        );
        warn(Cause::Rows, text);
    } else if let Some(text) = health.drift.as_ref().filter(|_| is_judged).and_then(drifted) {
        warn(Cause::Drift, text);
    } else if let Some(rows) = health.misaligned().filter(|_| is_judged) {
        let is_estimate = geometry.is_some_and(|geometry| geometry.spread.is_some());
        let cure = if is_estimate {
            "the estimate of the rig does not hold: estimate it again with textured things at several distances, or calibrate it".to_owned()
        } else {
            format!("calibrate the rig, or estimate that from the images ({})", Remedy::set("rectify", "auto"))
        };
        warn(Cause::Rows, format!("{rows}: {cure}"));
    } else if let Some(fit) = health.row_fit.filter(|fit| is_judged && fit.max_px > MAX_SILENT_PX && is_calibrated) {
        let text = format!("rows are corrected by up to {:.1} px: the rig has moved, calibrate again", fit.max_px);
        warn(Cause::Rows, text);
    } else if let Some(text) = range {
        warn(Cause::Range, text);
    } else if let Some(shares) =
        judged.filter(|shares| is_noise || (shares.measured < MIN_MEASURED && health.is_measured))
    {
        warn(Cause::Matches, said_of_matches(health, params, shares, is_noise));
    }
    if let (Some(skew), Some(motion)) = (source.skew, health.motion_px_per_s) {
        let apart_s = skew.mean_s.abs() + skew.spread_s / 2.0;
        let moved_px = apart_s * motion;
        if moved_px > 1.0 {
            let text = format!(
                "the cameras take their images {:.0} ms apart, and what moves is {moved_px:.1} px further by then: re-sync, or \
                 hold still",
                1e3 * apart_s
            );
            warn(Cause::Skew, text);
        }
    }
    if let Some(luma) = health.luma.filter(|luma| luma.hurts(params.cost)) {
        let than = if luma.levels > 0.0 { "brighter" } else { "darker" };
        let text = format!(
            "the right image is {:.0} grey levels {than} than the left one, too much for {}: equal exposure, or another cost",
            luma.levels.abs(),
            params.cost
        );
        warn(Cause::Light, text);
    }
    source.remarks.iter().for_each(|remark| warn(Cause::Source, remark.clone()));
    warnings
}

/// Returns what is said of a map in which hardly anything matches, or noise.
fn said_of_matches(health: &Health, params: &StereoParams, shares: &Shares, is_noise: bool) -> String {
    let share = 100.0 * shares.measured;
    let how = if shares.measured < MIN_MEASURED {
        format!("only {share:.1} % match")
    } else {
        format!("{share:.1} % match, but neighbours disagree as in noise")
    };
    match health.edges_alone.filter(|_| params.cost != CostKind::MutualInformation) {
        Some(points) => format!(
            "only {share:.1} % match, and edges do at {points} points: the images seem to be of two kinds of light, such as thermal \
             and visible; match them by what they tell of each other ({})",
            Remedy::set("cost", CostKind::MutualInformation)
        ),
        None if is_noise && health.is_cut => format!(
            "{how}: the halves of the images show nothing in common; is it a video of one view, or do its views lie otherwise ({}, {})? Of \
             a spatial video (MV-HEVC) decoders give the left view alone",
            option("side-by-side"),
            option("top-bottom")
        ),
        None if shares.measured >= MIN_MEASURED => format!(
            "{how}: the two images show nothing in common in this range; are they of the same scene and moment, rectified, and is the \
             search range right (min-disparity, num-disparities)?"
        ),
        None => format!(
            "{how}: do both images show the same things, the same way up, within the search range (min-disparity, \
             num-disparities)?"
        ),
    }
}

/// Whether a map is noise: its pixels do not agree with each other, and the images have hardly any points in common in the range.
fn is_noise(health: &Health, params: &StereoParams, shares: &Shares) -> bool {
    let is_noisy = shares.agreeing < MIN_AGREEING || shares.measured < MIN_MEASURED;
    is_noisy && health.common_px.as_ref().is_some_and(|common| in_range(common, params) < MIN_COMMON)
}

/// Returns the number of disparities within the search range.
fn in_range(common_px: &[f64], params: &StereoParams) -> usize {
    let (first, last) = (f64::from(params.min_disparity), f64::from(params.last_disparity()));
    common_px.iter().filter(|px| (first - 1.0..=last + 1.0).contains(*px)).count()
}

/// Returns where the disparities lie if it is outside of the search range, and not behind infinity.
fn range_elsewhere(
    health: &Health,
    params: &StereoParams,
    shares: &Shares,
    geometry: Option<&Geometry>,
) -> Option<String> {
    let common = health.common_px.as_ref().filter(|common| common.len() >= MIN_MATCHES)?;
    let inside = in_range(common, params);
    let [low, middle, high] =
        [common.len() / 20, common.len() / 2, common.len() - 1 - common.len() / 20].map(|at| common[at]);
    let infinity_px = geometry.map(|geometry| -geometry.doffs_px);
    let is_behind = infinity_px.is_some_and(|infinity_px| middle < infinity_px - 1.0);
    if (inside as f64) >= MIN_IN_RANGE * common.len() as f64 || shares.measured >= MAX_DOUBTED || is_behind {
        return None;
    }
    let first = (low / 8.0).floor() * 8.0 - 8.0;
    let count = ((high - first) / 8.0).ceil() * 8.0 + 8.0;
    Some(format!(
        "{} of {} points that both images show lie outside of the search range of {} to {} px, most at {low:.0} to {high:.0} px: search \
         there ({}, {})",
        common.len() - inside,
        common.len(),
        params.min_disparity,
        params.last_disparity(),
        Remedy::set("min-disparity", first),
        Remedy::set("num-disparities", count)
    ))
}

/// Returns the change of a calibrated rig in words, with the remedy; `None` for one that stands as calibrated or corrected.
fn drifted(drift: &Drift) -> Option<String> {
    let lens = drift.lens.filter(|_| drift.in_force.is_none()).map(|lens| lens.words());
    if drift.is_offered {
        let [.., five, _] = drift.depth;
        let lens = lens.map_or_else(String::new, |lens| format!("; {lens}"));
        return Some(format!(
            "the rig has changed since its calibration: depth at 5 m is off by about {:.1} %, and by {:.1} % if that is corrected ({}){lens}",
            five.before_percent,
            five.after_percent,
            option("self-calibrate")
        ));
    }
    let lens = lens.filter(|_| !drift.is_enough)?;
    Some(format!("{lens}; several views correct that ({}), or calibrate again", option("self-calibrate")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use stereopsis_base::geometry::Axis;
    use stereopsis_base::image::{Image, Luma, Picture, QuarterTurn};
    use stereopsis_calibration::Exchanged;
    use stereopsis_frame::{Frame, RawPair, SceneOptions, Skew};
    use stereopsis_metrics::{Blank, LumaDifference};
    use stereopsis_stereo::CostKind;

    fn said(source: &SourceState, health: &Health, cost: CostKind) -> String {
        let params = StereoParams { cost, ..StereoParams::default() };
        let warnings = warnings(source, health, &params, None, None);
        warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn skew_warns_only_about_visible_motion() {
        let skew = Some(Skew { mean_s: -0.010, spread_s: 0.004 });
        let cameras = SourceState { skew, ..SourceState::default() };
        let said = |motion_px_per_s| {
            let health = Health { motion_px_per_s, ..Health::default() };
            said(&cameras, &health, CostKind::Census5x5)
        };
        assert_eq!((said(None), said(Some(80.0))), (String::new(), String::new()));
        let text = said(Some(100.0));
        assert!(text.contains("12 ms apart") && text.contains("1.2 px further") && text.contains("re-sync"), "{text}");
    }

    #[test]
    fn undeclared_vertical_cameras_are_noticed() {
        let raw =
            stereopsis_scene::render(&SceneOptions { width: 320, height: 240, ..SceneOptions::default() }, 0, false);
        let said = |raw: RawPair, axis: Axis| {
            let frame = Arc::new(Frame { axis, ..Frame::of_raw(Arc::new(raw)) });
            let params = Arc::new(StereoParams { num_disparities: 32, ..StereoParams::default() });
            let job = Job { frame, params, read_back: true, wants_right: false };
            let health = Health::of(&job);
            (warnings(&SourceState::default(), &health, &job.params, None, None), health.row_offset)
        };
        let turned = |picture: &Picture| picture.turned(QuarterTurn::Right);
        let above = RawPair { left: turned(&raw.left), right: turned(&raw.right), ..raw.clone() };
        let (warnings, _) = said(above.clone(), Axis::Horizontal);
        assert!(warnings.len() == 1 && warnings[0].text.contains("(vertical)"), "{warnings:?}");
        let (warnings, columns) = said(above, Axis::Vertical);
        let columns = columns.unwrap();
        assert!(
            warnings.is_empty() && columns.to_string().starts_with("columns differ by 0.0"),
            "{warnings:?} {columns}"
        );
        assert_eq!(said(raw, Axis::Horizontal).0, []);
    }

    #[test]
    fn light_warns_only_where_the_cost_does_not_tolerate_it() {
        let health = Health { luma: Some(LumaDifference { levels: -12.0, ratio: 0.9 }), ..Health::default() };
        let said = |cost| said(&SourceState::default(), &health, cost);
        assert_eq!(said(CostKind::Census5x5), "");
        assert!(said(CostKind::Sad).contains("12 grey levels darker"), "{}", said(CostKind::Sad));
    }

    #[test]
    fn blank_pairs_and_pairs_without_matches_warn() {
        let params = StereoParams::default();
        let causes = |health: &Health, measured: f64| -> Vec<Cause> {
            let shares = Shares { measured, ..Shares::default() };
            let warnings = warnings(&SourceState::default(), health, &params, Some(&shares), None);
            warnings.iter().map(|warning| warning.cause).collect()
        };
        let blank = Health { blank: Some(Blank::Same), ..Health::default() };
        assert_eq!(causes(&blank, 1.0), [Cause::Blank]);
        let good = Health { is_measured: true, ..Health::default() };
        assert_eq!(causes(&good, 0.9), []);
        assert_eq!(causes(&good, 0.04), [Cause::Matches]);
        assert_eq!(causes(&Health::default(), 0.04), [], "the cause is not known yet");
        let exchanged = Health {
            exchanged: Some(Exchanged { share: 0.9, matches: 50, lowest_px: -20.0 }),
            is_measured: true,
            ..blank
        };
        assert_eq!(
            causes(&Health { blank: None, ..exchanged }, 0.04),
            [Cause::Exchanged],
            "the cause, not its symptom"
        );
    }

    #[test]
    fn noise_and_ranges_that_lie_elsewhere_are_named_and_nothing_else() {
        let params = StereoParams { min_disparity: 8, num_disparities: 56, ..StereoParams::default() };
        let said = |measured: f64, agreeing: f64, common_px: &[f64], is_cut: bool| -> Vec<(Cause, String)> {
            let shares = Shares { measured, agreeing, at_last: 0.1, at_first: 0.1, ..Shares::default() };
            let health = Health { is_measured: true, common_px: Some(common_px.to_vec()), is_cut, ..Health::default() };
            let warnings = warnings(&SourceState::default(), &health, &params, Some(&shares), None);
            warnings.into_iter().map(|warning| (warning.cause, warning.text)).collect()
        };
        let causes = |measured, agreeing, common_px: &[f64]| -> Vec<Cause> {
            said(measured, agreeing, common_px, false).into_iter().map(|(cause, _)| cause).collect()
        };
        let inside: Vec<f64> = (0..40).map(|i| 10.0 + f64::from(i)).collect();
        let beyond: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i)).collect();
        assert_eq!(causes(0.13, 0.22, &[]), [Cause::Matches], "search further is no cure for noise");
        assert_eq!(causes(0.03, 0.40, &[]), [Cause::Matches]);
        let ends = [Cause::TooNear, Cause::TooFar];
        assert_eq!(causes(0.13, 0.22, &inside), ends, "sparse, and the images have points in common");
        assert_eq!(causes(0.13, 0.40, &[]), ends, "sparse, and its pixels agree");
        assert_eq!(causes(0.13, 0.40, &beyond), [Cause::Range]);
        assert_eq!(causes(0.60, 0.40, &beyond), ends, "most is measured, the points lie on one near thing");
        let (_, text) = &said(0.13, 0.40, &beyond, false)[0];
        assert!(
            text.contains("40 of 40 points") && text.contains("min-disparity 88, num-disparities 64"),
            "the whole of it, and a margin: {text}"
        );
        let (_, text) = &said(0.13, 0.22, &[], true)[0];
        assert!(text.contains("13.0 % match") && text.contains("halves") && text.contains("MV-HEVC"), "{text}");
        let (_, text) = &said(0.13, 0.22, &[], false)[0];
        assert!(text.contains("two images show nothing in common") && !text.contains("halves"), "{text}");
    }

    /// Walls of noise have points in common; images of different noise have none, and their map is sparse and disagrees.
    #[test]
    fn images_of_different_things_are_noise_and_sparse_dots_are_not() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut soft = || {
            let noise = Image::from_fn(260, 200, |_, _| random.u32(0..256));
            let mean = |x: usize, y: usize| -> u32 { (0..9).map(|k| noise.at(x + k % 3, y + k / 3)).sum::<u32>() / 9 };
            Image::from_fn(256, 196, |x, y| (3 * mean(x, y)).saturating_sub(256).min(255) as u8)
        };
        let (one, other) = (soft(), soft());
        let said = |left: Image<u8>, right: Image<u8>| {
            let [left, right] = [left, right].map(|image| Picture::from(Luma::U8(image)));
            let raw = RawPair::new("pair", 0, std::time::SystemTime::UNIX_EPOCH, left, right);
            let params = StereoParams { num_disparities: 48, ..StereoParams::default() };
            let (params, frame) = (Arc::new(params), Arc::new(Frame::of_raw(Arc::new(raw))));
            let job = Job { frame, params, read_back: true, wants_right: false };
            let output = stereopsis_frame::engine::run(&mut stereopsis_cpu::CpuEngine::new(None), job).unwrap();
            let shares = output.map.as_ref().unwrap().shares(0, 47);
            let warnings = warnings_of(&output, &Health::of(&output.job));
            (shares, warnings.iter().map(|warning| warning.cause).collect::<Vec<_>>())
        };
        let crop = |image: &Image<u8>, from: usize| Image::from_fn(200, 196, |x, y| image.at(x + from, y));
        let (shares, causes) = said(crop(&one, 0), crop(&other, 0));
        assert!(causes == [Cause::Matches] && shares.agreeing < MIN_AGREEING, "{causes:?} {shares:?}");
        // a patch of texture on a wall without any
        let mut patch = |from: usize| {
            Image::from_fn(200, 196, |x, y| {
                let is_patch = (60..140).contains(&(x + from)) && (60..120).contains(&y);
                if is_patch { one.at(x + from, y) } else { random.u8(90..93) }
            })
        };
        let (shares, causes) = said(patch(0), patch(12));
        assert!(causes.is_empty() && shares.measured < 0.4, "{causes:?} {shares:?}");
    }

    #[test]
    fn images_of_two_kinds_of_light_get_the_cost_for_them() {
        let raw =
            stereopsis_scene::render(&SceneOptions { width: 320, height: 240, ..SceneOptions::default() }, 0, false);
        let said = |right: Luma, cost| {
            let raw = RawPair { right: right.into(), ..raw.clone() };
            let params = Arc::new(StereoParams { cost, ..StereoParams::default() });
            let job =
                Job { frame: Arc::new(Frame::of_raw(Arc::new(raw))), params, read_back: true, wants_right: false };
            let shares = Shares { measured: 0.03, ..Shares::default() };
            let warnings = warnings(&SourceState::default(), &Health::of(&job), &job.params, Some(&shares), None);
            warnings
                .iter()
                .find(|warning| warning.cause == Cause::Matches)
                .map(|warning| warning.text.clone())
                .unwrap_or_default()
        };
        let right = raw.right.luma.to_u8();
        let inverted = || Luma::U8(right.map(|&v| 255 - v));
        let text = said(inverted(), CostKind::Census5x5);
        assert!(text.contains("cost mutual-information") && text.contains("two kinds of light"), "{text}");
        assert!(said(inverted(), CostKind::MutualInformation).contains("do both images show the same things"));
        let elsewhere = raw.right.luma.turned(QuarterTurn::Left).turned(QuarterTurn::Left);
        let text = said(elsewhere, CostKind::Census5x5);
        assert!(!text.contains("kinds of light"), "{text}");
    }

    #[test]
    fn converging_images_warn_beside_exchanged_ones() {
        let exchanged = Some(Exchanged { share: 1.0, matches: 80, lowest_px: -33.0 });
        let health = Health { exchanged, ..Health::default() };
        let text = said(&SourceState::default(), &health, CostKind::Census5x5);
        assert!(text.contains("swap-pictures") && text.contains("min-disparity -40"), "{text}");
        let geometry = Geometry::centred(500.0, 0.1, 0.0, (64, 48));
        let of_rig = warnings(&SourceState::default(), &health, &StereoParams::default(), None, Some(&geometry));
        assert!(!of_rig[0].text.contains("converge"), "{of_rig:?}");
    }

    #[test]
    fn many_pixels_at_an_end_of_the_range_warn() {
        let params = StereoParams { min_disparity: 4, num_disparities: 28, ..StereoParams::default() };
        let causes = |shares: Shares, health: &Health, params: &StereoParams, infinity_px: Option<f64>| -> Vec<Cause> {
            let geometry = infinity_px.map(|d| Geometry::centred(500.0, 0.1, -d, (64, 48)));
            let warnings = warnings(&SourceState::default(), health, params, Some(&shares), geometry.as_ref());
            warnings.iter().map(|warning| warning.cause).collect()
        };
        let good = Health::default();
        let well = Shares { measured: 0.9, ..Shares::default() };
        let (near, far) = (Shares { at_last: 0.12, ..well }, Shares { at_first: 0.2, ..well });
        assert_eq!(causes(near, &good, &params, None), [Cause::TooNear]);
        assert_eq!(causes(far, &good, &params, None), [Cause::TooFar]);
        assert_eq!(causes(far, &good, &params, Some(4.0)), [], "nothing lies behind infinity");
        let from_infinity = StereoParams { min_disparity: 0, ..params.clone() };
        assert_eq!(causes(far, &good, &from_infinity, None), []);
        let few = Shares { at_last: 0.04, at_first: 0.04, ..well };
        assert_eq!(causes(few, &good, &params, None), []);
        let exchanged =
            Health { exchanged: Some(Exchanged { share: 0.9, matches: 50, lowest_px: -20.0 }), ..Health::default() };
        assert_eq!(causes(near, &exchanged, &params, None), [Cause::Exchanged], "the cause, not its symptoms");
        let text = &warnings(&SourceState::default(), &good, &params, Some(&near), None)[0].text;
        assert_eq!(
            text,
            "12 % end at 31 px: nearer things are cut off and come out wrong; search further (num-disparities)"
        );
    }
}
