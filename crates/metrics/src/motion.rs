//! Displacement between two images of one camera, from which the disparity error of a late right image follows.

use stereopsis_base::image::Luma;
use stereopsis_base::quantile::quantile;
use stereopsis_calibration::{Search, search};

/// Coarse search: corners of a small level, moved by up to a tenth of the image in any direction.
const SEARCH: Search = Search { disparity: (-0.10, 0.10), rows: 0.10, width_px: 320 };
/// Smallest number of matches for a result.
const MIN_MATCHES: usize = 20;

/// Returns the 95th percentile of the displacement of points from `previous` to `next`, px; `None` with too few points, as in the dark.
/// The displacement per second times the skew of a pair is the disparity error of free-running cameras.
pub fn motion(previous: &Luma, next: &Luma) -> Option<f64> {
    let found = search(previous, next, SEARCH);
    if found.len() < MIN_MATCHES {
        return None;
    }
    let mut moved: Vec<_> = found.iter().map(|m| m.left.distance(m.right)).collect();
    Some(quantile(&mut moved, 0.95))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::Image;
    use stereopsis_frame::SceneOptions;
    use stereopsis_scene::render;

    fn scene(number: u64, noise: f64) -> Luma {
        render(&SceneOptions { noise, ..SceneOptions::default() }, number, false).left.luma
    }

    fn shifted(luma: &Luma, dx: usize, dy: usize) -> Luma {
        let image = luma.to_u8();
        Luma::U8(Image::from_fn(image.width(), image.height(), |x, y| {
            image.at_clamped((x + dx) as isize, (y + dy) as isize)
        }))
    }

    #[test]
    fn a_moving_camera_is_measured_and_a_still_one_is_still() {
        let still = scene(0, 0.0);
        assert!(motion(&still, &still).unwrap() < 0.05);
        for (dx, dy) in [(6, 0), (9, 12), (40, 3)] {
            let found = motion(&still, &shifted(&still, dx, dy)).unwrap();
            let exact = ((dx * dx + dy * dy) as f64).sqrt();
            assert!((found - exact).abs() < 0.5, "{found} px instead of {exact} px");
        }
    }

    #[test]
    fn motion_of_a_tenth_of_the_image_exceeds_noise() {
        let (still, moved) = (scene(0, 2.0), shifted(&scene(0, 2.0), 11, 0).to_u8());
        let image = still.to_u8();
        let part = |columns: usize| {
            let pixel = |x, y| if x < columns { moved.at(x, y) } else { image.at(x, y) };
            Luma::U8(Image::from_fn(image.width(), image.height(), pixel))
        };
        let found = motion(&still, &part(100)).unwrap();
        assert!((found - 11.0).abs() < 0.5, "{found}");
        let options = |noise| SceneOptions { noise, ..SceneOptions::default() };
        let [left, right] = [options(2.0), options(4.0)].map(|options| render(&options, 0, false).left.luma);
        let quiet = motion(&left, &right).unwrap();
        assert!(quiet < 1.0, "{quiet}");
    }

    #[test]
    fn dark_images_have_no_motion() {
        let dark = Luma::U8(Image::filled(320, 240, 3));
        assert_eq!(motion(&dark, &dark), None);
    }
}
