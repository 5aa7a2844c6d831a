//! Path costs in 8 or 16 bits: the smaller they are, the more fit into a register.

/// An unsigned integer that holds path costs; sums stop at its largest value, which stands for "does not exist".
pub(super) trait Lane: Copy + Ord + Send + Sync {
    /// Costs nothing.
    const ZERO: Self;
    /// More than any path cost, or equal to the largest possible one: it never wins over a real one.
    const MAX: Self;
    /// A matching cost.
    fn from_cost(cost: u8) -> Self;
    /// A penalty that is known to fit.
    fn from_penalty(penalty: u32) -> Self;
    /// Sum, at most [`Lane::MAX`].
    fn plus(self, other: Self) -> Self;
    /// Difference; `other` is not larger.
    fn minus(self, other: Self) -> Self;
    /// For the sum over the paths.
    fn widen(self) -> u16;
}

macro_rules! lane {
    ($integer:ty) => {
        impl Lane for $integer {
            const ZERO: Self = 0;
            const MAX: Self = Self::MAX;
            #[inline(always)]
            fn from_cost(cost: u8) -> Self {
                cost.into()
            }
            #[inline(always)]
            fn from_penalty(penalty: u32) -> Self {
                penalty as Self
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.saturating_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn widen(self) -> u16 {
                self.into()
            }
        }
    };
}
lane!(u8);
lane!(u16);
