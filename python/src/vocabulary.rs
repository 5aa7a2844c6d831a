//! Words of Python: an option is a keyword argument.

use std::fmt;
use stereopsis::inside::Vocabulary;

/// Words of Python.
pub struct Python;

impl Vocabulary for Python {
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name.replace('-', "_"))?;
        value.map_or(Ok(()), |value| write!(f, "={value}"))
    }
}
