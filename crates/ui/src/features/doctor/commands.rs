//! Examination of this machine, equal to `stereopsis doctor`.

use crate::session::Session;
use crate::state::EXAMINE;

pub(crate) fn examine(session: &mut Session) {
    let folder = session.state.recording_folder();
    let examine = move || Ok(stereopsis_doctor::examine(&folder, |_| ()));
    session.start_job(EXAMINE, examine, |session, checks| session.state.doctor.checks = checks);
}
