//! The matcher cannot keep up: what cures it, and how fast each cure will be.

use super::Session;
use crate::capture::Scale;
use crate::live::Status;
use crate::stereo::{Preset, StereoParams};
use std::time::{Duration, Instant};

/// What makes matching faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cure {
    /// Half the width and height, and the search range with them.
    HalfSize,
    /// Half as many disparities: near things are lost.
    FewerDisparities,
    /// The preset `fast`.
    Fast,
}

/// How long it has to go on before it is said, and to be over before it is unsaid: nothing shall flicker.
const PERSISTENCE: Duration = Duration::from_secs(2);
/// So few disparities are not halved.
const FEW: u32 = 32;

/// Whether pairs are left out all the time because the matcher is slow.
#[derive(Default)]
pub(crate) struct Slowness {
    is_slow: bool,
    /// Since when the opposite has been seen.
    opposite_since: Option<Instant>,
}

impl Slowness {
    /// Takes in how it is now.
    pub(super) fn see(&mut self, is_behind: bool, now: Instant) {
        if is_behind == self.is_slow {
            self.opposite_since = None;
        } else if now - *self.opposite_since.get_or_insert(now) > PERSISTENCE {
            (self.is_slow, self.opposite_since) = (is_behind, None);
        }
    }

    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow
    }
}

/// Whether pairs are left out now because the matcher is slow.
pub(super) fn is_behind(status: &Status) -> bool {
    let lost_hz = status.captured_hz - status.computed_hz;
    let steady = status.computed > 20 && lost_hz > 0.1 * status.captured_hz && lost_hz >= 1.0;
    steady && !status.paused && !status.ended && status.dropped.late > 0
}

impl Cure {
    /// What a button says.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::HalfSize => "Half size",
            Self::FewerDisparities => "Half the disparities",
            Self::Fast => "Preset fast",
        }
    }

    /// Time of one pair with the cure over that without: 640x480 with 128 disparities by `bench --engine cpu`, on the safe side.
    const fn time_factor(self) -> f64 {
        match self {
            Self::HalfSize => 0.28,
            Self::FewerDisparities => 0.78,
            Self::Fast => 0.88,
        }
    }
}

impl Session {
    /// Time of a pair now that the matcher does nothing else, ms. Several may be on their way at a time, so that each takes longer.
    pub(crate) fn pair_ms(&self) -> f64 {
        1e3 / self.status.computed_hz.max(0.1)
    }

    /// What would help now, each with the pairs per second to expect, where that is known.
    pub(crate) fn cures(&self) -> Vec<(Cure, Option<f64>)> {
        let fits = |cure: &Cure| match cure {
            Cure::HalfSize => self.rig.choice.scale == Scale::One,
            Cure::FewerDisparities => self.params.num_disparities > FEW,
            Cure::Fast => self.preset != Preset::Fast,
        };
        let expected = |cure: Cure| {
            let by_factor = 1e3 / (self.pair_ms() * cure.time_factor()).max(0.1);
            let possible_hz = match (cure, self.preset) {
                // how much another preset takes is known once it has run
                (Cure::Fast, preset) if preset != Preset::Balanced => self.rate(Preset::Fast),
                _ => Some(by_factor),
            };
            (cure, possible_hz.map(|hz| hz.min(self.status.captured_hz)))
        };
        let all = [Cure::HalfSize, Cure::FewerDisparities, Cure::Fast];
        all.into_iter().filter(fits).map(expected).collect()
    }

    /// Does what a cure says.
    pub(crate) fn cure(&mut self, cure: Cure) {
        match cure {
            Cure::HalfSize => self.set_scale(Scale::Half),
            Cure::FewerDisparities => {
                let num_disparities = self.params.num_disparities / 2;
                self.set_params(StereoParams { num_disparities, ..self.params.clone() });
            }
            Cure::Fast => self.set_preset(Preset::Fast),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_changes_nothing_and_what_lasts_does() {
        let start = Instant::now();
        let mut slowness = Slowness::default();
        let mut see = |is_behind, ms| {
            slowness.see(is_behind, start + Duration::from_millis(ms));
            slowness.is_slow()
        };
        assert!(!see(true, 0) && !see(true, 1500));
        assert!(!see(false, 1600) && !see(true, 1700) && !see(true, 3600), "it begins anew");
        assert!(see(true, 3800));
        assert!(see(false, 4000) && see(true, 5900) && see(false, 6000) && see(false, 7900));
        assert!(!see(false, 8100));
    }
}
