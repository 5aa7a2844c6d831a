//! Supported lens models, and conversion between cameras and parameter vectors.

use super::error::LensKindError;
use std::fmt;
use std::str::FromStr;
use stereopsis_calibration::{BrownConrady, Camera, Distortion, Fisheye};

/// Lens model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LensKind {
    /// Pinhole with k1, k2, p1, p2 (Kalibr's radtan).
    Radtan,
    /// Pinhole with k1, k2, p1, p2, k3, for ordinary lenses.
    Pinhole,
    /// Pinhole with k4, k5, k6 in the denominator, for wide lenses.
    Rational,
    /// Angle model with k1 to k4, for fisheyes (Kannala & Brandt 2006).
    Fisheye,
}

pub(super) const MAX_PARAMETERS: usize = 12;

impl LensKind {
    /// All models, the simplest first.
    pub const ALL: [Self; 4] = [Self::Radtan, Self::Pinhole, Self::Rational, Self::Fisheye];
    /// Models compared by default, the simplest first.
    pub(crate) const COMPARED: [Self; 3] = [Self::Pinhole, Self::Rational, Self::Fisheye];

    /// Returns the simplest model with all of a camera's parameters, or `None` for thin prisms and tilted sensors.
    pub fn of(camera: &Camera) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.vector(camera).is_some())
    }

    /// Returns the model's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Radtan => "radtan",
            Self::Pinhole => "pinhole",
            Self::Rational => "rational",
            Self::Fisheye => "fisheye",
        }
    }

    /// Returns the number of parameters: fx, fy, cx, cy and the coefficients.
    pub fn count(self) -> usize {
        4 + match self {
            Self::Radtan => 4,
            Self::Pinhole => 5,
            Self::Rational => 8,
            Self::Fisheye => 4,
        }
    }

    pub(super) fn camera(self, v: &[f64; MAX_PARAMETERS]) -> Camera {
        let [fx, fy, cx, cy, ..] = *v;
        let d = |i: usize| if 4 + i < self.count() { v[4 + i] } else { 0.0 };
        let distortion = match self {
            Self::Fisheye => Distortion::Fisheye(Fisheye { k: [d(0), d(1), d(2), d(3)] }),
            Self::Radtan | Self::Pinhole | Self::Rational => Distortion::BrownConrady(BrownConrady {
                radial: [d(0), d(1), d(4), d(5), d(6), d(7)],
                tangential: [d(2), d(3)],
                ..BrownConrady::default()
            }),
        };
        Camera { fx, fy, cx, cy, skew: 0.0, distortion }
    }

    /// Returns the parameter vector of a camera, or `None` for an axis skew or another lens model.
    pub(super) fn vector(self, camera: &Camera) -> Option<[f64; MAX_PARAMETERS]> {
        if camera.skew != 0.0 {
            return None;
        }
        let mut v = [0.0; MAX_PARAMETERS];
        v[..4].copy_from_slice(&[camera.fx, camera.fy, camera.cx, camera.cy]);
        match (self, camera.distortion) {
            (Self::Fisheye, Distortion::Fisheye(lens)) => v[4..8].copy_from_slice(&lens.k),
            (Self::Radtan | Self::Pinhole | Self::Rational, Distortion::BrownConrady(lens)) => {
                let [k1, k2, k3, k4, k5, k6] = lens.radial;
                let [p1, p2] = lens.tangential;
                v[4..].copy_from_slice(&[k1, k2, p1, p2, k3, k4, k5, k6]);
                if self.camera(&v) != *camera {
                    return None;
                }
            }
            _ => return None,
        }
        Some(v)
    }

    /// Returns mean and standard deviation of each parameter's prior, so wide that it affects only parameters left open by the views.
    pub(super) fn prior(self, (width, height): (usize, usize)) -> [(f64, f64); MAX_PARAMETERS] {
        let (width, height) = (width as f64, height as f64);
        let mut prior = [(0.0, 1.0); MAX_PARAMETERS];
        // fx is free, fy has its prior relative to fx
        prior[0] = (width, 1e3 * width);
        prior[1] = (width, 1e3 * width);
        prior[2] = ((width - 1.0) / 2.0, 0.1 * width);
        prior[3] = ((height - 1.0) / 2.0, 0.1 * width);
        match self {
            Self::Radtan | Self::Pinhole | Self::Rational => {
                (prior[6], prior[7]) = ((0.0, 0.01), (0.0, 0.01));
            }
            Self::Fisheye => {
                for k in &mut prior[4..8] {
                    *k = (0.0, 0.2);
                }
            }
        }
        prior
    }
}

impl fmt::Display for LensKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for LensKind {
    type Err = LensKindError;

    fn from_str(text: &str) -> Result<Self, LensKindError> {
        let found = Self::ALL.into_iter().find(|kind| kind.word() == text);
        found.ok_or_else(|| LensKindError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_are_their_vectors() {
        for kind in LensKind::ALL {
            let mut v = [0.0; MAX_PARAMETERS];
            for (i, number) in v.iter_mut().enumerate().take(kind.count()) {
                *number = 1.0 + i as f64;
            }
            assert_eq!(kind.vector(&kind.camera(&v)), Some(v), "{kind}");
            assert_eq!(kind.word().parse(), Ok(kind));
        }
        let rational = LensKind::Rational.camera(&[1.0; MAX_PARAMETERS]);
        assert_eq!((LensKind::Pinhole.vector(&rational), LensKind::Fisheye.vector(&rational)), (None, None));
    }
}
