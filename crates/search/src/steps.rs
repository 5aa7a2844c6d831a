//! Steps of a task with a meter.

use super::meter::Failure;
use std::ops::ControlFlow;
use stereopsis_base::threads::{Progress, Running};

/// Returns the steps of a task: the first one opens the meter with the work, and each goes on with it. A failure ends the task; all but a
/// stop are errors of its progress.
pub(super) fn steps<P: Progress, W, M>(
    open: impl FnOnce() -> Result<(M, W), Failure>,
    mut step: impl FnMut(&mut W, &mut M, &Running<P>) -> Result<ControlFlow<()>, Failure>,
) -> impl FnMut(&Running<P>) -> ControlFlow<()> {
    let (mut open, mut opened) = (Some(open), None);
    move |running| {
        let begun = open.take().map_or(Ok(()), |open| open().map(|both| opened = Some(both)));
        let stepped = begun.and_then(|()| match &mut opened {
            Some((meter, work)) => step(work, meter, running),
            None => Ok(ControlFlow::Break(())),
        });
        stepped.unwrap_or_else(|failure| {
            if !matches!(failure, Failure::Stopped | Failure::Spent) {
                running.fail(failure.to_string());
            }
            ControlFlow::Break(())
        })
    }
}
