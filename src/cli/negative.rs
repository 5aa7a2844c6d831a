//! Negative values of flags: `--min-disparity -96` and `--region -5,3,20,20` are values, not unknown flags.

use std::ffi::OsString;

/// Joins each flag and a negative number, or a list that begins with one, behind it: `--name -5` becomes `--name=-5`. No flag begins with a
/// digit; the flag's own parser judges the number.
pub(super) fn joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut are_flags = true;
    for word in words {
        are_flags &= word != "--";
        match all.last_mut().filter(|flag| are_flags && is_flag(flag) && is_negative(&word)) {
            Some(flag) => {
                flag.push("=");
                flag.push(&word);
            }
            None => all.push(word),
        }
    }
    all
}

fn is_flag(word: &OsString) -> bool {
    word.to_str().is_some_and(|word| word.starts_with("--") && !word.contains('='))
}

fn is_negative(word: &OsString) -> bool {
    let digits = word.to_str().and_then(|word| word.strip_prefix('-'));
    digits.is_some_and(|digits| digits.strip_prefix('.').unwrap_or(digits).starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;
    use clap::{Command, CommandFactory as _};

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn only_values_of_flags_are_joined() {
        for (given, expected) in [
            ("x --min-disparity -96 a.png", "x --min-disparity=-96 a.png"),
            ("x --region -5,3,20,20 --doffs -.5", "x --region=-5,3,20,20 --doffs=-.5"),
            ("x --doffs=1 -5 -o -v", "x --doffs=1 -5 -o -v"),
            ("x --json -- --a -5", "x --json -- --a -5"),
        ] {
            assert_eq!(joined(words(given)), words(expected));
        }
    }

    /// Tries a negative value for each flag of a command and of those below it; returns how many flags there were.
    fn tried(whole: &Command, command: &Command, path: &str) -> usize {
        let flags = command.get_arguments().filter(|arg| arg.get_action().takes_values());
        let flags: Vec<_> = flags.filter_map(|arg| arg.get_long()).collect();
        for flag in &flags {
            for value in ["-96", "-5,3", "-.5", "-1e-3"] {
                let line = words(&format!("{path} --{flag} {value}"));
                let found = whole.clone().try_get_matches_from(joined(line));
                let unknown = found.is_err_and(|err| err.kind() == ErrorKind::UnknownArgument);
                assert!(!unknown, "{path} --{flag} {value}");
            }
        }
        let below = command.get_subcommands().map(|below| tried(whole, below, &format!("{path} {}", below.get_name())));
        flags.len() + below.sum::<usize>()
    }

    #[test]
    fn every_flag_with_a_value_takes_a_negative_one_for_it() {
        let command = crate::cli::Cli::command();
        assert!(tried(&command, &command, "stereopsis") > 300);
    }
}
