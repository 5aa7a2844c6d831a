//! Checks of this machine as a report: text for users and JSON for programs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json as value};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use stereopsis_base::console::counted;

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No problem.
    Ok,
    /// Limitation that the user may not know.
    Note,
    /// Fault.
    Wrong,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        })
    }
}

/// Check of one part of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Area: `disk`, `camera`.
    pub area: Cow<'static, str>,
    /// Result.
    pub state: State,
    /// Finding, in one line.
    pub text: String,
    /// Remedy, if there is a problem.
    pub todo: Option<String>,
}

impl Check {
    pub(super) fn ok(area: &'static str, text: impl Into<String>) -> Self {
        Self { area: area.into(), state: State::Ok, text: text.into(), todo: None }
    }

    pub(super) fn note(area: &'static str, text: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { area: area.into(), state: State::Note, text: text.into(), todo: Some(todo.into()) }
    }

    pub(super) fn wrong(area: &'static str, text: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { area: area.into(), state: State::Wrong, text: text.into(), todo: Some(todo.into()) }
    }
}

/// Maximum number of lines in a list, and of names in a line.
const MAX_LISTED: usize = 20;

/// Shortens a long list to its worst checks and the number of the others.
pub(super) fn cut(mut checks: Vec<Check>, noun: &str) -> Vec<Check> {
    if checks.len() > MAX_LISTED {
        checks.sort_by_key(|check| Reverse(check.state));
        let rest = checks.split_off(MAX_LISTED);
        let Check { area, state, .. } = rest[0].clone();
        let text = format!("and {}", counted(rest.len() as u64, &format!("more {noun}")));
        let todo = (state != State::Ok).then(|| format!("see to the {MAX_LISTED} above first, and run this again"));
        checks.push(Check { area, state, text, todo });
    }
    checks
}

/// Joins names: the first ones of many, and the number of the others.
pub(super) fn names(names: &[String]) -> String {
    let first = names[..names.len().min(MAX_LISTED)].join(", ");
    match names.len().saturating_sub(MAX_LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Formats a check as one line, with the remedy below.
pub fn line(check: &Check) -> String {
    let Check { area, state, text, todo } = check;
    let todo = todo.as_ref().map_or_else(String::new, |todo| format!("       {:<12}to do: {todo}\n", ""));
    format!("{state:<6} {area:<12}{text}\n{todo}")
}

/// Formats the counts: `2 wrong, 1 note`.
pub fn summary(checks: &[Check]) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count() as u64;
    let notes = counted(count(State::Note), "note");
    match count(State::Wrong) {
        0 => format!("nothing is wrong, {notes}"),
        1 => format!("1 check is wrong, {notes}"),
        many => format!("{many} checks are wrong, {notes}"),
    }
}

/// Returns the checks as JSON.
pub fn json(checks: &[Check]) -> Value {
    value!({ "version": env!("CARGO_PKG_VERSION"), "checks": checks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_json_agree() {
        let checks = [Check::ok("disk", "fine"), Check::wrong("camera", "camera 0 is busy", "close it")];
        let text: String = checks.iter().map(line).collect();
        assert_eq!(
            text,
            "ok     disk        fine\nwrong  camera      camera 0 is busy\n                   to do: close it\n"
        );
        assert_eq!(summary(&checks), "1 check is wrong, 0 notes");
        assert_eq!(summary(&checks[..1]), "nothing is wrong, 0 notes");
        let json = json(&checks);
        assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(json["checks"][0], value!({ "area": "disk", "state": "ok", "text": "fine", "todo": null }));
        assert_eq!(json["checks"][1]["todo"], "close it");
    }

    #[test]
    fn keeps_the_worst_checks_of_a_long_list() {
        let checks = |count: usize| -> Vec<_> {
            let check = |i| match i {
                27 => Check::wrong("settings", "27", "correct it"),
                i => Check::ok("settings", i.to_string()),
            };
            (0..count).map(check).collect()
        };
        assert_eq!(cut(checks(20), "preset"), checks(20));
        let shown = cut(checks(1000), "preset");
        assert_eq!((shown.len(), shown[0].text.as_str(), shown[1].text.as_str()), (21, "27", "0"));
        assert_eq!(shown[20], Check::ok("settings", "and 980 more presets"));
        let wrong = cut((0..22).map(|i| Check::wrong("settings", i.to_string(), "correct it")).collect(), "preset");
        assert_eq!((wrong[20].state, wrong[20].text.as_str()), (State::Wrong, "and 2 more presets"));
        assert!(wrong[20].todo.as_ref().unwrap().starts_with("see to the 20 above first"));
        let all: Vec<_> = (0..2000).map(|i| i.to_string()).collect();
        assert!(names(&all).ends_with(", 18, 19 and 1980 more"), "{}", names(&all));
        assert_eq!(names(&all[..3]), "0, 1, 2");
    }
}
