//! Cityscapes' `_camera.json`: K of both rectified images and the baseline in metres.

use super::ValueError;
use super::tree::Node;
use super::{Kind, draft::Draft, need};
use crate::{LengthUnit, Projection, StereoRig};

pub(super) fn recognizes(tree: &Node) -> bool {
    let has = |group: &str, key: &str| tree.get(&[group]).is_some_and(|node| node.has(key));
    has("extrinsic", "baseline") && has("intrinsic", "u0")
}

/// Reads `intrinsic` and `extrinsic.baseline`; the pose of the camera in the car has no effect on depth.
pub(super) fn read(tree: &Node) -> Result<Draft, ValueError> {
    let (intrinsic, extrinsic) = (need::node("", tree, "intrinsic")?, need::node("", tree, "extrinsic")?);
    let of = |key: &str| need::number("intrinsic", intrinsic, key);
    let camera = Projection { fx: of("fx")?, fy: of("fy")?, cx: of("u0")?, cy: of("v0")? };
    let rig = StereoRig::of_pinholes([camera; 2], need::number("extrinsic", extrinsic, "baseline")?, None);
    Ok(Draft { rig: StereoRig { kind: Kind::Cityscapes, ..rig }, unit: Some(LengthUnit::Metre) })
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, read};
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_camera_and_the_baseline_are_read() {
        let rig_of = |text: &str| {
            let files = [(PathBuf::from("a_camera.json"), text.as_bytes().to_vec())];
            read(&files, &LoadOptions::default())
        };
        let text = r#"{"extrinsic": {"baseline": 0.225, "pitch": 0.04, "x": 1.7}, "intrinsic": {"fx": 2250.5, "fy": 2252.5,
                       "u0": 1090.25, "v0": 510.5}}"#;
        let rig = rig_of(text).unwrap();
        assert_eq!((rig.kind, rig.left.fy, rig.right.cx, rig.left.cy), (Kind::Cityscapes, 2252.5, 1090.25, 510.5));
        assert_eq!((rig.baseline_m(), rig.size, rig.doubts.len()), (0.225, None, 0));
        let refusal = rig_of(&text.replace("\"fy\"", "\"f\"")).unwrap_err().to_string();
        assert!(refusal.contains("intrinsic.fy is missing"), "{refusal}");
    }
}
