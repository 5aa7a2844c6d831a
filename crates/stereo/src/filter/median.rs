//! Median filter, 3 x 3 or 5 x 5 (Banz et al. 2011, section 2.4).

use super::Fill;
use super::description::{Filter, Function};
use crate::map::{DisparityMap, INVALID};
use stereopsis_base::image::Image;
use stereopsis_base::parameter::choices;

choices! {
    /// Size of the median filter.
    pub enum Median {
        /// No median.
        Off = "0",
        /// 3 x 3 pixels.
        Three = "3",
        /// 5 x 5 pixels.
        Five = "5",
    }
}

impl Median {
    /// Returns the distance from the centre to the window's edge, px; 0 for no median.
    pub const fn radius(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Three => 1,
            Self::Five => 2,
        }
    }
}

/// First median, of each map.
pub(super) const MEDIAN: Filter = Filter {
    size: |params| (params.median != Median::Off).then(|| params.median.radius() as u32),
    function: Function::Map(|map, params| *map = median(map, params.median)),
};

/// Second median, after the fill, the learned choice and the weighted median.
pub(super) const LAST_MEDIAN: Filter = Filter {
    size: |params| {
        (MEDIAN.size)(params).filter(|_| params.fill != Fill::None || params.choice || params.weighted_median)
    },
    ..MEDIAN
};

/// Computes the median of each window. An invalid centre stays invalid; neighbours that are invalid or outside count as the centre.
pub fn median(map: &DisparityMap, size: Median) -> DisparityMap {
    let r = size.radius() as isize;
    let values = Image::from_fn(map.values.width(), map.values.height(), |x, y| {
        let centre = map.values.at(x, y);
        if centre == INVALID {
            return INVALID;
        }
        let mut window = Vec::with_capacity(25);
        for dy in -r..=r {
            for dx in -r..=r {
                let neighbour = map.values.get(x as isize + dx, y as isize + dy);
                window.push(neighbour.filter(|&v| v != INVALID).unwrap_or(centre));
            }
        }
        window.sort_unstable();
        window[window.len() / 2]
    });
    DisparityMap { values, ..map.clone() }
}
