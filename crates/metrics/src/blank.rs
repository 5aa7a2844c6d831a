//! Detection of pairs without information on depth, although their maps may be full: uniform images, dark images, one image twice.

use stereopsis_base::image::{Image, Luma};

/// Reason why a pair has no information on depth.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Blank {
    /// Image of one brightness.
    #[error("{view} nothing but brightness {mean:.0} of 255: is a lens covered, or a file empty?")]
    Uniform {
        /// Image or images, in words.
        view: &'static str,
        /// Mean of all pixels of the image, grey levels of 8 bits.
        mean: f64,
    },
    /// Images so dark that noise exceeds the texture.
    #[error("the images are dark, mean {mean:.0} of 255: more light, or a longer exposure")]
    Dark {
        /// Mean of the darker image, grey levels of 8 bits.
        mean: f64,
    },
    /// Equal images.
    #[error("both images are the same: give one of each camera")]
    Same,
}

/// Number of sampled rows.
const ROWS: usize = 240;
/// Share of the pixels at each end of the brightness that may be dust, a time stamp or a dead pixel.
const OUTLIER_SHARE: f64 = 0.005;
/// Largest span of brightness of a blank image, grey levels.
const UNIFORM_SPAN: u8 = 3;
/// Largest mean and span of a dark image, grey levels.
const DARK: (f64, u8) = (20.0, 40);
/// Smallest difference of the left and right neighbours of a textured pixel, grey levels.
const MIN_TEXTURE_SLOPE: u8 = 8;
/// Smallest number of textured pixels for a decision.
const MIN_TEXTURED: usize = 50;
/// Largest mean displacement of equal images, px.
const MAX_SAME_PX: f64 = 0.1;

/// Brightness of an image, grey levels of 8 bits.
struct Brightness {
    mean: f64,
    span: u8,
}

/// Returns why this unrectified pair has no information on depth; `None` if it may have some.
pub fn blank(left: &Luma, right: &Luma) -> Option<Blank> {
    let pictures = [left, right].map(Luma::to_u8);
    let [of_left, of_right] = pictures.each_ref().map(brightness);
    let (of_left, of_right) = (of_left?, of_right?);
    let [is_left, is_right] = [&of_left, &of_right].map(|found| found.span <= UNIFORM_SPAN);
    let mean = of_left.mean.min(of_right.mean);
    match (is_left, is_right) {
        (true, true) => Some(Blank::Uniform { view: "both images show", mean: of_left.mean }),
        (true, false) => Some(Blank::Uniform { view: "the left image shows", mean: of_left.mean }),
        (false, true) => Some(Blank::Uniform { view: "the right image shows", mean: of_right.mean }),
        _ if is_same(&pictures) => Some(Blank::Same),
        _ if mean < DARK.0 && of_left.span.min(of_right.span) <= DARK.1 => Some(Blank::Dark { mean }),
        _ => None,
    }
}

fn rows(image: &Image<u8>) -> impl Iterator<Item = usize> {
    (0..image.height()).step_by((image.height() / ROWS).max(1))
}

fn brightness(image: &Image<u8>) -> Option<Brightness> {
    let mut histogram = [0_usize; 256];
    rows(image).flat_map(|y| image.row(y)).for_each(|&value| histogram[usize::from(value)] += 1);
    let count: usize = histogram.iter().sum();
    let sum: usize = histogram.iter().enumerate().map(|(value, count)| value * count).sum();
    let level_at = |share: f64| {
        let (rank, mut passed) = ((share * count as f64) as usize, 0);
        let place = histogram.iter().position(|&of_level| {
            passed += of_level;
            passed > rank
        });
        place.unwrap_or(255) as u8
    };
    let span = level_at(1.0 - OUTLIER_SHARE).saturating_sub(level_at(OUTLIER_SHARE));
    (count > 0).then(|| Brightness { mean: sum as f64 / count as f64, span })
}

/// Returns whether textured pixels are at the same place in both images: their differences are too small for any shift.
fn is_same([left, right]: &[Image<u8>; 2]) -> bool {
    if left.size() != right.size() {
        return false;
    }
    let (mut textured, mut slopes, mut differences) = (0, 0.0, 0.0);
    for y in rows(left) {
        for (three, other) in left.row(y).windows(3).zip(right.row(y).iter().skip(1)) {
            let slope = three[0].abs_diff(three[2]);
            if slope >= MIN_TEXTURE_SLOPE {
                textured += 1;
                slopes += f64::from(slope) / 2.0;
                differences += f64::from(three[1].abs_diff(*other));
            }
        }
    }
    textured >= MIN_TEXTURED && differences < MAX_SAME_PX * slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_frame::SceneOptions;
    use stereopsis_scene::render;

    fn picture(options: &SceneOptions) -> [Luma; 2] {
        let pair = render(&SceneOptions { width: 160, height: 120, ..*options }, 0, false);
        [pair.left.luma, pair.right.luma]
    }

    fn flat(value: u8) -> Luma {
        Luma::U8(Image::filled(160, 120, value))
    }

    #[test]
    fn pairs_with_depth_are_not_blank() {
        for options in [
            SceneOptions::default(),
            SceneOptions { noise: 4.0, ..SceneOptions::default() },
            SceneOptions { exposure: 0.5, ..SceneOptions::default() },
        ] {
            let [left, right] = picture(&options);
            assert_eq!(blank(&left, &right), None);
        }
    }

    #[test]
    fn uniform_images_are_named_with_side_and_brightness() {
        let [left, right] = picture(&SceneOptions::default());
        let text = |left: &Luma, right: &Luma| blank(left, right).expect("blank").to_string();
        assert!(text(&flat(128), &flat(128)).starts_with("both images show nothing but brightness 128"));
        assert!(text(&flat(0), &right).starts_with("the left image shows nothing but brightness 0"));
        assert!(text(&left, &flat(255)).starts_with("the right image shows nothing but brightness 255"));
    }

    #[test]
    fn equal_images_are_detected_after_another_encoding() {
        let [left, _] = picture(&SceneOptions::default());
        assert_eq!(blank(&left, &left), Some(Blank::Same));
        let anew = Luma::U8(left.to_u8().map(|&value| (value & !1).saturating_add(1)));
        assert_eq!(blank(&left, &anew), Some(Blank::Same));
    }

    #[test]
    fn a_dark_room_is_dark_and_not_a_covered_lens() {
        let [left, right] = picture(&SceneOptions { noise: 3.0, ..SceneOptions::default() });
        let [left, right] = [left, right].map(|luma| Luma::U8(luma.to_u8().map(|&value| value / 10)));
        let found = blank(&left, &right);
        assert!(matches!(found, Some(Blank::Dark { mean }) if mean < 20.0), "{found:?}");
    }

    #[test]
    fn empty_and_unequal_images_are_not_blank() {
        let empty = Luma::U8(Image::new(0, 0, Vec::new()));
        assert_eq!(blank(&empty, &empty), None);
        let [left, _] = picture(&SceneOptions::default());
        let smaller = render(&SceneOptions { width: 80, height: 60, ..SceneOptions::default() }, 0, false).left.luma;
        assert_eq!(blank(&left, &smaller), None);
    }
}
