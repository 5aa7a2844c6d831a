//! Speed limit of memory-bound local aggregation: the model of Fang et al. 2012, section IV.
//!
//! A kernel without data sharing loads every cost of each window; one that shares costs in a work-group loads each once. Memory
//! bandwidth over these bytes is the ideal rate. The usage, measured over ideal rate, is interpolated between measured radii. It may
//! exceed 1 for kernels that load less than the paper's, such as running sums.

/// Kernel of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kernel {
    /// Constant window.
    Window {
        /// Pixels from the centre of the window to its edge.
        radius: u32,
    },
    /// Window with adaptive weights.
    AdaptiveWeight {
        /// Pixels from the centre of the window to its edge.
        radius: u32,
    },
    /// Cross with sums along rows and columns.
    Cross {
        /// Mean height of the regions, px.
        mean_height_px: f64,
    },
}

/// Cost volume and the work-groups that aggregate it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Workload {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) disparities: usize,
    pub(super) value_bytes: usize,
    /// Columns and rows of a work-group.
    pub(super) group: (usize, usize),
}

impl Workload {
    pub(super) const fn of_paper(width: usize, height: usize, disparities: usize) -> Self {
        Self { width, height, disparities, value_bytes: 4, group: (16, 16) }
    }

    /// Shared data ratio (eq. 5): loads of a work-group with sharing over those without.
    pub(super) fn shared_ratio(&self, radius: u32) -> f64 {
        self.ratio_with(radius, 0.0)
    }

    /// SR' (eq. 8): ratio of shared data including `M_u` unshared loads per work-group.
    fn ratio_with(&self, radius: u32, unshared: f64) -> f64 {
        let (halo, side) = (2.0 * f64::from(radius), 2.0 * f64::from(radius) + 1.0);
        let (columns, rows) = (self.group.0 as f64, self.group.1 as f64);
        (unshared + (columns + halo) * (rows + halo)) / (unshared + columns * rows * side * side)
    }

    /// M (eq. 7): bytes loaded without sharing.
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

    /// M_l (eq. 9): bytes loaded with sharing, of adaptive weights without their two weights each; a cross shares nothing (no ratio given).
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

    /// Ideal rates without and with sharing (eq. 10), pairs/s, for this memory bandwidth.
    pub(super) fn ideal_rates_hz(&self, kernel: Kernel, bytes_per_s: f64) -> [f64; 2] {
        [bytes_per_s / self.bytes(kernel), bytes_per_s / self.shared_bytes(kernel)]
    }
}

/// C* (eq. 11): measured over ideal rate at some window sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    /// Window sides (px) and usages, sorted by side.
    measured: Vec<(f64, f64)>,
}

impl Usage {
    /// Adds a rate measured at a window side or region height, px.
    pub(super) fn calibrate(&mut self, side_px: f64, rate_hz: f64, ideal_rate_hz: f64) {
        let at = self.measured.partition_point(|&(side, _)| side < side_px);
        self.measured.insert(at, (side_px, rate_hz / ideal_rate_hz));
    }

    /// Interpolates the usage at another side by a power law through the two nearest measured sides.
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
        // Fig. 8: two adjacent pixels load 3 x 4 costs instead of twice 3 x 3
        let two = Workload { group: (2, 1), ..Workload::of_paper(4, 4, 1) };
        assert!((two.shared_ratio(1) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn usage_follows_a_power_law_through_the_measurements() {
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
