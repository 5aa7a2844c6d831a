//! Time of a pair as if nothing else computed: other programs do not decide which setting is quick enough.

use crate::process;
use std::time::Duration;

/// Wall time with the processor time of this process and the idle time of all cores, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    wall: f64,
    used: f64,
    idle: f64,
}

/// Times of work on so many threads, without what other programs took of their cores.
#[derive(Debug)]
pub(super) struct Undisturbed {
    threads: f64,
    /// The work of the last moments; the older, the less it counts.
    lately: Load,
}

/// From so much work on, s, it is known what others take: idle time comes in hundredths of a second.
const KNOWN_FROM_S: f64 = 0.2;
/// After so many seconds of further work, work counts a third.
const FORGOTTEN_AFTER_S: f64 = 0.3;
/// Others that take a smaller share of the processor are not told from a system that works for us.
const QUIET: f64 = 0.15;

impl Undisturbed {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads: threads as f64, lately: Load::default() }
    }

    /// Does some work whose wall time `wall` tells, and takes its load; `None` where the system does not report it.
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

    /// The time of work with this load, s: its wall time while nothing else computes, and otherwise what would be left of it. It is never
    /// less than the threads need that share the work evenly.
    pub(super) fn time_s(&mut self, load: Load) -> f64 {
        let keep = (-load.wall / FORGOTTEN_AFTER_S).exp();
        let add = |old: f64, new: f64| keep * old + new;
        self.lately = Load {
            wall: add(self.lately.wall, load.wall),
            used: add(self.lately.used, load.used),
            idle: add(self.lately.idle, load.idle),
        };
        let Load { wall, used, idle } = self.lately;
        // what the threads neither used nor left idle
        let lost = (self.threads * wall - used - idle).max(0.0);
        let share = lost / (used + lost).max(f64::MIN_POSITIVE);
        if wall < KNOWN_FROM_S || share < QUIET {
            return load.wall;
        }
        (load.wall * (1.0 - share)).max(load.used / self.threads).min(load.wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of runs that use 160 ms on two threads, each with its wall and idle time, s.
    fn times(runs: impl IntoIterator<Item = (f64, f64)>) -> Vec<f64> {
        let mut undisturbed = Undisturbed::new(2);
        runs.into_iter().map(|(wall, idle)| undisturbed.time_s(Load { wall, used: 0.16, idle })).collect()
    }

    #[test]
    fn a_quiet_machine_keeps_its_wall_time_whatever_the_threads_leave_idle() {
        // one with a part that only one thread can do, and one whose idle time comes in coarse steps
        assert_eq!(times([(0.12, 0.08); 6]), [0.12; 6]);
        assert_eq!(times([(0.1, 0.04), (0.1, 0.03), (0.1, 0.05), (0.1, 0.04)]), [0.1; 4]);
    }

    #[test]
    fn what_others_take_is_taken_off() {
        // two other programs of the same priority on both cores; three more
        for (wall, slowdown) in [(0.16, 2.0), (0.4, 5.0)] {
            let found = times([(wall, 0.0); 8]);
            assert!(found[2..].iter().all(|time| (time - wall / slowdown).abs() < 1e-9), "{found:?}");
        }
        // what one thread alone can do takes longer than an even share
        let found = times([(0.24, 0.08); 8]);
        assert!(found[2..].iter().all(|time| *time > 0.08 && *time < 0.11), "{found:?}");
    }

    #[test]
    fn a_load_that_has_ended_is_forgotten_and_no_time_is_less_than_an_even_share() {
        let found = times([[(0.4, 0.0); 4], [(0.1, 0.04); 4], [(0.1, 0.04); 4]].concat());
        assert!(found[4..].iter().all(|time| (0.08..=0.1).contains(time)), "{found:?}");
        assert!((found[11] - 0.1).abs() < 1e-12, "{found:?}");
    }
}
