//! Examination of this machine, equal to `stereopsis doctor`.

use crate::core::Core;
use crate::core::EXAMINE;

pub(crate) fn examine(core: &mut Core) {
    let folder = core.recording_folder();
    let examine = move || Ok(stereopsis_doctor::examine(&folder, |_| ()));
    core.start_job(EXAMINE, examine, |core, checks| core.doctor.checks = checks);
}
