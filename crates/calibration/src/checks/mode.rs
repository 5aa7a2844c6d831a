//! Check for camera matrices that belong to another image size than the stated one.

use super::error::OtherMode;
use crate::{Camera, StereoRig};

/// Image sizes of common camera modes, px.
const COMMON_SIZES: [(usize, usize); 21] = [
    (320, 240),
    (512, 512),
    (640, 360),
    (640, 400),
    (640, 480),
    (672, 376),
    (752, 480),
    (800, 600),
    (848, 480),
    (960, 540),
    (1024, 768),
    (1280, 720),
    (1280, 800),
    (1280, 960),
    (1280, 1024),
    (1600, 1200),
    (1920, 1080),
    (1920, 1200),
    (2208, 1242),
    (2592, 1944),
    (3840, 2160),
];
/// Distance of a principal point from the image centre, in widths or heights, above which the size is doubted.
const FAR_SHARE: f64 = 0.12;
/// Distance of a principal point from the centre of a common size, in widths or heights, below which that size is suggested.
const NEAR_SHARE: f64 = 0.05;

/// Returns a doubt with the common size whose centre is near both principal points, if these are far from that of the stated size.
pub(super) fn doubt(rig: &StereoRig) -> Option<OtherMode> {
    let stated = rig.size?;
    if rig.right_size.is_some() {
        return None;
    }
    let [left, right] = [&rig.left, &rig.right].map(|camera| likely_size(camera, stated));
    let likely = left.filter(|_| left == right)?;
    let centres = [&rig.left, &rig.right].map(|camera| [camera.cx, camera.cy]);
    Some(OtherMode { likely, stated, centres })
}

fn likely_size(camera: &Camera, stated: (usize, usize)) -> Option<(usize, usize)> {
    let off_centre = |size| camera.off_centre(size);
    if off_centre(stated) < FAR_SHARE {
        return None;
    }
    let nearest = COMMON_SIZES.into_iter().min_by(|a, b| off_centre(*a).total_cmp(&off_centre(*b)))?;
    (off_centre(nearest) < NEAR_SHARE).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::tests::plain_rig;

    fn rig(cx: f64, cy: f64, size: (usize, usize)) -> StereoRig {
        let mut rig = plain_rig();
        rig.size = Some(size);
        (rig.left.cx, rig.left.cy) = (cx, cy);
        (rig.right.cx, rig.right.cy) = (cx + 9.0, cy - 6.0);
        rig
    }

    #[test]
    fn matrices_of_another_mode_are_named() {
        for (cx, cy, stated, meant) in [
            (640.0, 358.0, (640, 480), "1280x720"),
            (318.0, 243.0, (1280, 720), "640x480"),
            (322.0, 239.0, (640, 360), "640x480"),
            (961.0, 542.0, (1280, 720), "1920x1080"),
            (636.0, 484.0, (1280, 720), "1280x960"),
        ] {
            let text = doubt(&rig(cx, cy, stated)).unwrap().to_string();
            let words = format!("one of {meant} images, the calibration says {}x{}", stated.0, stated.1);
            assert!(text.contains(&words), "{text}");
        }
    }

    #[test]
    fn other_principal_points_are_not() {
        assert_eq!(doubt(&rig(345.0, 221.0, (640, 480))), None, "as usual");
        assert_eq!(doubt(&rig(500.0, 240.0, (640, 480))), None, "in the middle of no common size");
        assert_eq!(doubt(&StereoRig { size: None, ..rig(639.5, 359.5, (640, 480)) }), None);
        let mut one = rig(640.0, 358.0, (640, 480));
        (one.right.cx, one.right.cy) = (320.0, 240.0);
        assert_eq!(doubt(&one), None, "one camera alone");
    }
}
