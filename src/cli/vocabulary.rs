//! Words of the command line: an option is a flag, a command stands in back ticks.

use std::fmt;
use stereopsis_base::remedy::{Part, Vocabulary};

/// Words of the command line.
pub(super) struct CommandLine;

impl Vocabulary for CommandLine {
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        flag(name, f)?;
        value.map_or(Ok(()), |value| write!(f, " {value}"))
    }

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

/// Writes the flag of an option; that of the output is short everywhere.
fn flag(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if name == "output" { f.write_str("-o") } else { write!(f, "--{name}") }
}
