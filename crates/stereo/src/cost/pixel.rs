//! Costs of single pixels, from which the cost volume and the explanation of a pixel are made.

use super::clamped::partner;
use super::comparison::{Channel, Comparison, Scalar, Shape};
use super::kind::CostSettings;
use super::mutual_information::Table;
use super::tables::Tables;
use super::{absolute, census, gradient_census, rank, sad};
use stereopsis_base::image::{Image, Luma};

/// Codes of the pixels of both images, left one first, with the tables of their comparison.
pub enum PixelCosts {
    /// Census strings.
    Hamming([Image<u64>; 2]),
    /// One byte of each pixel.
    Difference([Image<u8>; 2]),
    /// Brightness, compared over a square window.
    WindowedDifference {
        /// Both images.
        pictures: [Image<u8>; 2],
        /// Side of the window, px; odd.
        window: u32,
    },
    /// Census strings, then brightness.
    BrightnessCensus([Image<u64>; 2], [Image<u8>; 2], Box<Tables>),
    /// Census strings, then gradients.
    GradientCensus([Image<u64>; 2], [Image<[u8; 2]>; 2], Box<Tables>),
    /// Brightness, and the learned table.
    Learned([Image<u8>; 2], Table),
    /// No codes: the learned table is missing, all costs are 0.
    Zero,
}

impl PixelCosts {
    /// Computes the codes of a pair. Without its table a learned cost is 0 everywhere.
    pub fn new(left: &Luma, right: &Luma, settings: &CostSettings, information: Option<&Table>) -> Self {
        let bytes = || [left, right].map(Luma::to_u8);
        let census = |shape: Shape| [left, right].map(|luma| census::transform(&luma.to_u16(), shape));
        match settings.kind.comparison() {
            Comparison::Hamming(shape) => Self::Hamming(census(shape)),
            Comparison::Difference(Scalar::Brightness) => Self::Difference(bytes()),
            Comparison::Difference(Scalar::Rank) => Self::Difference(
                [left, right].map(|luma| rank::transform(&luma.to_u16(), settings.rank_window as usize)),
            ),
            Comparison::WindowedDifference => {
                Self::WindowedDifference { pictures: bytes(), window: settings.sad_window }
            }
            Comparison::Tables { census: shape, channel, scale } => {
                let tables = Box::new(scale.tables());
                match channel {
                    Channel::Brightness => Self::BrightnessCensus(census(shape), bytes(), tables),
                    Channel::Gradients => {
                        let gradients = bytes().map(|picture| gradient_census::gradients(&picture));
                        Self::GradientCensus(census(shape), gradients, tables)
                    }
                }
            }
            Comparison::LearnedTable => information.map_or(Self::Zero, |table| Self::Learned(bytes(), table.clone())),
        }
    }

    /// Returns the cost of left pixel `(x, y)` at disparity `d` px, 0 to [`Comparison::largest`].
    pub fn at(&self, (x, y): (usize, usize), d: i32) -> u8 {
        match self {
            Self::Hamming([l, r]) => hamming(l.at(x, y), r.at(partner(x, d, l.width()), y)),
            Self::Difference([l, r]) => absolute::difference(l.at(x, y), r.at(partner(x, d, l.width()), y)),
            Self::WindowedDifference { pictures: [l, r], window } => {
                sad::mean(sad::sum_at((l, r), (x, y), d, *window), *window)
            }
            Self::BrightnessCensus([l, r], [ol, or], tables) => {
                let xr = partner(x, d, l.width());
                let difference = absolute::difference(ol.at(x, y), or.at(xr, y));
                tables.cost(difference, (l.at(x, y) ^ r.at(xr, y)).count_ones())
            }
            Self::GradientCensus([l, r], [gl, gr], tables) => {
                let xr = partner(x, d, l.width());
                let difference = gradient_census::difference(gl.at(x, y), gr.at(xr, y));
                tables.cost(difference, (l.at(x, y) ^ r.at(xr, y)).count_ones())
            }
            Self::Learned([l, r], table) => table.cost(l.at(x, y), r.at(partner(x, d, l.width()), y)),
            Self::Zero => 0,
        }
    }

    /// Computes the costs of left pixel `(x, y)` at the disparities from `first` px up, one for each element of `costs`.
    pub fn fill(&self, (x, y): (usize, usize), first: i32, costs: &mut [u8]) {
        match self {
            Self::Hamming([l, r]) => {
                let own = l.at(x, y);
                compare_row(r.row(y), x, first, costs, |other| hamming(own, other));
            }
            Self::Difference([l, r]) => {
                let own = l.at(x, y);
                compare_row(r.row(y), x, first, costs, |other| absolute::difference(own, other));
            }
            Self::WindowedDifference { pictures: [l, r], window } => {
                let reach = (window / 2) as isize;
                let (mut sums, mut differences) = (vec![0u32; costs.len()], vec![0; costs.len()]);
                for (dx, dy) in (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dx, dy))) {
                    let column = (x as isize + dx).clamp(0, l.width() as isize - 1) as usize;
                    let row = (y as isize + dy).clamp(0, l.height() as isize - 1) as usize;
                    let own = l.at(column, row);
                    compare_row(r.row(row), column, first, &mut differences, |other| absolute::difference(own, other));
                    sums.iter_mut().zip(&differences).for_each(|(sum, &difference)| *sum += u32::from(difference));
                }
                costs.iter_mut().zip(sums).for_each(|(cost, sum)| *cost = sad::mean(sum, *window));
            }
            _ => {
                for (d, cost) in (first..).zip(costs) {
                    *cost = self.at((x, y), d);
                }
            }
        }
    }
}

fn hamming(left: u64, right: u64) -> u8 {
    (left ^ right).count_ones() as u8
}

/// Compares the partners at the disparities from `first` px up. Inside the row they are neighbours in memory, so no clamp is needed.
fn compare_row<T: Copy>(right: &[T], x: usize, first: i32, costs: &mut [u8], cost: impl Fn(T) -> u8) {
    let width = right.len() as i64;
    let column = x as i64 - i64::from(first);
    let (beyond, rest) = costs.split_at_mut((column - (width - 1)).clamp(0, costs.len() as i64) as usize);
    let column = column - beyond.len() as i64;
    let (inside, before) = rest.split_at_mut((column + 1).clamp(0, rest.len() as i64) as usize);
    beyond.fill(cost(right[right.len() - 1]));
    before.fill(cost(right[0]));
    if !inside.is_empty() {
        let end = column as usize + 1;
        let partners = &right[end - inside.len()..end];
        for (slot, &other) in inside.iter_mut().zip(partners.iter().rev()) {
            *slot = cost(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_disparities_is_clamped_at_both_sides() {
        let picture = Image::from_fn(5, 1, |x, _| 10 * x as u8);
        let costs = PixelCosts::Difference([Image::filled(5, 1, 0), picture]);
        let run = |x, first| {
            let mut run = [0; 9];
            costs.fill((x, 0), first, &mut run);
            run
        };
        assert_eq!(run(2, -4), [40, 40, 40, 30, 20, 10, 0, 0, 0]);
        assert_eq!(run(0, 3), [0; 9]);
        assert_eq!(run(4, -20), [40; 9]);
        for (x, first) in [(0, -3), (3, 0), (4, -9)] {
            assert_eq!(run(x, first).map(usize::from), std::array::from_fn(|i| 10 * partner(x, first + i as i32, 5)));
        }
    }
}
