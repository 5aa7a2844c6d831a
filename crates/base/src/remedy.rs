//! Remedies as data: what a person can do about a fault, which each face writes in its own words.
//!
//! Crates below the faces know facts. Where their message advises something, it names options and commands by a [`Remedy`], and the face in
//! use writes them: the command line as `--p2 146`, the window by the label of a slider, Python as `p2=146`. A face gives its
//! [`Vocabulary`] once, when it begins ([`speak`]).

use parking_lot::RwLock;
use std::borrow::Cow;
use std::fmt;

/// Something that a person can do about a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Choosing an option, whatever its value: `scale`.
    Option(Cow<'static, str>),
    /// Setting an option to this value: `rectify`, `auto`.
    Set(Cow<'static, str>, String),
    /// Running a command of the program.
    Run(Vec<Part>),
}

/// Part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Word as it is: the command, a file, a value.
    Word(String),
    /// Option of the command.
    Option(&'static str),
}

/// Words of a face for remedies.
pub trait Vocabulary: Sync {
    /// Writes an option, with its value if the remedy has one.
    ///
    /// # Errors
    /// The formatter's.
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Writes a command as for a terminal, in back ticks.
    ///
    /// # Errors
    /// The formatter's.
    fn command(&self, parts: &[Part], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`stereopsis")?;
        for part in parts {
            match part {
                Part::Word(word) => write!(f, " {word}")?,
                Part::Option(name) => {
                    f.write_str(" ")?;
                    flag(name, f)?;
                }
            }
        }
        f.write_str("`")
    }
}

/// Writes the flag of an option; that of the output is named by its letter everywhere.
///
/// # Errors
/// The formatter's.
pub fn flag(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if name == "output" { f.write_str("-o") } else { write!(f, "--{name}") }
}

/// Words of a program that uses the crates as a library: those of settings and their files.
struct Plain;

impl Vocabulary for Plain {
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name)?;
        value.map_or(Ok(()), |value| write!(f, " {value}"))
    }

    fn command(&self, parts: &[Part], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |part: &Part| match part {
            Part::Word(word) => word.clone(),
            Part::Option(name) => (*name).to_owned(),
        };
        f.write_str(&parts.iter().map(word).collect::<Vec<_>>().join(" "))
    }
}

static SPOKEN: RwLock<&'static dyn Vocabulary> = RwLock::new(&Plain);

/// Makes messages use the words of a face from now on, in the whole process.
pub fn speak(face: &'static dyn Vocabulary) {
    *SPOKEN.write() = face;
}

impl Remedy {
    /// Creates the remedy that sets an option to a value.
    pub fn set(name: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        Self::Set(name.into(), value.to_string())
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let face = *SPOKEN.read();
        match self {
            Self::Option(name) => face.option(name, None, f),
            Self::Set(name, value) => face.option(name, Some(value), f),
            Self::Run(parts) => face.command(parts, f),
        }
    }
}

/// Writes an option in the words of the face in use, within a message.
pub fn option(name: impl Into<Cow<'static, str>>) -> Remedy {
    Remedy::Option(name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_face_options_have_the_words_of_settings() {
        assert_eq!(option("min-disparity").to_string(), "min-disparity");
        assert_eq!(Remedy::set("p2", 146).to_string(), "p2 146");
        let parts = vec![Part::Word("recompute".into()), Part::Option("streams"), Part::Word("raw".into())];
        assert_eq!(Remedy::Run(parts).to_string(), "recompute streams raw");
    }
}
