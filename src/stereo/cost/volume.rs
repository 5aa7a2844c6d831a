//! The cost volume of a pair.

use super::census::{self, Shape};
use super::mutual_information::Table;
use super::{Channel, Comparison, Scalar, absolute, gradient_census, partner, rank, sad};
use crate::image::Luma;
use crate::stereo::Volume;
use crate::stereo::params::StereoParams;

/// Cost of every pixel and candidate, 0 to [`StereoParams::largest_cost`]. A learned cost needs its table; without one all
/// its costs are 0.
pub fn volume(left: &Luma, right: &Luma, params: &StereoParams, information: Option<&Table>) -> Volume<u8> {
    let (left8, right8) = (left.to_u8(), right.to_u8());
    let census = |shape: Shape| [left, right].map(|luma| census::transform(&luma.to_u16(), shape));
    match params.cost.comparison() {
        Comparison::Hamming(shape) => {
            let [l, r] = census(shape);
            compare(left.size(), params, |x, y, xr| (l.at(x, y) ^ r.at(xr, y)).count_ones() as u8)
        }
        Comparison::Difference(Scalar::Brightness) => {
            compare(left.size(), params, |x, y, xr| absolute::difference(left8.at(x, y), right8.at(xr, y)))
        }
        Comparison::Difference(Scalar::Rank) => {
            let [l, r] = [left, right].map(|luma| rank::transform(&luma.to_u16(), params.rank_window as usize));
            compare(left.size(), params, |x, y, xr| l.at(x, y).abs_diff(r.at(xr, y)))
        }
        Comparison::WindowedDifference => sad::mean_volume(&left8, &right8, params),
        Comparison::Tables { census: shape, channel, scale } => {
            let ([l, r], tables) = (census(shape), scale.tables());
            let [gl, gr] = [&left8, &right8].map(gradient_census::gradients);
            compare(left.size(), params, |x, y, xr| {
                let difference = match channel {
                    Channel::Brightness => absolute::difference(left8.at(x, y), right8.at(xr, y)),
                    Channel::Gradients => gradient_census::difference(gl.at(x, y), gr.at(xr, y)),
                };
                tables.cost(difference, (l.at(x, y) ^ r.at(xr, y)).count_ones())
            })
        }
        Comparison::LearnedTable => compare(left.size(), params, |x, y, xr| {
            information.map_or(0, |table| table.cost(left8.at(x, y), right8.at(xr, y)))
        }),
    }
}

/// A volume from a comparison of left `(x, y)` with right `(xr, y)`.
fn compare(size: (usize, usize), params: &StereoParams, cost: impl Fn(usize, usize, usize) -> u8) -> Volume<u8> {
    Volume::from_fn(size.0, size.1, params.num_disparities as usize, |x, y, i| {
        cost(x, y, partner(x, params.disparity(i), size.0))
    })
}
