//! Text of `-h`: the most common flags, on one screen. `--help` explains all of them.
//!
//! Each flag says at its definition whether `-h` leaves it out (`hide_short_help`). A command that differs from others in a flag that they
//! share says so by [`shown`] and [`hidden`]. Commands with few flags show all of them.

use clap::{Arg, Command};

/// Meaning of the exit codes.
pub const EXIT_CODE: &str = "Exit code: 0 done, 1 failed (the reason is printed), 2 wrong command line.";

/// Shows a flag in `-h`.
pub(super) fn shown(arg: Arg) -> Arg {
    arg.hide_short_help(false)
}

/// Leaves a flag out of `-h`.
pub(super) fn hidden(arg: Arg) -> Arg {
    arg.hide_short_help(true)
}

/// Shows these flags in `-h`, and leaves the others as they are.
pub(super) fn shown_too(names: &'static [&'static str]) -> impl Fn(Arg) -> Arg {
    move |arg| if names.contains(&arg.get_id().as_str()) { shown(arg) } else { arg }
}

/// Leaves these flags out of `-h`, and the others as they are.
pub(super) fn hidden_too(names: &'static [&'static str]) -> impl Fn(Arg) -> Arg {
    move |arg| if names.contains(&arg.get_id().as_str()) { hidden(arg) } else { arg }
}

/// Adds to `-h` where the other flags are explained, for a command and those below it.
pub(super) fn refer_to_help(command: Command) -> Command {
    refer_as(command, "")
}

/// Does so for a command; `parents` are the words before its name.
fn refer_as(command: Command, parents: &str) -> Command {
    let words = format!("{parents}{}", command.get_name());
    let command = if has_more(&command) { referring(command, &words) } else { command };
    command.mut_subcommands(|command| refer_as(command, &format!("{words} ")))
}

/// Returns whether `--help` shows flags that `-h` leaves out.
fn has_more(command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.is_hide_short_help_set() && !arg.is_hide_set())
}

fn referring(command: Command, words: &str) -> Command {
    let common = match words {
        "stereopsis" => {
            "`stereopsis live -h` shows the most common flags, `stereopsis --help` explains all.".to_owned()
        }
        _ => format!("These are the most common flags: `{words} --help` explains all."),
    };
    let exit_code = command.get_after_long_help().map_or_else(|| EXIT_CODE.into(), Clone::clone);
    command.after_help(common).after_long_help(exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn commands(command: &Command, words: &str, all: &mut Vec<(String, Command)>) {
        let words = format!("{words}{}", command.get_name());
        all.push((words.clone(), command.clone()));
        command.get_subcommands().for_each(|below| commands(below, &format!("{words} "), all));
    }

    #[test]
    fn every_command_explains_itself_on_one_screen_and_names_the_rest() {
        let mut all = Vec::new();
        commands(&refer_to_help(crate::cli::Cli::command()), "", &mut all);
        for (words, mut command) in all {
            let short = command.clone().term_width(100).render_help().to_string();
            assert!(short.lines().count() <= 40, "{words} has {} lines:\n{short}", short.lines().count());
            assert!(short.lines().all(|line| line.chars().count() <= 100), "{words}:\n{short}");
            let flags: Vec<_> = command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned().collect();
            assert_eq!(short.contains(&format!("`{words} --help`")), has_more(&command), "{words}:\n{short}");
            let long = command.render_long_help().to_string();
            for flag in flags.iter().filter_map(|flag| flag.get_long()) {
                assert!(long.contains(&format!("--{flag}")), "{words} --{flag}");
            }
        }
    }

    #[test]
    fn the_flags_of_the_readme_are_among_the_most_common_ones() {
        let mut all = Vec::new();
        commands(&refer_to_help(crate::cli::Cli::command()), "", &mut all);
        let readme = include_str!("../../README.md");
        let mut checked = 0;
        for line in readme.lines().filter(|line| line.starts_with("stereopsis ")) {
            let words: Vec<_> = line.split('#').next().unwrap_or_default().split_whitespace().skip(1).collect();
            let named =
                words.first().and_then(|word| all.iter().find(|(of, _)| of.strip_prefix("stereopsis ") == Some(word)));
            let (name, command) =
                named.unwrap_or_else(|| all.iter().find(|(of, _)| of == "stereopsis live").expect("live"));
            for flag in words.iter().filter_map(|word| word.strip_prefix("--")) {
                // a build without a feature lacks its flags
                let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(flag)) else { continue };
                assert!(!arg.is_hide_short_help_set(), "{name} -h does not show --{flag}: {line}");
                checked += 1;
            }
        }
        assert!(checked > 20, "{checked}");
    }
}
