//! Words of the command line: an option is a flag.

use std::fmt;
use stereopsis_base::remedy::{Vocabulary, flag};

/// Words of the command line.
pub(super) struct CommandLine;

impl Vocabulary for CommandLine {
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        flag(name, f)?;
        value.map_or(Ok(()), |value| write!(f, " {value}"))
    }
}
