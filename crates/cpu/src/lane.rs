//! Integer types of path costs and of the sums that volumes store: 8 or 16 bits each. The narrower they are, the more fit into a
//! register; the widths must not change a bit of the result.

use super::memory::Streams;
use super::vector::Vector;
use super::winner::TotalForm;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Integer type of path costs. Its largest value marks a missing candidate.
pub(super) trait Lane: SimdIntElement + Ord + Into<u32> + Default + bytemuck::Pod + Send + Sync {
    type V<S: Simd>: SimdInt<S, Element = Self>;
    const NONE: Self;
    fn from_u32(value: u32) -> Self;
    /// Returns the last lane of `low`, then all but the last lane of `high`.
    fn shifted_up<S: Simd>(low: Self::V<S>, high: Self::V<S>) -> Self::V<S>;
    fn least<S: Vector>(simd: S, paths: Self::V<S>) -> Self::V<S>;
    /// Stores a register of costs in `out`, widened if need be.
    fn store_costs<S: Simd>(costs: S::u8s, out: &mut [Self]);
}

impl Lane for u8 {
    type V<S: Simd> = S::u8s;
    const NONE: Self = Self::MAX;
    #[inline(always)]
    fn from_u32(value: u32) -> Self {
        value as Self
    }
    #[inline(always)]
    fn shifted_up<S: Simd>(low: Self::V<S>, high: Self::V<S>) -> Self::V<S> {
        match <S::u8s as SimdBase<S>>::LEN {
            16 => low.slide::<15>(high),
            32 => low.slide::<31>(high),
            _ => low.slide::<63>(high),
        }
    }
    #[inline(always)]
    fn least<S: Vector>(simd: S, paths: Self::V<S>) -> Self::V<S> {
        simd.least(paths)
    }
    #[inline(always)]
    fn store_costs<S: Simd>(costs: S::u8s, out: &mut [Self]) {
        costs.store_slice(out);
    }
}

impl Lane for u16 {
    type V<S: Simd> = S::u16s;
    const NONE: Self = Self::MAX;
    #[inline(always)]
    fn from_u32(value: u32) -> Self {
        value as Self
    }
    #[inline(always)]
    fn shifted_up<S: Simd>(low: Self::V<S>, high: Self::V<S>) -> Self::V<S> {
        match <S::u16s as SimdBase<S>>::LEN {
            8 => low.slide::<7>(high),
            16 => low.slide::<15>(high),
            _ => low.slide::<31>(high),
        }
    }
    #[inline(always)]
    fn least<S: Vector>(simd: S, paths: Self::V<S>) -> Self::V<S> {
        S::u16s::splat(simd, paths.reduce_min())
    }
    #[inline(always)]
    fn store_costs<S: Simd>(costs: S::u8s, out: &mut [Self]) {
        let (low, high) = costs.widen();
        let (first, second) = out.split_at_mut(<S::u16s as SimdBase<S>>::LEN);
        low.store_slice(first);
        high.store_slice(second);
    }
}

/// Rule by which sums become totals.
#[derive(Clone, Copy)]
pub(super) struct TotalRule {
    pub(super) form: TotalForm,
    /// Whether some costs may be [`Lane::NONE`].
    pub(super) some_missing: bool,
    pub(super) paths: u16,
}

impl TotalRule {
    /// Computes `sum + paths * cost` in the form of totals, for pixel `t`; `missing` is the cost of a missing candidate.
    #[inline(always)]
    fn total<S: Simd>(self, simd: S, t: usize, sum: S::u16s, cost: S::u16s, missing: u16) -> S::u16s {
        let Self { form, some_missing, paths } = self;
        let total = (sum << form.bits) + (cost * (paths << form.bits) + form.number(t));
        if some_missing { cost.simd_eq(missing).select(S::u16s::splat(simd, form.none), total) } else { total }
    }

    /// Whether costs and pixel numbers are added as bytes.
    #[inline(always)]
    fn adds_bytes(self) -> bool {
        self.paths << self.form.bits == 1 << u8::BITS && !self.some_missing
    }

    /// Computes totals from sums of 16 bits and costs of a byte.
    #[inline(always)]
    fn total_of_bytes<S: Simd>(self, simd: S, t: usize, (low, high): (S::u16s, S::u16s), cost: S::u8s, to: &mut [u16]) {
        let (first, second) = to.split_at_mut(<S::u16s as SimdBase<S>>::LEN);
        let (cost_low, cost_high) = cost.widen();
        self.total::<S>(simd, t, low, cost_low, u8::NONE.into()).store_slice(first);
        self.total::<S>(simd, t, high, cost_high, u8::NONE.into()).store_slice(second);
    }
}

/// Integer type of the sums that a volume stores: of the aggregation increments `L - C` over directions, at most P2 each.
pub(super) trait Increment<L: Lane>: SimdIntElement + Default + bytemuck::Pod + Send + Sync {
    type Sums<S: Simd>: Copy;
    fn zero<S: Simd>(simd: S) -> Self::Sums<S>;
    fn plus<S: Simd>(sums: Self::Sums<S>, increment: L::V<S>) -> Self::Sums<S>;
    fn both<S: Simd>(a: Self::Sums<S>, b: Self::Sums<S>) -> Self::Sums<S>;
    fn load<S: Simd>(simd: S, from: &[Self]) -> Self::Sums<S>;
    fn store<S: Simd>(sums: Self::Sums<S>, to: &mut [Self]);
    /// Writes to a volume past the caches, because the values are read again only much later.
    fn stream<S: Simd>(sums: Self::Sums<S>, to: &mut [Self], streams: &Streams);
    /// Streams the sums where `streams` is given, else stores them.
    #[inline(always)]
    fn put<S: Simd>(sums: Self::Sums<S>, to: &mut [Self], streams: Option<&Streams>) {
        match streams {
            Some(streams) => Self::stream::<S>(sums, to, streams),
            None => Self::store::<S>(sums, to),
        }
    }
    /// Computes the totals of pixel `t` of a block from two sums and the costs.
    fn total<S: Vector>(
        simd: S,
        rule: TotalRule,
        t: usize,
        sums: (Self::Sums<S>, Self::Sums<S>),
        cost: L::V<S>,
        to: &mut [u16],
    );
}

/// Implements [`Increment`] for sums as wide as the path costs.
macro_rules! sums_of_one_register {
    ($vector:ident) => {
        type Sums<S: Simd> = S::$vector;
        #[inline(always)]
        fn zero<S: Simd>(simd: S) -> Self::Sums<S> {
            S::$vector::splat(simd, 0)
        }
        #[inline(always)]
        fn plus<S: Simd>(sums: Self::Sums<S>, increment: S::$vector) -> Self::Sums<S> {
            sums + increment
        }
        #[inline(always)]
        fn both<S: Simd>(a: Self::Sums<S>, b: Self::Sums<S>) -> Self::Sums<S> {
            a + b
        }
        #[inline(always)]
        fn load<S: Simd>(simd: S, from: &[Self]) -> Self::Sums<S> {
            S::$vector::from_slice(simd, from)
        }
        #[inline(always)]
        fn store<S: Simd>(sums: Self::Sums<S>, to: &mut [Self]) {
            sums.store_slice(to);
        }
        #[inline(always)]
        fn stream<S: Simd>(sums: Self::Sums<S>, to: &mut [Self], streams: &Streams) {
            streams.store(sums, to);
        }
    };
}

impl Increment<u8> for u8 {
    sums_of_one_register!(u8s);
    #[inline(always)]
    fn total<S: Vector>(
        simd: S,
        rule: TotalRule,
        t: usize,
        (a, b): (Self::Sums<S>, Self::Sums<S>),
        cost: S::u8s,
        to: &mut [u16],
    ) {
        if rule.adds_bytes() {
            let number = S::u8s::splat(simd, rule.form.number(t) as u8);
            let (low, high) = simd.combine_bytes((a, b), 1 << rule.form.bits, (number, cost));
            let (first, second) = to.split_at_mut(<S::u16s as SimdBase<S>>::LEN);
            low.store_slice(first);
            high.store_slice(second);
        } else {
            rule.total_of_bytes::<S>(simd, t, a.widening_add(b), cost, to);
        }
    }
}

impl Increment<u8> for u16 {
    type Sums<S: Simd> = (S::u16s, S::u16s);
    #[inline(always)]
    fn zero<S: Simd>(simd: S) -> Self::Sums<S> {
        (S::u16s::splat(simd, 0), S::u16s::splat(simd, 0))
    }
    #[inline(always)]
    fn plus<S: Simd>((low, high): Self::Sums<S>, increment: S::u8s) -> Self::Sums<S> {
        let (more_low, more_high) = increment.widen();
        (low + more_low, high + more_high)
    }
    #[inline(always)]
    fn both<S: Simd>(a: Self::Sums<S>, b: Self::Sums<S>) -> Self::Sums<S> {
        (a.0 + b.0, a.1 + b.1)
    }
    #[inline(always)]
    fn load<S: Simd>(simd: S, from: &[Self]) -> Self::Sums<S> {
        let (first, second) = from.split_at(<S::u16s as SimdBase<S>>::LEN);
        (S::u16s::from_slice(simd, first), S::u16s::from_slice(simd, second))
    }
    #[inline(always)]
    fn store<S: Simd>((low, high): Self::Sums<S>, to: &mut [Self]) {
        let (first, second) = to.split_at_mut(<S::u16s as SimdBase<S>>::LEN);
        low.store_slice(first);
        high.store_slice(second);
    }
    #[inline(always)]
    fn stream<S: Simd>((low, high): Self::Sums<S>, to: &mut [Self], streams: &Streams) {
        let (first, second) = to.split_at_mut(<S::u16s as SimdBase<S>>::LEN);
        streams.store(low, first);
        streams.store(high, second);
    }
    #[inline(always)]
    fn total<S: Vector>(
        simd: S,
        rule: TotalRule,
        t: usize,
        (a, b): (Self::Sums<S>, Self::Sums<S>),
        cost: S::u8s,
        to: &mut [u16],
    ) {
        rule.total_of_bytes::<S>(simd, t, (a.0 + b.0, a.1 + b.1), cost, to);
    }
}

impl Increment<u16> for u16 {
    sums_of_one_register!(u16s);
    #[inline(always)]
    fn total<S: Vector>(
        simd: S,
        rule: TotalRule,
        t: usize,
        (a, b): (Self::Sums<S>, Self::Sums<S>),
        cost: S::u16s,
        to: &mut [u16],
    ) {
        rule.total::<S>(simd, t, a + b, cost, Self::NONE).store_slice(to);
    }
}
