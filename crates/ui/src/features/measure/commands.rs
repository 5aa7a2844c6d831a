//! Measurement while its page is open.

use crate::action::Action;
use crate::session::Session;
use crate::state::MeasureStep;
use crate::waker::Waker;
use egui::Context;
use std::sync::Arc;
use stereopsis_live::{Background, MeasureRequest, Measurement, Meter};

pub(crate) fn start_meter(waker: &Waker) -> std::io::Result<Background<MeasureRequest, Measurement>> {
    let (wake, mut meter) = (waker.clone(), Meter::default());
    Background::start("measure", Arc::new(move || wake.wake()), move |wish| meter.measure(wish))
}

pub(crate) fn execute(session: &mut Session, step: MeasureStep, ctx: &Context) {
    let state = &mut session.state.measure;
    match step {
        MeasureStep::SetRegion(region) => state.region = region,
        MeasureStep::AddPoint(pixel) => state.add_point(pixel),
        MeasureStep::ClearPoints => state.points.clear(),
        MeasureStep::SetTrueDistance(distance_m) => state.true_distance_m = distance_m,
        MeasureStep::BeginAnew => state.series += 1,
        MeasureStep::CopyCommand => {
            let line = session.measure_command();
            ctx.copy_text(line.clone());
            session.state.notices.news(format!("on the clipboard: {line}"));
        }
    }
}

/// Requests the numbers of the newest result and takes the newest measurement, once per frame.
pub(crate) fn update(session: &mut Session) {
    if !session.state.is_open(Action::Measure) {
        session.state.measure.measured = None;
        if session.measuring.take().is_some() {
            session.state.measure.series += 1;
        }
        return;
    }
    let Some(output) = session.state.output().filter(|output| output.map.is_some()) else { return };
    let subject = session.state.measure.subject(output.job.frame.size());
    let wish = MeasureRequest { output: Arc::clone(output), subject, series: session.state.measure.series };
    if !session.measuring.as_ref().is_some_and(|known| known.is_same(&wish)) {
        session.meter.wish(session.measuring.insert(wish).clone());
    }
    let series = session.state.measure.series;
    session.state.measure.measured = session.meter.newest().filter(|measured| measured.series == series);
}
