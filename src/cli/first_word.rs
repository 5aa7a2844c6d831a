//! The first word of a command line where it is no subcommand: a newcomer's guess is answered with the right command line.

use super::error::refuse;
use clap::Command;
use std::ffi::OsString;
use std::path::Path;
use stereopsis_base::console;

/// Subcommands that are missing in a program without the network.
const NETWORK_COMMANDS: [&str; 4] = ["engine", "head", "net", "router"];

/// Answer for `lab`, which is another program.
const NO_LAB: &str = "is a program of its own, in a checkout: make lab ARGS=--help";

/// Answer for `model`, without what runs models.
const NO_MODELS: &str = "needs a program that runs models: packages do, and from a checkout `make run MODELS=1`";

/// Guesses for opening something; the answer repeats the words behind them.
const OPENING: &[&str] = &["open", "play", "replay", "run", "show", "start", "view", "watch"];

/// Other guesses, with their answers.
const GUESSES: &[(&[&str], &str)] = &[
    (
        &["camera", "cameras", "capture", "list", "usb", "webcam", "webcams"],
        "`stereopsis devices` lists the cameras, `stereopsis live --source webcam:0,1` opens two",
    ),
    (&["gui", "preview", "window"], "`stereopsis` alone opens the window"),
    (
        &["depth", "disparity", "match", "stereo"],
        "`stereopsis live` shows depth, `stereopsis compute left.png right.png -o disparity.pfm` writes it",
    ),
    (
        &["convert", "extract", "save", "unpack"],
        "`stereopsis export walk.mcap --to walk/` writes a recording as files, `stereopsis calibration convert` a calibration",
    ),
    (
        &["rectify"],
        "`stereopsis live --source webcam:0,1 --rectify auto` rectifies by the images, `stereopsis calibrate` with a board",
    ),
    (&["check", "diagnose", "gpu", "gpus", "info", "test"], "`stereopsis doctor` examines this machine"),
    (&["benchmark", "speed", "time"], "`stereopsis bench` times the engines"),
    (
        &["foxglove", "publish", "ros", "ros2", "serve"],
        "`stereopsis live --publish foxglove` or `--publish ros2` does that",
    ),
    (&["version"], "`stereopsis --version` prints it"),
];

/// Checks that a word in the place of a subcommand is one, or can be opened. Otherwise it would be taken for a file, and the flags of the
/// intended subcommand would be unknown.
pub(super) fn check(mut args: impl Iterator<Item = OsString>, mut command: Command) -> anyhow::Result<()> {
    let Some(word) = args.next().and_then(|word| word.into_string().ok()) else { return Ok(()) };
    let is_bare = word.starts_with(char::is_alphanumeric) && !word.contains(['.', ',', ':', '/', '\\']);
    command.build();
    if !is_bare || command.find_subcommand(&word).is_some() || word == "scene" || Path::new(&word).exists() {
        return Ok(());
    }
    if NETWORK_COMMANDS.contains(&word.as_str()) {
        return refuse(format!("'{word}' {}", console::NO_NETWORK));
    }
    if word == "model" {
        return refuse(format!("'model' {NO_MODELS}"));
    }
    if word == "lab" {
        return refuse(format!("'lab' {NO_LAB}"));
    }
    let shown = console::foreign(&word);
    let rest: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let meant = meant(&word, &rest, &command).map_or_else(String::new, |meant| format!(": {meant}"));
    refuse(format!(
        "'{shown}' is no subcommand, and no file or folder has this name{meant}\n`stereopsis --help` lists the subcommands"
    ))
}

/// Returns a sentence with the command line that was probably meant.
fn meant(word: &str, rest: &[String], command: &Command) -> Option<String> {
    let subcommands = command.get_subcommands().map(Command::get_name);
    let guesses = GUESSES.iter().flat_map(|(words, _)| *words).chain(OPENING).copied();
    let lower = word.to_lowercase();
    let meant = console::closest_name(&lower, guesses).or_else(|| console::closest(&lower, subcommands))?;
    if OPENING.contains(&meant) {
        let named: Vec<_> = rest.iter().map(|arg| console::quoted(&console::foreign(arg))).collect();
        let named = if named.is_empty() { "walk.mcap".to_owned() } else { named.join(" ") };
        return Some(format!("what is to be opened is named alone, as in `stereopsis {named}`"));
    }
    let answer = GUESSES.iter().find(|(words, _)| words.contains(&meant)).map(|(_, answer)| (*answer).to_owned());
    Some(answer.unwrap_or_else(|| format!("did you mean '{meant}'?")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn no_guess_is_a_subcommand_or_stands_twice() {
        let mut command = crate::cli::Cli::command();
        command.build();
        let mut words: Vec<_> = GUESSES.iter().flat_map(|(words, _)| *words).chain(OPENING).copied().collect();
        words.extend(command.get_subcommands().map(Command::get_name));
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count, "{words:?}");
    }
}
