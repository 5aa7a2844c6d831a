//! Measurement while its page is open.

use super::{Measure, MeasureStep, panel};
use crate::core::{Action, Command, Core, Feature, Waker};
use egui::{Context, Ui};
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::threads::Latest;
use stereopsis_live::{MeasureRequest, Meter};

impl Measure {
    pub(crate) fn start(waker: &Waker) -> std::io::Result<Self> {
        let (wake, mut meter) = (waker.clone(), Meter::default());
        let meter = Latest::start("measure", Arc::new(move || wake.wake()), move |wish| meter.measure(wish))?;
        Ok(Self { true_distance_m: None, series: 0, meter, requested: None, source_since: None })
    }

    /// Returns a command that measures the subject of the page.
    fn command(&self, core: &Core) -> String {
        let flag = |name: &str, value: Option<String>| value.map(|value| [format!("--{name}"), value]);
        let points = core.output().and_then(|output| core.marked.subject(output.job.frame.size(), None).points);
        let flags = [
            flag("region", core.marked.region.map(|region| region.to_string())),
            flag("distance-m", self.true_distance_m.map(|metres| metres.to_string())),
            flag("points", points.map(|[(x1, y1), (x2, y2)]| format!("{x1},{y1},{x2},{y2}"))),
        ];
        core.command("measure", flags.into_iter().flatten().flatten().collect())
    }
}

impl Feature for Measure {
    fn pages(&self) -> &'static [Action] {
        &[Action::Measure]
    }

    fn page(&mut self, _page: Action, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        panel::show(ui, self, core, commands);
    }

    fn execute(&mut self, core: &mut Core, command: Command, ctx: &Context) -> Result<(), Command> {
        match command.step()? {
            MeasureStep::SetTrueDistance(distance_m) => self.true_distance_m = distance_m,
            MeasureStep::BeginAnew => self.series += 1,
            MeasureStep::CopyCommand => {
                let line = self.command(core);
                ctx.copy_text(line.clone());
                core.notices.news(format!("on the clipboard: {line}"));
            }
        }
        Ok(())
    }

    /// Requests the numbers of the newest result and takes the newest measurement.
    fn update(&mut self, core: &mut Core, _now: Instant) {
        if self.source_since.replace(core.source_since) != Some(core.source_since) {
            self.series += 1;
        }
        if !core.is_open(Action::Measure) {
            core.pipeline.measured = None;
            if self.requested.take().is_some() {
                self.series += 1;
            }
            return;
        }
        let Some(output) = core.output().filter(|output| output.map.is_some()) else { return };
        let subject = core.marked.subject(output.job.frame.size(), self.true_distance_m);
        let wish = MeasureRequest { output: Arc::clone(output), subject, series: self.series };
        if !self.requested.as_ref().is_some_and(|known| known.is_same(&wish)) {
            self.meter.wish(self.requested.insert(wish).clone());
        }
        core.pipeline.measured = self.meter.newest().filter(|measured| measured.series == self.series);
    }
}
