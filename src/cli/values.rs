//! Values that several commands parse from the command line, print or write into tables in one way.

use anyhow::{Context as _, anyhow};
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use stereopsis_base::parameter::ParameterType;
use stereopsis_base::{console, files};
use stereopsis_stereo::StereoParams;

/// Help of `--overwrite`, which has one meaning in all commands.
pub const OVERWRITE: &str = "Replace output files that exist; a file that is read is never replaced";

/// Parses a member of a family of choices, which `--help` lists: `ALL`, `word` and `help` of the family.
pub(super) fn choice<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let words: Vec<_> = all.iter().map(|&member| (word(member), help(member))).collect();
    PossibleValuesParser::new(possible_values(&words))
        .try_map(move |text| all.iter().copied().find(|&member| word(member) == text).ok_or("no such word"))
}

/// Converts words with their meanings.
pub(super) fn possible_values(words: &[(&'static str, &'static str)]) -> Vec<PossibleValue> {
    words.iter().map(|(word, help)| PossibleValue::new(*word).help(*help)).collect()
}

/// Files that one word names: one of the whole word, or those between its commas.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(Vec<PathBuf>);

impl Files {
    pub(super) fn all(words: &[Self]) -> Vec<PathBuf> {
        words.iter().flat_map(|Self(files)| files).cloned().collect()
    }
}

/// Parses files with commas between, whose names may have commas too.
pub(super) fn separated() -> impl TypedValueParser<Value = Files> {
    PathBufValueParser::new().map(|path| {
        let split = |text: &str| {
            let parts = files::separated(text, |part| Path::new(part).exists());
            parts.into_iter().map(PathBuf::from).collect()
        };
        Files(path.to_str().map_or_else(|| vec![path.clone()], split))
    })
}

/// Parses files like [`separated`], and checks that they exist.
pub(super) fn existing_files() -> impl TypedValueParser<Value = Files> {
    separated().try_map(|files| files.0.iter().try_for_each(|path| check_exists(path)).map(|()| files.clone()))
}

/// Parses a file, and checks that it exists.
pub(super) fn existing() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| check_exists(&path).map(|()| path))
}

fn check_exists(path: &Path) -> anyhow::Result<()> {
    files::missing(path).map_or(Ok(()), |why| Err(anyhow!("{}: {why}", console::path(path))))
}

/// Parses a length, time or rate above 0, of a plausible magnitude.
pub(super) fn positive(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|v: &f64| *v > 0.0).ok_or("expected a number above 0")?;
    if (1e-9..=1e9).contains(&number) { Ok(number) } else { Err("expected a number from 1e-9 to 1e9") }
}

pub(super) fn share(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|v| (0.0..=1.0).contains(v)).ok_or("expected a number from 0 to 1")
}

/// Parses a value of a matching parameter, within its usual range.
pub(super) fn of_parameter<T: ParameterType + Send + Sync>(
    name: &'static str,
) -> impl Fn(&str) -> anyhow::Result<T> + Clone + Send + Sync {
    move |text| {
        let parameter = StereoParams::parameter(name).context("no such parameter")?;
        T::from_value(parameter.parse(text)?).with_context(|| format!("'{text}' is no value of --{name}"))
    }
}

/// Prints a value for other programs.
pub(super) fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    Ok(console::print(&format!("{}\n", console::json(value)?))?)
}

/// Formats a cell of a CSV table, quoted where its text contains separators.
pub(super) fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
