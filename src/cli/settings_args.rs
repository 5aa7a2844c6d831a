//! Flags for every setting, made from the tables of the settings file and the panels.

use super::values::possible_values;
use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command};
use std::path::{Path, PathBuf};
use stereopsis_base::parameter::{Domain, Group, Parameter, ValueError};
use stereopsis_frame::engine::{EngineChoice, ModelDevice};
use stereopsis_settings::settings::{
    Origin, Settings, SettingsError, Word, own_presets_folder, paper_in_short, preset_groups, read_file,
    with_own_presets,
};
use stereopsis_stereo::StereoParams;

/// Settings that `-h` of most commands shows.
const COMMON: [&str; 3] = ["preset", "engine", "num-disparities"];

/// Flags of the settings other than matching parameters: name, placeholder of the value, help.
const OTHER_FLAGS: [(&str, &str, &str); 7] = [
    ("preset", "NAME", "A preset, built in or your own; flags change it further"),
    ("near-m", "METRES", "Nearest depth to see; sets --num-disparities from the calibration"),
    ("engine", "ENGINE", "Engine that computes; auto times both and takes the faster one"),
    ("threads", "N", "Threads of the CPU engine or of a model [default: all cores]"),
    ("adapter", "GPU", "Which GPU: its number in `devices --gpu`, or part of its name"),
    (
        "model",
        "FILE.onnx",
        "File of --engine model, a neural network in the format ONNX; `stereopsis model inspect` tests it first",
    ),
    ("model-device", "WORD", "Runtime and device of a model [default: built-in]"),
];

/// The settings as they were written; resolve them with [`SettingsArgs::resolve`].
#[derive(Clone, Debug, Default)]
pub(super) struct SettingsArgs {
    file: Option<PathBuf>,
    flags: Vec<Word>,
}

impl SettingsArgs {
    /// Reads the settings file, if one was named, and resolves everything.
    ///
    /// # Errors
    /// Errors of [`read_file`] and [`Settings::resolve`].
    pub(super) fn resolve(&self) -> Result<Settings, SettingsError> {
        Settings::resolve(&self.words()?)
    }

    /// Returns the settings file, if one was named.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }

    /// Returns the unresolved words of the settings file and of the flags.
    ///
    /// # Errors
    /// Errors of [`read_file`] and [`with_own_presets`].
    pub(super) fn words(&self) -> Result<Vec<Word>, SettingsError> {
        self.words_from(self.file.as_deref(), None)
    }

    /// Returns the words of another settings file, of a preset and of the flags.
    ///
    /// # Errors
    /// Errors of [`SettingsArgs::words`].
    pub(super) fn words_from(&self, file: Option<&Path>, preset: Option<&str>) -> Result<Vec<Word>, SettingsError> {
        let mut words = file.map(read_file).transpose()?.unwrap_or_default();
        let preset = preset.map(|name| Word { name: "preset".into(), text: name.to_owned(), origin: Origin::Flag });
        words.extend(preset.into_iter().chain(self.flags.iter().cloned()));
        with_own_presets(words, own_presets_folder().as_deref())
    }
}

/// Returns the heading of a group in the help: two in all, so that the short one fits a screen.
fn heading(group: Group) -> &'static str {
    match group {
        Group::Range | Group::Cost | Group::Aggregation | Group::Paths => "Matching",
        Group::Rejection | Group::Smoothing | Group::Fill => "Filters",
    }
}

impl clap::Args for SettingsArgs {
    fn augment_args(command: Command) -> Command {
        let command = command.next_help_heading("Settings").arg(
            Arg::new("settings")
                .long("settings")
                .value_name("FILE.toml")
                .value_parser(clap::value_parser!(PathBuf))
                .hide_short_help(true)
                .help("Settings from a file, one `flag = value` a line; flags win over it"),
        );
        let command = OTHER_FLAGS.iter().fold(command, |command, (name, placeholder, help)| {
            let arg = Arg::new(*name).long(*name).value_name(*placeholder).help(*help);
            command.arg(words_of(name, arg.hide_short_help(!COMMON.contains(name))))
        });
        Group::ALL.iter().fold(command, |command, &group| {
            let parameters = StereoParams::table().iter().filter(|p| p.group == group);
            parameters
                .fold(command.next_help_heading(heading(group)), |command, parameter| command.arg(flag(parameter)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SettingsArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let names = OTHER_FLAGS.iter().map(|(name, ..)| *name).chain(StereoParams::table().iter().map(|p| p.name));
        let flags = names
            .filter_map(|name| {
                let text = matches.get_one::<String>(name)?.clone();
                Some(Word { name: name.to_owned(), text, origin: Origin::Flag })
            })
            .collect();
        Ok(Self { file: matches.get_one("settings").cloned(), flags })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds the choices of `--preset`, `--engine` and `--model-device`.
fn words_of(name: &str, arg: Arg) -> Arg {
    let values: Vec<(&'static str, &'static str)> = match name {
        "preset" => return presets(arg),
        "engine" => EngineChoice::ALL.iter().map(|e| (e.word(), e.help())).collect(),
        "model-device" => ModelDevice::ALL.iter().map(|device| (device.word(), device.help())).collect(),
        _ => return arg,
    };
    arg.value_parser(possible_values(&values))
}

/// Adds the choices of `--preset`, in their groups: clap itself has no headings between values.
fn presets(arg: Arg) -> Arg {
    let (mut words, mut lines) = (Vec::new(), Vec::new());
    for group in preset_groups() {
        let heading = group.heading.map_or_else(|| "Possible values".to_owned(), capitalised);
        let names: Vec<_> = group.presets.iter().map(|preset| preset.word()).collect();
        words.push(group.heading.map_or_else(|| names.join(", "), |heading| format!("{} {heading}", names.len())));
        lines.push(format!("\n{heading}:"));
        lines.extend(group.presets.iter().map(|&preset| {
            let paper = paper_in_short(preset).map_or_else(String::new, |paper| format!(" ({paper})"));
            format!("- {preset}: {}{paper}", preset.help().trim_end_matches('.'))
        }));
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.long_help(format!("{help}\n{}", lines.join("\n"))).help(format!("{help} [{}]", words.join(", ")))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Splits a help text into its first sentence, without the full stop, and the rest.
fn split_help(help: &str) -> (&str, &str) {
    let (first, rest) = help.split_once(". ").unwrap_or((help, ""));
    (first.trim_end_matches('.'), rest)
}

fn flag(parameter: &'static Parameter<StereoParams>) -> Arg {
    let default = (parameter.get)(&StereoParams::default());
    let by_cost = matches!(parameter.name, "p1" | "p2" | "p2-min" | "p2-alpha");
    let follows = if by_cost { ", follows --cost" } else { "" };
    let (first, rest) = split_help(parameter.help);
    let arg = Arg::new(parameter.name)
        .long(parameter.name)
        .help(format!("{first} [default: {default}]"))
        .long_help(format!("{first} [default: {default}{follows}]\n\n{rest}").trim_end().to_owned())
        .hide_short_help(!COMMON.contains(&parameter.name));
    let arg = match &parameter.domain {
        Domain::Choice(words) => {
            let former = parameter.properties.former_words;
            let values = words.iter().map(|(word, help)| {
                let aliases = former.iter().filter(|(_, now)| now == word).map(|(former, _)| *former);
                PossibleValue::new(*word).help(*help).aliases(aliases)
            });
            arg.value_name("WORD").value_parser(values.collect::<Vec<_>>())
        }
        Domain::Switch => arg.value_name("on|off").value_parser(["on", "off"]).hide_possible_values(true),
        Domain::Integer(_) => arg.value_name(unit_name(parameter.unit)).value_parser(check(parameter)),
        Domain::OptionalInteger(_) => {
            arg.value_name(format!("{}|off", unit_name(parameter.unit))).value_parser(check(parameter))
        }
    };
    // `--fill` alone means the best one
    if parameter.name == "fill" {
        return arg.num_args(0..=1).require_equals(true).default_missing_value("planes");
    }
    arg
}

/// Checks a number at parsing, so that the error names the flag; the settings get the text itself.
fn check(
    parameter: &'static Parameter<StereoParams>,
) -> impl Fn(&str) -> Result<String, ValueError> + Clone + Send + Sync {
    move |text| parameter.parse(text).map(|_| text.to_owned())
}

fn unit_name(unit: &str) -> &'static str {
    match unit {
        "px" => "PX",
        "%" => "PERCENT",
        "deg" => "DEGREES",
        _ => "N",
    }
}
