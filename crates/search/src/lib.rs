//! Trials of matching settings on pairs: a sweep of two parameters over a grid ([`Sweep`]), and a [`Search`] for the best preset within a
//! time limit, with truth of several pairs also for changes of it. A rejected setting has a reason ([`RejectionReason`]).
//!
//! A [`Judge`] turns the disparity map of a pair into a loss: the error against truth, or the score without truth. A sweep and a search
//! each have a low-priority thread with an engine, and end soon after they are dropped. Times are the engine's
//! ([`stereopsis_frame::engine::Output::compute_time`]) with one pair in flight, corrected for the load of other programs.

mod axis;
mod compare;
mod error;
mod journal;
mod judge;
mod meter;
mod moves;
mod optimum;
mod plan;
mod progress;
mod sample;
mod steps;
mod strategy;
mod sweep;
mod tester;
mod trial;
mod undisturbed;
mod watcher;
mod why_not;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use axis::SearchAxis;
pub use error::JournalError;
pub use journal::{CHECKSUMS, Journal};
pub use judge::Judge;
pub use meter::{EngineMeter, Failure, Meter, SampleResult};
pub use optimum::Search;
pub use plan::{Budget, EarlierTrials, Plan, SearchLimits};
pub use progress::SearchProgress;
pub use sample::Sample;
pub use strategy::find;
pub use sweep::{Cell, InvalidCell, Sweep, SweepProgress, TriedCell};
pub use trial::{Run, Trial, key};
pub use watcher::Watcher;
pub use why_not::RejectionReason;
