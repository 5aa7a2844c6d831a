//! The question for files or a folder, and the path that is typed for an answer.

use crate::command::Command;
use std::path::{Path, PathBuf};

/// A question for files or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) title: &'static str,
    pub(crate) asked: Asked,
}

/// Kind of the answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Files that exist, of this kind and with these endings.
    Files { kind: &'static str, endings: &'static [&'static str] },
    /// A folder.
    Folder,
    /// A file to write, with a name that is offered; a name without one of the endings gets the first one.
    NewFile { name: String, kind: &'static str, endings: &'static [&'static str] },
}

/// Answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// One path for a folder or a new file.
    pub(crate) paths: Vec<PathBuf>,
    /// The user has agreed that a file of this name is replaced.
    pub(crate) replaces: bool,
}

/// A change of the typed answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeStep {
    SetText(String),
    /// Takes the path. A file that exists is replaced only where the user has said so.
    Take {
        replaces: bool,
    },
    Cancel,
}

impl From<TypeStep> for Command {
    fn from(step: TypeStep) -> Self {
        Self::Type(step)
    }
}

/// A path that is being typed, because no dialog of the system came up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedPath {
    pub(crate) question: Question,
    pub(crate) text: String,
    /// Error of the path that was taken last.
    pub(crate) wrong: Option<String>,
    /// The file that exists under the path that was taken last.
    pub(crate) there: Option<PathBuf>,
}

impl TypedPath {
    /// The question, with a first text: relative names begin in `folder`.
    pub(crate) fn new(question: Question, folder: &Path) -> Self {
        let text = match &question.asked {
            Asked::NewFile { name, .. } => folder.join(name).display().to_string(),
            Asked::Folder => folder.display().to_string(),
            Asked::Files { .. } => String::new(),
        };
        Self { question, text, wrong: None, there: None }
    }

    /// The answer that the text stands for; relative paths begin in `folder`.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub(crate) fn chosen(&self, folder: &Path) -> Result<Chosen, String> {
        let typed = self.text.trim();
        if typed.is_empty() {
            return Err("type a path first".into());
        }
        let path_of = |text: &str| folder.join(with_home(text.trim()));
        match &self.question.asked {
            Asked::Files { .. } => {
                let paths: Vec<_> = typed.split(';').filter(|part| !part.trim().is_empty()).map(path_of).collect();
                match paths.iter().find(|path| !path.exists()) {
                    Some(missing) => Err(format!("{} does not exist", missing.display())),
                    None => Ok(Chosen { paths, replaces: false }),
                }
            }
            Asked::Folder => {
                let path = path_of(typed);
                if path.is_file() {
                    return Err(format!("{} is a file, and no folder", path.display()));
                }
                Ok(Chosen { paths: vec![path], replaces: false })
            }
            Asked::NewFile { endings, .. } => {
                let path = with_ending(path_of(typed), endings);
                match path.parent() {
                    Some(parent) if !parent.is_dir() => Err(format!("the folder {} does not exist", parent.display())),
                    _ if path.is_dir() => Err(format!("{} is a folder: add a name", path.display())),
                    _ => Ok(Chosen { replaces: path.symlink_metadata().is_ok(), paths: vec![path] }),
                }
            }
        }
    }
}

/// A path with one of these endings: its own, or the first one, added.
pub(crate) fn with_ending(path: PathBuf, endings: &[&str]) -> PathBuf {
    let has_one = path.extension().is_some_and(|own| endings.iter().any(|ending| own.eq_ignore_ascii_case(ending)));
    match endings.first() {
        Some(first) if !has_one => path.with_added_extension(first),
        _ => path,
    }
}

/// A path that may begin with `~`, the user's folder.
fn with_home(text: &str) -> PathBuf {
    let home = text.strip_prefix("~/").zip(std::env::home_dir());
    home.map_or_else(|| PathBuf::from(text), |(rest, home)| home.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(asked: Asked, text: &str) -> TypedPath {
        let question = Question { title: "A file", asked };
        TypedPath { text: text.into(), ..TypedPath::new(question, Path::new("")) }
    }

    #[test]
    fn a_typed_path_is_an_answer_or_says_what_is_wrong_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("points.ply");
        std::fs::write(&there, "x").unwrap();
        let new_file = || Asked::NewFile { name: "points.ply".into(), kind: "Points", endings: &["ply"] };
        let chosen = |asked, text| typed(asked, text).chosen(folder.path());
        let answer = chosen(new_file(), "other").unwrap();
        assert_eq!(answer, Chosen { paths: vec![folder.path().join("other.ply")], replaces: false });
        assert!(chosen(new_file(), " points.PLY ").is_ok_and(|answer| !answer.replaces || cfg!(windows)));
        assert!(chosen(new_file(), "points").is_ok_and(|answer| answer.replaces), "with its ending it exists");
        assert!(chosen(new_file(), "missing/points.ply").is_err_and(|why| why.contains("missing does not exist")));
        let files = || Asked::Files { kind: "Points", endings: &["ply"] };
        let two = format!("points.ply; {}", there.display());
        assert!(chosen(files(), &two).is_ok_and(|answer| answer.paths == [there.clone(), there.clone()]));
        assert!(chosen(files(), "none.ply").is_err_and(|why| why.ends_with("none.ply does not exist")));
        assert!(chosen(files(), "  ").is_err());
        assert!(chosen(Asked::Folder, "points.ply").is_err_and(|why| why.contains("is a file")));
        assert!(chosen(Asked::Folder, "new").is_ok(), "a folder is made when it is needed");
    }
}
