//! Words of the command line: an option is a flag, a command stands in back ticks.

use std::fmt;
use stereopsis_base::remedy::{Part, Vocabulary};

/// Words of the command line.
pub(super) struct CommandLine;

impl Vocabulary for CommandLine {
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{name}")?;
        value.map_or(Ok(()), |value| write!(f, " {value}"))
    }

    fn command(&self, parts: &[Part], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`stereopsis")?;
        for part in parts {
            match part {
                Part::Word(word) => write!(f, " {word}")?,
                Part::Option(name) => write!(f, " --{name}")?,
            }
        }
        f.write_str("`")
    }
}
