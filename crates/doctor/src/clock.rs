//! Check of the system clock: recordings are named by it, and the machines of a rig are paired by it.

use super::report::Check;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stereopsis_recording::time::rfc3339;

/// Earliest plausible time: start of 2026, the year of the first release, s since 1970.
const RELEASED_S: u64 = 1_767_225_600;
/// Maximum plausible time after the release.
const MAX_AGE: Duration = Duration::from_hours(30 * 365 * 24);

/// Checks that the clock is plausible; `synchronised` is systemd's marker of a synchronised clock.
pub(super) fn check(now: SystemTime, synchronised: &Path) -> Check {
    let released = UNIX_EPOCH + Duration::from_secs(RELEASED_S);
    let shown = rfc3339(now);
    let todo = "set the clock (`timedatectl set-ntp true`): recordings are named by it, and several machines need it";
    if now < released {
        return Check::wrong("clock", format!("{shown} is before this program's release"), todo);
    }
    if now > released + MAX_AGE {
        return Check::wrong("clock", format!("{shown} is decades after this program's release"), todo);
    }
    let set_by = if synchronised.exists() {
        "synchronised by the network"
    } else {
        "plausible; whether the network sets it is not known"
    };
    Check::ok("clock", format!("{shown}, {set_by}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    #[test]
    fn a_clock_in_the_past_is_wrong() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let missing = file.path().with_extension("missing");
        for (now, state) in [(0, State::Wrong), (RELEASED_S - 1, State::Wrong), (RELEASED_S + 9, State::Ok)] {
            let now = UNIX_EPOCH + Duration::from_secs(now);
            let check = check(now, &missing);
            assert_eq!(check.state, state, "{check:?}");
            let says_what_to_do = check.todo.is_some_and(|todo| todo.contains("set the clock"));
            assert_eq!(says_what_to_do, state == State::Wrong);
        }
        let now = UNIX_EPOCH + Duration::from_secs(RELEASED_S + 9);
        assert_eq!(check(now, file.path()).text, "2026-01-01T00:00:09.000Z, synchronised by the network");
        assert!(check(now, &missing).text.contains("not known"));
        assert_eq!(check(now + 2 * MAX_AGE, file.path()).state, State::Wrong);
    }
}
