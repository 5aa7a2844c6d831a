//! Weights of the pixels of a region (Fang et al. 2012, eqs. 2 and 3; Yoon & Kweon 2005).
//!
//! `w(p, q) = exp(-(|I(p) - I(q)|^2 / gamma_color + |p - q|^2 / gamma_space))`. The weight of a pixel is that in the left image times
//! that in the right one, each a byte made of a factor of brightness and one of distance. Each image clamps its own coordinates.

use super::LocalSettings;
use super::offsets::clamped;
use stereopsis_base::image::Image;

/// Tables of both factors of a weight, 0 to 255. All engines take them from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightTables {
    /// Weight of each difference of brightness.
    pub color: [u8; 256],
    /// Weight of each offset `[|dy| * (reach + 1) + |dx|]`.
    pub space: Vec<u8>,
    /// Distance from the centre to the farthest offset along an axis, px.
    pub reach: usize,
}

impl WeightTables {
    /// Computes the tables.
    pub fn new(settings: &LocalSettings) -> Self {
        let weight = |square: usize, gamma: u32| (255.0 * (-(square as f64) / f64::from(gamma)).exp()).round() as u8;
        let reach = settings.reach();
        let place = |i: usize| (i / (reach + 1), i % (reach + 1));
        let space =
            (0..(reach + 1) * (reach + 1)).map(place).map(|(dy, dx)| weight(dx * dx + dy * dy, settings.gamma_space));
        Self {
            color: std::array::from_fn(|step| weight(step * step, settings.gamma_color)),
            space: space.collect(),
            reach,
        }
    }

    /// Returns the weight in one image of a pixel at an offset whose brightness differs by `step`.
    pub fn weight(&self, step: u8, (dx, dy): (isize, isize)) -> u32 {
        let space = self.space[dy.unsigned_abs() * (self.reach + 1) + dx.unsigned_abs()];
        (u32::from(self.color[usize::from(step)]) * u32::from(space)) >> 8
    }
}

/// Weights of all pixels.
pub enum Weights<'a> {
    /// All are 1.
    Ones,
    /// Weights by similarity and distance.
    Adaptive {
        /// Tables of both factors.
        tables: Box<WeightTables>,
        /// Left image.
        left: &'a Image<u8>,
        /// Right image.
        right: &'a Image<u8>,
    },
}

impl<'a> Weights<'a> {
    /// Prepares the weights of an aggregation.
    pub fn new(left: &'a Image<u8>, right: &'a Image<u8>, settings: &LocalSettings) -> Self {
        if settings.aggregation.has_weights() {
            Self::Adaptive { tables: Box::new(WeightTables::new(settings)), left, right }
        } else {
            Self::Ones
        }
    }

    /// Returns the weight of the pixel at an offset from left `(x, y)` and its partner `(partner, y)`; that of the centre is never 0.
    pub fn of(&self, (x, partner, y): (usize, usize, usize), offset: (isize, isize)) -> u32 {
        match self {
            Self::Ones => 1,
            Self::Adaptive { tables, left, right } => {
                let weight = |picture: &Image<u8>, x: usize| {
                    let (xq, yq) = clamped((x, y), offset, picture.size());
                    tables.weight(picture.at(x, y).abs_diff(picture.at(xq, yq)), offset)
                };
                (weight(left, x) * weight(right, partner)) >> 8
            }
        }
    }
}
