//! Examination of this machine, equal to `stereopsis doctor`.

use crate::core::{Action, Command, Core, Feature, Job, Step};
use egui::{Context, Ui};
use std::convert::Infallible;
use std::time::Instant;
use stereopsis_doctor::Check;

/// Job of an examination, which ends without being stopped because its probes have time limits.
pub(super) const EXAMINE: Job = Job::stoppable("examining this machine");

#[derive(Clone)]
pub(crate) enum DoctorStep {
    Examine,
    Take(Vec<Check>),
}

impl Step for DoctorStep {}

#[derive(Default)]
pub(crate) struct Doctor {
    /// Checks of the last examination; empty before the first.
    pub(super) checks: Vec<Check>,
    was_open: bool,
}

impl Feature for Doctor {
    fn pages(&self) -> &'static [Action] {
        &[Action::Doctor]
    }

    fn page(&mut self, _page: Action, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        super::panel::show(ui, self, core, commands);
    }

    /// Examines the machine when the page opens.
    fn update(&mut self, core: &mut Core, _now: Instant) {
        let is_open = core.is_open(Action::Doctor);
        if is_open && !std::mem::replace(&mut self.was_open, is_open) {
            core.send(DoctorStep::Examine);
        }
        self.was_open = is_open;
    }

    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        match command.step()? {
            DoctorStep::Examine => {
                let folder = core.recording_folder();
                let examine = move || Ok::<_, Infallible>(stereopsis_doctor::examine(&folder, |_| ()));
                core.start_job(EXAMINE, examine, |core, checks| core.send(DoctorStep::Take(checks)));
            }
            DoctorStep::Take(checks) => self.checks = checks,
        }
        Ok(())
    }
}
