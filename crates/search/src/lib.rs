//! Settings of the matching tried on pairs: two parameters swept over a grid ([`Sweep`]), and a search for the preset within a limit of the
//! time, and with truth of several pairs for what suits them better ([`Search`]), which says why it passes a setting over ([`WhyNot`]).
//!
//! A [`Judge`] turns the disparity map of a pair into a loss: the error against truth, or the score without truth. Both a sweep and a
//! search have a thread of their own with an engine of their own, at a low priority, and end soon after they are dropped. Times are those of
//! the engine ([`crate::engine::Output::compute_time`]), measured with one pair in flight, without what other programs take of the processor.

use stereopsis_base::parameter::choices;
use stereopsis_base::{console, files, image, parameter, process};
use stereopsis_capture as capture;
use stereopsis_engine as engine;
use stereopsis_metrics as metrics;
use stereopsis_stereo as stereo;

mod axis;
mod compare;
mod journal;
mod judge;
mod meter;
mod moves;
mod optimum;
mod plan;
mod progress;
mod sample;
mod strategy;
mod sweep;
mod task;
mod tester;
mod trial;
mod undisturbed;
mod watcher;
mod why_not;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use axis::Axis;
pub use journal::{CHECKSUMS, Journal};
pub use judge::Judge;
pub use meter::{EngineMeter, Failure, Meter, SampleResult};
pub use optimum::Search;
pub use plan::{Budget, EarlierTrials, Limits, Plan};
pub use progress::SearchProgress;
pub use sample::Sample;
pub use strategy::find;
pub use sweep::{Cell, Sweep, SweepProgress, TriedCell};
pub use trial::{Run, Trial, key};
pub use watcher::Watcher;
pub use why_not::WhyNot;
