//! Text of `-h`: the most common flags, on one screen. `--help` explains all of them.

use clap::Command;

/// Words of a command, and identifiers of the flags that its `-h` shows.
pub type Shown = (&'static str, &'static [&'static str]);

/// Flags and paths that `-h` of a command shows, by their identifiers; a command below another one has the words of both. Commands with
/// few flags show all of them.
pub(super) const SHOWN: &[Shown] = &[
    ("stereopsis", &["inputs"]),
    #[cfg(feature = "zenoh")]
    ("head", &["inputs", "name", "eye", "source", "rig", "calibration", "preset", "listen", "connect", "open"]),
    (
        "live",
        &[
            "inputs",
            "headless",
            #[cfg(feature = "publish")]
            "publish",
            "source",
            "rig",
            "calibration",
            "rectify",
            "fov_deg",
            "baseline_m",
            "swap_pictures",
            "preset",
            "engine",
            "num-disparities",
            "p1",
            "p2",
        ],
    ),
    (
        "record",
        &[
            "inputs",
            "source",
            "calibration",
            "preset",
            "num-disparities",
            "engine",
            "output",
            "streams",
            "seconds",
            "lossless",
        ],
    ),
    (
        "compute",
        &[
            "left",
            "right",
            "calibration",
            "rectify",
            "preset",
            "num-disparities",
            "engine",
            "output",
            "color",
            "depth",
            "overwrite",
        ],
    ),
    (
        "recompute",
        &["recording", "output", "streams", "calibration", "preset", "num-disparities", "fill", "engine", "json"],
    ),
    ("export", &["recording", "to", "what", "from", "count", "every", "json"]),
    (
        "calibrate",
        &[
            "inputs",
            "source",
            "print_board",
            "board",
            "square_mm",
            "output",
            "keep_cameras",
            "check",
            "force",
            "overwrite",
            "json",
        ],
    ),
    (
        "measure",
        &[
            "inputs",
            "source",
            "calibration",
            "preset",
            "num-disparities",
            "region",
            "distance_m",
            "points",
            "ranges",
            "frames",
            "csv",
            "json",
        ],
    ),
    (
        "eval",
        &[
            "inputs",
            "presets",
            "compare",
            "regions",
            "csv",
            "json",
            "errors",
            "maps",
            "preset",
            "num-disparities",
            "engine",
            "fill",
        ],
    ),
    (
        "optimize",
        &[
            "inputs",
            "preset",
            "num-disparities",
            "engine",
            "output",
            "judge",
            "pairs",
            "max_ms",
            "seconds",
            "trials",
            "plot",
            "json",
        ],
    ),
    ("bench", PAIRS),
    ("tune", STUDY),
];

/// Flags of commands that time engines.
pub const PAIRS: &[&str] =
    &["pictures", "sizes", "frames", "rate", "presets", "preset", "num-disparities", "engine", "threads", "json"];
/// Flags of commands that time variants of the GPU engine.
pub const STUDY: &[&str] = &["pictures", "size", "rounds", "preset", "num-disparities", "adapter", "json"];

/// Exit codes of all programs of this project.
pub const EXIT_CODE: &str = "Exit code: 0 done, 1 failed (the reason is printed), 2 wrong command line.";

/// Hides the other flags from `-h`, which then names `--help`.
pub(super) fn shorten(command: Command, shown: &[Shown]) -> Command {
    shorten_as(command, "", shown)
}

/// Returns the key in [`SHOWN`] of a command with these words.
fn key(words: &str) -> &str {
    words.strip_prefix("stereopsis ").unwrap_or(words)
}

/// Hides flags of a command and of those below it; `parents` are the words before its name.
fn shorten_as(command: Command, parents: &str, shown: &[Shown]) -> Command {
    let words = format!("{parents}{}", command.get_name());
    let command = match shown.iter().find(|(of, _)| *of == key(&words)) {
        Some((_, shown)) => of_flags(command, shown, &words),
        None => command,
    };
    command.mut_subcommands(|command| shorten_as(command, &format!("{words} "), shown))
}

fn of_flags(command: Command, shown: &[&str], words: &str) -> Command {
    let common = match words {
        "stereopsis" => {
            "`stereopsis live -h` shows the most common flags, `stereopsis --help` explains all.".to_owned()
        }
        _ => format!("These are the most common flags: `{words} --help` explains all."),
    };
    let exit_code = command.get_after_long_help().map_or_else(|| EXIT_CODE.into(), Clone::clone);
    command
        .mut_args(|arg| {
            let is_shown = shown.contains(&arg.get_id().as_str());
            arg.hide_short_help(!is_shown)
        })
        .after_help(common)
        .after_long_help(exit_code)
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
        commands(&shorten(crate::cli::Cli::command(), SHOWN), "", &mut all);
        for (words, mut command) in all {
            let short = command.clone().term_width(100).render_help().to_string();
            assert!(short.lines().count() <= 40, "{words} has {} lines:\n{short}", short.lines().count());
            assert!(short.lines().all(|line| line.chars().count() <= 100), "{words}:\n{short}");
            let flags: Vec<_> = command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned().collect();
            let hidden = flags.iter().any(clap::Arg::is_hide_short_help_set);
            assert_eq!(short.contains(&format!("`{words} --help`")), hidden, "{words}:\n{short}");
            let long = command.render_long_help().to_string();
            for flag in flags.iter().filter_map(|flag| flag.get_long()) {
                assert!(long.contains(&format!("--{flag}")), "{words} --{flag}");
            }
        }
    }

    #[test]
    fn the_flags_of_the_readme_are_among_the_most_common_ones() {
        let mut all = Vec::new();
        commands(&shorten(crate::cli::Cli::command(), SHOWN), "", &mut all);
        let readme = include_str!("../../README.md");
        let mut checked = 0;
        for line in readme.lines().filter(|line| line.starts_with("stereopsis ")) {
            let words: Vec<_> = line.split('#').next().unwrap_or_default().split_whitespace().skip(1).collect();
            let named = words.first().and_then(|word| all.iter().find(|(of, _)| key(of) == *word));
            let (name, command) = named.unwrap_or_else(|| all.iter().find(|(of, _)| key(of) == "live").expect("live"));
            for flag in words.iter().filter_map(|word| word.strip_prefix("--")) {
                // a build without a feature lacks its flags
                let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(flag)) else { continue };
                assert!(!arg.is_hide_short_help_set(), "{name} -h does not show --{flag}: {line}");
                checked += 1;
            }
        }
        assert!(checked > 20, "{checked}");
    }

    #[test]
    fn all_shown_flags_exist() {
        let mut all = Vec::new();
        commands(&crate::cli::Cli::command(), "", &mut all);
        for (name, shown) in SHOWN {
            let (_, command) = all.iter().find(|(words, _)| key(words) == *name).expect(name);
            let known: Vec<_> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
            for id in *shown {
                let is_of_bench = ["rate", "presets"].contains(id) && *shown == PAIRS;
                assert!(known.contains(id) || is_of_bench, "{name} has no {id}: {known:?}");
            }
        }
    }
}
