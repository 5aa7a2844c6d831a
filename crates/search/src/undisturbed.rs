//! Time of a pair without the load of other programs, which must not affect the choice of a setting.

use std::time::Duration;
use stereopsis_base::process;

/// Wall time with the processor time of this process and the idle time of all cores, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    wall: f64,
    used: f64,
    idle: f64,
}

/// Correction of times of work on a number of threads for the load of other programs.
#[derive(Debug)]
pub(super) struct LoadCorrection {
    threads: f64,
    /// Exponentially decaying sum of recent work.
    lately: Load,
}

/// Smallest work at which the load of others is measurable, s, since idle time has a resolution of 0.01 s.
const MIN_WORK_S: f64 = 0.2;
/// Work after which earlier work counts a third, s.
const DECAY_WORK_S: f64 = 0.3;
/// Share of the processor below which other programs cannot be distinguished from system work for this process.
const MIN_OTHER_SHARE: f64 = 0.15;

impl LoadCorrection {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads: threads as f64, lately: Load::default() }
    }

    /// Executes work with the wall time `wall` and measures its load, where the system reports it.
    pub(super) fn watch<T>(work: impl FnOnce() -> T, wall: impl Fn(&T) -> Option<Duration>) -> (T, Option<Load>) {
        let before = process::cpu_time().zip(process::idle_time());
        let result = work();
        let load = before.zip(process::cpu_time().zip(process::idle_time())).zip(wall(&result));
        let load = load.map(|((before, after), wall)| Load {
            wall: wall.as_secs_f64(),
            used: after.0.saturating_sub(before.0).as_secs_f64(),
            idle: after.1.saturating_sub(before.1).as_secs_f64(),
        });
        (result, load)
    }

    /// Returns the time of work with this load in s: its wall time, reduced by the load of others to no less than an even share of threads.
    pub(super) fn time_s(&mut self, load: Load) -> f64 {
        let keep = (-load.wall / DECAY_WORK_S).exp();
        let add = |old: f64, new: f64| keep * old + new;
        self.lately = Load {
            wall: add(self.lately.wall, load.wall),
            used: add(self.lately.used, load.used),
            idle: add(self.lately.idle, load.idle),
        };
        let Load { wall, used, idle } = self.lately;
        // neither used by the threads nor idle
        let lost = (self.threads * wall - used - idle).max(0.0);
        let share = lost / (used + lost).max(f64::MIN_POSITIVE);
        if wall < MIN_WORK_S || share < MIN_OTHER_SHARE {
            return load.wall;
        }
        (load.wall * (1.0 - share)).max(load.used / self.threads).min(load.wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the times in s of runs that use 160 ms on two threads, each with its wall and idle time in s.
    fn times(runs: impl IntoIterator<Item = (f64, f64)>) -> Vec<f64> {
        let mut undisturbed = LoadCorrection::new(2);
        runs.into_iter().map(|(wall, idle)| undisturbed.time_s(Load { wall, used: 0.16, idle })).collect()
    }

    #[test]
    fn idle_machine_keeps_its_wall_time() {
        // one run with a serial part, and one whose idle time has coarse steps
        assert_eq!(times([(0.12, 0.08); 6]), [0.12; 6]);
        assert_eq!(times([(0.1, 0.04), (0.1, 0.03), (0.1, 0.05), (0.1, 0.04)]), [0.1; 4]);
    }

    #[test]
    fn load_of_other_programs_is_subtracted() {
        // two other programs of equal priority on both cores, then three more
        for (wall, slowdown) in [(0.16, 2.0), (0.4, 5.0)] {
            let found = times([(wall, 0.0); 8]);
            assert!(found[2..].iter().all(|time| (time - wall / slowdown).abs() < 1e-9), "{found:?}");
        }
        // a serial part takes longer than an even share
        let found = times([(0.24, 0.08); 8]);
        assert!(found[2..].iter().all(|time| *time > 0.08 && *time < 0.11), "{found:?}");
    }

    #[test]
    fn ended_load_is_forgotten_and_times_have_a_lower_bound() {
        let found = times([[(0.4, 0.0); 4], [(0.1, 0.04); 4], [(0.1, 0.04); 4]].concat());
        assert!(found[4..].iter().all(|time| (0.08..=0.1).contains(time)), "{found:?}");
        assert!((found[11] - 0.1).abs() < 1e-12, "{found:?}");
    }
}
