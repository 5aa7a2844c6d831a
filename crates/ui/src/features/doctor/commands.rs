//! Examination of this machine, equal to `stereopsis doctor`.

use super::{Doctor, DoctorStep, EXAMINE, panel};
use crate::core::{Action, Command, Core, Feature};
use egui::{Context, Ui};
use std::convert::Infallible;
use std::time::Instant;

impl Feature for Doctor {
    fn pages(&self) -> &'static [Action] {
        &[Action::Doctor]
    }

    fn page(&mut self, _page: Action, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        panel::show(ui, self, core, commands);
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
                // a program of tests does not answer for drivers
                let program = if cfg!(test) { None } else { std::env::current_exe().ok() };
                let examine =
                    move || Ok::<_, Infallible>(stereopsis_doctor::examine(&folder, program.as_deref(), |_| ()));
                core.start_job(EXAMINE, examine, |core, checks| core.send(DoctorStep::Take(checks)));
            }
            DoctorStep::Take(checks) => self.checks = checks,
        }
        Ok(())
    }
}
