//! Focal length, principal points and baseline of a rectified pair, each by its name, in YAML or JSON: stereodemo's
//! `stereodemo_calibration.json` (0.7: `fx`, `fy`, `cx0`, `cx1`, `cy`, `baseline_meters`, and depth is `fx * baseline / (d - (cx0 - cx1))`), and
//! files that people write (`fx`, `cx`, `cy`, `baseline`).

use super::draft::Draft;
use super::names::{self, Meaning};
use super::tree::Node;
use super::{Kind, ValueError, need};
use crate::{LengthUnit, Projection, StereoRig};

/// Names of the baseline, with their units.
const BASELINES: [(&str, Option<LengthUnit>); 4] = [
    ("baseline_meters", Some(LengthUnit::Metre)),
    ("baseline_m", Some(LengthUnit::Metre)),
    ("baseline_mm", Some(LengthUnit::Millimetre)),
    ("baseline", None),
];

/// Whether a file has these numbers, and neither matrices nor lenses.
pub(super) fn recognizes(tree: &Node) -> bool {
    let has_centre = tree.has("cx") || tree.has("cx0") && tree.has("cx1");
    let is_raw = |name: &str| name == "k1" || names::meaning(name).is_some_and(|(meaning, _)| meaning != Meaning::Size);
    tree.has("fx") && has_centre && baseline(tree).is_some() && !tree.entries().iter().any(|(name, _)| is_raw(name))
}

fn baseline(tree: &Node) -> Option<(&'static str, Option<LengthUnit>)> {
    BASELINES.into_iter().find(|(name, _)| tree.has(name))
}

pub(super) fn read(tree: &Node) -> Result<Draft, ValueError> {
    let of = |key: &str| need::number("", tree, key);
    let or = |key: &str, other: f64| if tree.has(key) { of(key) } else { Ok(other) };
    let fx = of("fx")?;
    let left_cx = of(if tree.has("cx0") { "cx0" } else { "cx" })?;
    let right_cx = or("cx1", left_cx + or("doffs", 0.0)?)?;
    let camera = |cx: f64| Ok(Projection { fx, fy: or("fy", fx)?, cx, cy: of("cy")? });
    let (name, unit) = baseline(tree).unwrap_or(BASELINES[3]);
    let has_size = tree.has("width") && tree.has("height");
    let size = if has_size { Some((of("width")? as usize, of("height")? as usize)) } else { None };
    let rig = StereoRig::of_pinholes([camera(left_cx)?, camera(right_cx)?], of(name)?, size);
    let doubt = (!tree.has("cx0")).then(|| {
        format!(
            "the file has fx, cx and {name} alone: the images are taken to be rectified already; for images as they come from the \
             cameras write K1, D1, K2, D2, R and T"
        )
    });
    Ok(Draft { rig: StereoRig { kind: Kind::Rectified, doubts: doubt.into_iter().collect(), ..rig }, unit })
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, read};
    use super::*;
    use std::path::PathBuf;

    fn rig_of(text: &str) -> Result<StereoRig, crate::CalibrationError> {
        read(&[(PathBuf::from("camera.json"), text.as_bytes().to_vec())], &LoadOptions::default())
    }

    #[test]
    fn the_numbers_of_a_rectified_pair_are_read() {
        let demo = r#"{"width": 640, "height": 480, "fx": 610.5, "fy": 611.5, "cx0": 320.5, "cx1": 326.5, "cy": 240.5,
                       "baseline_meters": 0.0625, "depth_range": [0.3, 20.0], "comment": ""}"#;
        let rig = rig_of(demo).unwrap();
        assert_eq!((rig.kind, rig.size, rig.doubts.len()), (Kind::Rectified, Some((640, 480)), 0));
        let geometry = rig.rectifier(640, 480, 0.0).unwrap().geometry();
        assert_eq!((geometry.focal_px, geometry.baseline_m, geometry.doffs_px), (610.5, 0.0625, 6.0));
        let own = rig_of("fx: 700.5\ncx: 640.5\ncy: 360.5\nbaseline: 62.5\n").unwrap();
        assert_eq!((own.left.fy, own.unit, own.size), (700.5, LengthUnit::Millimetre, None));
        assert!((own.baseline_m() - 0.0625).abs() < 1e-15);
        assert!(
            own.doubts[0].starts_with("the file has fx, cx and baseline alone: the images are taken to be rectified")
        );
        for raw in ["k1: -0.2", "D: [-0.2, 0, 0, 0]"] {
            assert!(rig_of(&format!("fx: 700\ncx: 640\ncy: 360\nbaseline: 62.5\n{raw}\n")).is_err(), "{raw}");
        }
    }
}
