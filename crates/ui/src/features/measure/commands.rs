//! Measurement while its page is open.

use crate::core::Core;
use crate::core::MeasureStep;
use crate::core::action::Action;
use crate::core::waker::Waker;
use egui::Context;
use std::sync::Arc;
use stereopsis_live::{Background, MeasureRequest, Measurement, Meter};

pub(crate) fn start_meter(waker: &Waker) -> std::io::Result<Background<MeasureRequest, Measurement>> {
    let (wake, mut meter) = (waker.clone(), Meter::default());
    Background::start("measure", Arc::new(move || wake.wake()), move |wish| meter.measure(wish))
}

pub(crate) fn execute(core: &mut Core, step: MeasureStep, ctx: &Context) {
    let state = &mut core.measure;
    match step {
        MeasureStep::SetRegion(region) => state.region = region,
        MeasureStep::AddPoint(pixel) => state.add_point(pixel),
        MeasureStep::ClearPoints => state.points.clear(),
        MeasureStep::SetTrueDistance(distance_m) => state.true_distance_m = distance_m,
        MeasureStep::BeginAnew => state.series += 1,
        MeasureStep::CopyCommand => {
            let line = core.measure_command();
            ctx.copy_text(line.clone());
            core.notices.news(format!("on the clipboard: {line}"));
        }
    }
}

/// Requests the numbers of the newest result and takes the newest measurement, once per frame.
pub(crate) fn update(core: &mut Core) {
    if !core.is_open(Action::Measure) {
        core.measure.measured = None;
        if core.measuring.take().is_some() {
            core.measure.series += 1;
        }
        return;
    }
    let Some(output) = core.output().filter(|output| output.map.is_some()) else { return };
    let subject = core.measure.subject(output.job.frame.size());
    let wish = MeasureRequest { output: Arc::clone(output), subject, series: core.measure.series };
    if !core.measuring.as_ref().is_some_and(|known| known.is_same(&wish)) {
        core.meter.wish(core.measuring.insert(wish).clone());
    }
    let series = core.measure.series;
    core.measure.measured = core.meter.newest().filter(|measured| measured.series == series);
}
