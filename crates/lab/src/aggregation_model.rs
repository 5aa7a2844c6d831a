//! How fast local aggregation can be where memory bounds it: the model of Fang et al. 2012, section IV.
//!
//! A kernel that sums a window plainly asks for every cost of it; one that shares them among the pixels of a work group asks
//! for each once. What a machine moves in a second, divided by that, is the most pairs a second; the share of it that is
//! reached, the usage, is measured at some radii and taken for the others. The equations are the paper's and count what its
//! kernels ask for, so the usage of kernels that ask for less, such as running sums, may exceed 1.

/// Which of the paper's kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kernel {
    /// Constant window of this radius.
    Window {
        /// Pixels from its centre to its edge.
        radius: u32,
    },
    /// Adaptive weights in a window of this radius.
    AdaptiveWeight {
        /// Pixels from its centre to its edge.
        radius: u32,
    },
    /// Cross with sums along rows and columns.
    Cross {
        /// How high the regions are on average, px.
        mean_height_px: f64,
    },
}

/// A volume of costs, and the work groups that aggregate it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Workload {
    /// Columns.
    pub(super) width: usize,
    /// Rows.
    pub(super) height: usize,
    /// Candidates of a pixel.
    pub(super) disparities: usize,
    /// Bytes of a cost.
    pub(super) value_bytes: usize,
    /// Columns and rows of a work group.
    pub(super) group: (usize, usize),
}

impl Workload {
    /// With the paper's costs of four bytes and its work groups of 16 x 16.
    pub(super) const fn of_paper(width: usize, height: usize, disparities: usize) -> Self {
        Self { width, height, disparities, value_bytes: 4, group: (16, 16) }
    }

    /// Shared data ratio, eq. 5: what a work group asks for if its pixels share it, over what they ask for alone.
    pub(super) fn shared_ratio(&self, radius: u32) -> f64 {
        self.ratio_with(radius, 0.0)
    }

    /// SR', eq. 8: the same where a work group asks for `unshared` values as well that nobody shares, `M_u`.
    fn ratio_with(&self, radius: u32, unshared: f64) -> f64 {
        let (halo, side) = (2.0 * f64::from(radius), 2.0 * f64::from(radius) + 1.0);
        let (columns, rows) = (self.group.0 as f64, self.group.1 as f64);
        (unshared + (columns + halo) * (rows + halo)) / (unshared + columns * rows * side * side)
    }

    /// M, eq. 7: bytes that a kernel asks for without sharing.
    pub(super) fn bytes(&self, kernel: Kernel) -> f64 {
        let volume = (self.width * self.height * self.disparities * self.value_bytes) as f64;
        let window = |radius: u32| (2.0 * f64::from(radius) + 1.0).powi(2);
        volume
            * match kernel {
                Kernel::Window { radius } => window(radius),
                Kernel::AdaptiveWeight { radius } => 3.0 * window(radius),
                Kernel::Cross { mean_height_px } => 2.0 * mean_height_px,
            }
    }

    /// M_l, eq. 9: bytes that it asks for with sharing. Of adaptive weights the costs are shared and both weights of each are
    /// not; nothing of a cross is, of which the paper does not know the ratio.
    pub(super) fn shared_bytes(&self, kernel: Kernel) -> f64 {
        let ratio = match kernel {
            Kernel::Window { radius } => self.shared_ratio(radius),
            Kernel::AdaptiveWeight { radius } => {
                let side = 2.0 * f64::from(radius) + 1.0;
                self.ratio_with(radius, 2.0 * (self.group.0 * self.group.1) as f64 * side * side)
            }
            Kernel::Cross { .. } => 1.0,
        };
        self.bytes(kernel) * ratio
    }

    /// Most pairs a second without sharing and with it, eq. 10, on a machine that moves so many bytes a second.
    pub(super) fn ideal_rates_hz(&self, kernel: Kernel, bytes_per_s: f64) -> [f64; 2] {
        [bytes_per_s / self.bytes(kernel), bytes_per_s / self.shared_bytes(kernel)]
    }
}

/// C*, eq. 11: which share of the ideal rate a machine reaches, measured at some sides of windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    /// Side and usage, by side.
    measured: Vec<(f64, f64)>,
}

impl Usage {
    /// Takes what was measured for windows of this side, px, or regions of this height.
    pub(super) fn calibrate(&mut self, side_px: f64, rate_hz: f64, ideal_rate_hz: f64) {
        let at = self.measured.partition_point(|&(side, _)| side < side_px);
        self.measured.insert(at, (side_px, rate_hz / ideal_rate_hz));
    }

    /// For another side: a power of it through the two nearest that were measured. `None` where nothing was.
    pub(super) fn at(&self, side_px: f64) -> Option<f64> {
        let last = self.measured.len().checked_sub(1)?;
        let upper = self.measured.partition_point(|&(side, _)| side < side_px).clamp(1.min(last), last);
        let ((x0, y0), (x1, y1)) = (self.measured[upper.saturating_sub(1)], self.measured[upper]);
        if x1 - x0 < 1e-9 {
            return Some(y1);
        }
        let along = (side_px / x0).ln() / (x1 / x0).ln();
        Some(y0 * (y1 / y0).powf(along))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::fang2012::tables::{QUADRO_BYTES_PER_S, TABLE_3, TABLE_3_CROSS};

    #[test]
    fn table_iii_comes_out_to_the_last_digit() {
        let tsukuba = Workload::of_paper(384, 288, 16);
        let rates = |kernel| tsukuba.ideal_rates_hz(kernel, QUADRO_BYTES_PER_S).map(|rate| format!("{rate:.2}"));
        for (radius, expected) in TABLE_3 {
            let [window, weights] = [Kernel::Window { radius }, Kernel::AdaptiveWeight { radius }].map(rates);
            assert_eq!([window, weights].concat(), expected.map(|rate| format!("{rate:.2}")), "radius {radius}");
        }
        assert_eq!(
            rates(Kernel::Cross { mean_height_px: 17.0 }),
            [format!("{TABLE_3_CROSS:.2}"), format!("{TABLE_3_CROSS:.2}")]
        );
    }

    #[test]
    fn pixels_share_what_their_windows_have_in_common() {
        // Fig. 8: two pixels side by side, 3 x 4 costs instead of twice 3 x 3
        let two = Workload { group: (2, 1), ..Workload::of_paper(4, 4, 1) };
        assert!((two.shared_ratio(1) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn usage_goes_through_what_was_measured_as_a_power_of_the_side() {
        let mut usage = Usage::default();
        assert_eq!(usage.at(3.0), None);
        usage.calibrate(9.0, 81.0, 100.0);
        assert_eq!((usage.at(3.0), usage.at(33.0)), (Some(0.81), Some(0.81)), "one is all one knows");
        usage.calibrate(3.0, 9.0, 100.0);
        for (side, expected) in [(3.0, 0.09), (5.0, 0.25), (9.0, 0.81), (33.0, 10.89), (1.0, 0.01)] {
            assert!((usage.at(side).unwrap() - expected).abs() < 1e-9, "{side}: {:?}", usage.at(side));
        }
        usage.calibrate(33.0, 81.0, 100.0);
        assert!((usage.at(20.0).unwrap() - 0.81).abs() < 1e-9, "between the two nearest");
    }
}
