//! Levels of vector instructions: one is chosen when the engine is created, and all loops run on it.
//!
//! A loop is written once, generic over [`fearless_simd::Simd`] or as plain Rust that becomes SIMD, and `on_level!` compiles it for each
//! level. Everything in it must be inlined: a function that is not inlined is not compiled for the level. Iterator adapters and
//! `array::from_fn` have failed in this way, so hot loops are plain ones.

use fearless_simd::{Level, Simd};
use stereopsis_frame::engine::EngineError;

/// Environment variable that forces a level.
pub const VARIABLE: &str = "STEREOPSIS_SIMD";

/// Vector instructions, with the proof that this processor has them.
#[derive(Clone, Copy, Debug)]
pub enum SimdLevel {
    /// AVX-512 as of Ice Lake and Zen 4: 64 path costs at once.
    #[cfg(target_arch = "x86_64")]
    Avx512(fearless_simd::x86::Avx512),
    /// AVX2: 32 path costs at once.
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::x86::Avx2),
    /// SSE4.2, which every x86-64 processor since 2011 has: 16 path costs at once, and a look-up of bytes.
    #[cfg(target_arch = "x86_64")]
    Sse42(fearless_simd::x86::Sse4_2),
    /// Baseline of the platform: SSE2 or NEON, 16 path costs at once.
    Portable(Portable),
}

#[cfg(target_arch = "x86_64")]
type Portable = fearless_simd::x86::Sse2;
#[cfg(target_arch = "aarch64")]
type Portable = fearless_simd::aarch64::Neon;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Portable = fearless_simd::Fallback;

impl SimdLevel {
    /// Returns all levels that this processor has, the best first.
    pub fn all() -> Vec<Self> {
        let best = Level::new();
        #[cfg(target_arch = "x86_64")]
        let levels = [
            best.as_avx512().map(Self::Avx512),
            best.as_avx2().map(Self::Avx2),
            best.as_sse4_2().map(Self::Sse42),
            best.as_sse2().map(Self::Portable),
        ];
        #[cfg(target_arch = "aarch64")]
        let levels = [best.as_neon().map(Self::Portable)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let levels = [if let Level::Fallback(token) = best { Some(Self::Portable(token)) } else { None }];
        levels.into_iter().flatten().collect()
    }

    /// Returns the word that forces this level, its usual name, and the bytes of a register.
    fn properties(self) -> (&'static str, &'static str, usize) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => ("avx512", "AVX-512", 64),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => ("avx2", "AVX2", 32),
            #[cfg(target_arch = "x86_64")]
            Self::Sse42(_) => ("sse4.2", "SSE4.2", 16),
            Self::Portable(_) if cfg!(target_arch = "x86_64") => ("portable", "SSE2", 16),
            Self::Portable(_) if cfg!(target_arch = "aarch64") => ("portable", "NEON", 16),
            Self::Portable(_) => ("portable", "no SIMD", 16),
        }
    }

    /// Returns the word that forces this level.
    pub fn word(self) -> &'static str {
        self.properties().0
    }

    /// Returns the usual name of the level.
    pub fn name(self) -> &'static str {
        self.properties().1
    }

    pub(super) fn bytes(self) -> usize {
        self.properties().2
    }

    /// Returns the level set by [`VARIABLE`], or the best one.
    ///
    /// # Errors
    /// The level does not exist, or this processor does not have it.
    pub fn chosen() -> Result<Self, EngineError> {
        match std::env::var_os(VARIABLE) {
            None => Ok(Self::best()),
            Some(word) => Self::find(&word.to_string_lossy()),
        }
    }

    /// Returns the best level.
    pub fn best() -> Self {
        Self::all().swap_remove(0) // every platform has the portable level
    }

    /// Returns the level that `word` forces.
    ///
    /// # Errors
    /// The level does not exist, or this processor does not have it; the text lists those it has.
    pub fn find(word: &str) -> Result<Self, EngineError> {
        let all = Self::all();
        all.iter().find(|level| level.word() == word).copied().ok_or_else(|| {
            let words: Vec<_> = all.iter().map(|level| level.word()).collect();
            EngineError::Device(
                format!(
                    "{VARIABLE}={word}: this processor has {}; set it to one of these, or leave it out for the best",
                    words.join(", ")
                )
                .into(),
            )
        })
    }
}

/// Whether one instruction counts the bits of each byte.
#[inline(always)]
pub(super) fn counts_bits<S: Simd>(simd: S) -> bool {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(_) => true,
        #[cfg(target_arch = "aarch64")]
        Level::Neon(_) => true,
        _ => false,
    }
}

/// Whether one instruction looks up bytes in a table of 16: everywhere but with SSE2.
#[inline(always)]
pub(super) fn looks_up<S: Simd>(simd: S) -> bool {
    #[cfg(target_arch = "x86_64")]
    if matches!(simd.level(), Level::Sse2(_)) {
        return false;
    }
    !simd.level().is_fallback()
}

/// Whether a load of neighbouring values is faster than a shift of two registers: not on Arm, where the shift is one instruction.
#[inline(always)]
pub(super) fn prefers_loads() -> bool {
    cfg!(target_arch = "x86_64")
}

/// Compiles an expression for each level and runs the one for `$level`; functions in it have to be inlined always.
macro_rules! on_level {
    ($level:expr, $simd:pat => $op:expr) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            $crate::simd::SimdLevel::Avx512(token) => {
                let $simd = token;
                fearless_simd::Simd::vectorize(
                    token,
                    #[inline(always)]
                    || $op,
                )
            }
            #[cfg(target_arch = "x86_64")]
            $crate::simd::SimdLevel::Avx2(token) => {
                let $simd = token;
                fearless_simd::Simd::vectorize(
                    token,
                    #[inline(always)]
                    || $op,
                )
            }
            #[cfg(target_arch = "x86_64")]
            $crate::simd::SimdLevel::Sse42(token) => {
                let $simd = token;
                fearless_simd::Simd::vectorize(
                    token,
                    #[inline(always)]
                    || $op,
                )
            }
            $crate::simd::SimdLevel::Portable(token) => {
                let $simd = token;
                fearless_simd::Simd::vectorize(
                    token,
                    #[inline(always)]
                    || $op,
                )
            }
        }
    };
}
pub(super) use on_level;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_level_by_word_and_refuses_unknown_words() {
        for level in SimdLevel::all() {
            assert_eq!(SimdLevel::find(level.word()).unwrap().word(), level.word());
        }
        assert_eq!(SimdLevel::best().word(), SimdLevel::all()[0].word());
        let error = SimdLevel::find("mmx").unwrap_err().to_string();
        assert!(error.contains("STEREOPSIS_SIMD=mmx") && error.contains("portable"), "{error}");
    }
}
