//! Measuring while its page is open.

use super::Session;
use crate::action::Action;
use crate::live::{Background, MeasureWish, Measured, Meter};
use crate::state::MeasureStep;
use crate::waker::Waker;
use egui::Context;
use std::sync::Arc;

/// Starts the thread that measures.
pub(super) fn start_meter(waker: &Waker) -> std::io::Result<Background<MeasureWish, Measured>> {
    let (wake, mut meter) = (waker.clone(), Meter::default());
    Background::start("measure", Arc::new(move || wake.wake()), move |wish| meter.measure(wish))
}

impl Session {
    pub(super) fn measure(&mut self, step: MeasureStep, ctx: &Context) {
        let state = &mut self.state.measure;
        match step {
            MeasureStep::SetRegion(region) => state.region = region,
            MeasureStep::AddPoint(pixel) => state.add_point(pixel),
            MeasureStep::ClearPoints => state.points.clear(),
            MeasureStep::SetTrueDistance(distance_m) => state.true_distance_m = distance_m,
            MeasureStep::BeginAnew => state.series += 1,
            MeasureStep::CopyCommand => {
                let line = self.measure_command();
                ctx.copy_text(line.clone());
                self.state.notices.news(format!("on the clipboard: {line}"));
            }
        }
    }

    /// Wishes for the numbers of the newest result, and takes what was measured last. Called once per frame.
    pub(super) fn update_measured(&mut self) {
        if !self.state.is_open(Action::Measure) {
            self.state.measure.measured = None;
            if self.measuring.take().is_some() {
                self.state.measure.series += 1;
            }
            return;
        }
        let Some(output) = self.state.output().filter(|output| output.map.is_some()) else { return };
        let subject = self.state.measure.subject(output.job.frame.size());
        let wish = MeasureWish { output: Arc::clone(output), subject, series: self.state.measure.series };
        if !self.measuring.as_ref().is_some_and(|known| known.is_same(&wish)) {
            self.meter.wish(self.measuring.insert(wish).clone());
        }
        let series = self.state.measure.series;
        self.state.measure.measured = self.meter.newest().filter(|measured| measured.series == series);
    }
}
