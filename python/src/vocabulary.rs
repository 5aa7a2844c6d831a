//! Words of Python: an option is a keyword argument.

use std::fmt;
use stereopsis::inside::{Part, Vocabulary};

/// Words of Python.
pub struct Python;

impl Vocabulary for Python {
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name.replace('-', "_"))?;
        value.map_or(Ok(()), |value| write!(f, "={value}"))
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
