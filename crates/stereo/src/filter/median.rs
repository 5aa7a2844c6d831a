//! Median filter, 3 x 3 or 5 x 5 (Banz et al. 2011, section 2.4).

use crate::map::{DisparityMap, INVALID};
use crate::params::words::Median;
use stereopsis_base::image::Image;

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
