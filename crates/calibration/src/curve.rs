//! Images that are no flat ones: their columns are angles, which no pinhole with a lens model describes.

use std::fmt;
use stereopsis_base::remedy::{Remedy, option};

/// Projection of an image that is not flat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// Equirectangular image all around: columns are 360 degrees of longitude, rows 180 of latitude.
    Equirectangular,
    /// Half of one, as of VR180.
    HalfEquirectangular,
    /// Circle of a fisheye of about 180 degrees.
    Fisheye,
}

impl Curve {
    /// Returns the equirectangular image of this shape, to 1 %; `None` for other shapes.
    pub fn of_shape((width, height): (usize, usize)) -> Option<Self> {
        let ratio = width as f64 / height as f64;
        let is = |shape: f64| (ratio / shape - 1.0).abs() < 0.01;
        is(1.0).then_some(Self::HalfEquirectangular).or(is(2.0).then_some(Self::Equirectangular))
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Equirectangular => "equirectangular ones of 360 degrees",
            Self::HalfEquirectangular => "equirectangular ones of 180 degrees (VR180)",
            Self::Fisheye => "circles of a fisheye of about 180 degrees",
        }
    }

    /// Returns the input of ffmpeg's filter `v360`.
    const fn of_ffmpeg(self) -> &'static str {
        match self {
            Self::Equirectangular => "equirect:flat",
            Self::HalfEquirectangular => "hequirect:flat",
            Self::Fisheye => "fisheye:flat:ih_fov=180:iv_fov=180",
        }
    }
}

/// Images that are known not to be flat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurvedImages {
    /// Their projection.
    pub curve: Curve,
    /// Evidence for it, as a part of a sentence.
    pub why: String,
}

impl fmt::Display for CurvedImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { curve, why } = self;
        write!(
            f,
            "the images are {}, as {why}, and no flat ones: rows and metres would be wrong; make flat images of their middle first, ffmpeg -i IN \
             -vf v360={}:h_fov=90:v_fov=90:w=1000:h=1000 OUT (with in_stereo=sbs:out_stereo=sbs for an image of both views side by side, tb above each \
             other), and give {}",
            curve.words(),
            curve.of_ffmpeg(),
            Remedy::set("fov-deg", 90)
        )
    }
}

impl CurvedImages {
    pub(crate) fn remedies() -> Vec<Remedy> {
        vec![option("fov-deg")]
    }
}
