//! The examination of this machine, as `stereopsis doctor` has it.

use super::Session;
use crate::doctor;
use crate::state::EXAMINE;

impl Session {
    /// Examines this machine, with the disk of recordings.
    pub(super) fn examine(&mut self) {
        let folder = self.state.recording_folder();
        let examine = move || Ok(doctor::examine(&folder, |_| ()));
        self.start_job(EXAMINE, examine, |session, checks| session.state.doctor.checks = checks);
    }
}
