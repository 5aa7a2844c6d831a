//! Question for files or a folder, and the typed path.

use std::path::{Path, PathBuf};
use stereopsis_base::secrets;
use stereopsis_frame::{CaptureError, SourceSpec};

/// Question for files or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) title: &'static str,
    pub(crate) asked: AnswerKind,
}

/// Kind of the answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// Existing files of this kind, with one of these endings.
    Files {
        kind: &'static str,
        endings: &'static [&'static str],
    },
    Folder,
    /// File to write, with a proposed name; a name without one of the endings gets the first one.
    NewFile {
        name: String,
        kind: &'static str,
        endings: &'static [&'static str],
    },
    /// Address of a stream that was kept without its secrets, for the reason shown.
    Address {
        kept: String,
        why: String,
    },
}

/// Answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenPaths {
    /// Chosen paths, one for a folder or a new file.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether the user has confirmed the replacement of an existing file.
    pub(crate) replaces: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeStep {
    SetText(String),
    /// Accepts the path. A file that exists is replaced only if the user has confirmed it.
    Take {
        replaces: bool,
    },
    Cancel,
}

/// Path that is being typed, where the system has no dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedPath {
    pub(crate) question: Question,
    pub(crate) text: String,
    /// Error of the path that was accepted last.
    pub(crate) error: Option<String>,
    /// Existing file under the path that was accepted last.
    pub(crate) existing_file: Option<PathBuf>,
}

/// Reason why a typed text is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("type a path first")]
    Empty,
    #[error("{}", secrets::hidden(&format!("{} does not exist", .0.display())))]
    Missing(PathBuf),
    #[error("{} is a file, and no folder", .0.display())]
    IsFile(PathBuf),
    #[error("{} is a folder: add a name", .0.display())]
    IsFolder(PathBuf),
    #[error("the folder {} does not exist", .0.display())]
    NoFolder(PathBuf),
    #[error(transparent)]
    Source(#[from] CaptureError),
}

impl TypedPath {
    /// Starts with a proposed text; relative paths are relative to `folder`.
    pub(crate) fn new(question: Question, folder: &Path) -> Self {
        let text = match &question.asked {
            AnswerKind::NewFile { name, .. } => folder.join(name).display().to_string(),
            AnswerKind::Folder => folder.display().to_string(),
            AnswerKind::Address { kept, .. } => kept.clone(),
            AnswerKind::Files { .. } => String::new(),
        };
        Self { question, text, error: None, existing_file: None }
    }

    /// Returns the answer for the typed text; relative paths are relative to `folder`.
    ///
    /// # Errors
    /// The text is no valid answer.
    pub(crate) fn chosen(&self, folder: &Path) -> Result<ChosenPaths, NoAnswer> {
        let typed = self.text.trim();
        if typed.is_empty() {
            return Err(NoAnswer::Empty);
        }
        let path_of = |text: &str| folder.join(with_home(text.trim()));
        match &self.question.asked {
            AnswerKind::Files { .. } => {
                let paths: Vec<_> = typed.split(';').filter(|part| !part.trim().is_empty()).map(path_of).collect();
                match paths.iter().find(|path| !path.exists()) {
                    Some(missing) => Err(NoAnswer::Missing(missing.clone())),
                    None => Ok(ChosenPaths { paths, replaces: false }),
                }
            }
            AnswerKind::Address { .. } => {
                let paths = vec![PathBuf::from(typed)];
                SourceSpec::from_paths(&paths)?;
                Ok(ChosenPaths { paths, replaces: false })
            }
            AnswerKind::Folder => {
                let path = path_of(typed);
                if path.is_file() {
                    return Err(NoAnswer::IsFile(path));
                }
                Ok(ChosenPaths { paths: vec![path], replaces: false })
            }
            AnswerKind::NewFile { endings, .. } => {
                let path = with_ending(path_of(typed), endings);
                match path.parent() {
                    Some(parent) if !parent.is_dir() => Err(NoAnswer::NoFolder(parent.to_owned())),
                    _ if path.is_dir() => Err(NoAnswer::IsFolder(path)),
                    _ => Ok(ChosenPaths { replaces: path.symlink_metadata().is_ok(), paths: vec![path] }),
                }
            }
        }
    }
}

/// Returns the path, with the first ending added if it has none of these.
pub(crate) fn with_ending(path: PathBuf, endings: &[&str]) -> PathBuf {
    let has_one = path.extension().is_some_and(|own| endings.iter().any(|ending| own.eq_ignore_ascii_case(ending)));
    match endings.first() {
        Some(first) if !has_one => path.with_added_extension(first),
        _ => path,
    }
}

/// Expands a leading `~` to the user's folder.
fn with_home(text: &str) -> PathBuf {
    let home = text.strip_prefix("~/").zip(std::env::home_dir());
    home.map_or_else(|| PathBuf::from(text), |(rest, home)| home.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(asked: AnswerKind, text: &str) -> TypedPath {
        let question = Question { title: "A file", asked };
        TypedPath { text: text.into(), ..TypedPath::new(question, Path::new("")) }
    }

    #[test]
    fn typed_path_is_an_answer_or_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("points.ply");
        std::fs::write(&there, "x").unwrap();
        let new_file = || AnswerKind::NewFile { name: "points.ply".into(), kind: "Points", endings: &["ply"] };
        let chosen = |asked, text| typed(asked, text).chosen(folder.path());
        let answer = chosen(new_file(), "other").unwrap();
        assert_eq!(answer, ChosenPaths { paths: vec![folder.path().join("other.ply")], replaces: false });
        assert!(chosen(new_file(), " points.PLY ").is_ok_and(|answer| !answer.replaces || cfg!(windows)));
        assert!(chosen(new_file(), "points").is_ok_and(|answer| answer.replaces), "with its ending it exists");
        assert!(
            chosen(new_file(), "missing/points.ply")
                .is_err_and(|why| why.to_string().contains("missing does not exist"))
        );
        let files = || AnswerKind::Files { kind: "Points", endings: &["ply"] };
        let two = format!("points.ply; {}", there.display());
        assert!(chosen(files(), &two).is_ok_and(|answer| answer.paths == [there.clone(), there.clone()]));
        assert!(chosen(files(), "none.ply").is_err_and(|why| why.to_string().ends_with("none.ply does not exist")));
        assert!(chosen(files(), "  ").is_err());
        assert!(chosen(AnswerKind::Folder, "points.ply").is_err_and(|why| why.to_string().contains("is a file")));
        assert!(chosen(AnswerKind::Folder, "new").is_ok(), "a folder is made when it is needed");
    }
}
