//! Words of the window: an option has the label of its control.

use std::fmt;
use stereopsis_base::remedy::Vocabulary;
use stereopsis_stereo::StereoParams;

/// Words of the window.
pub(crate) struct Window;

impl Vocabulary for Window {
    fn option(&self, name: &str, value: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match StereoParams::parameter(name) {
            Some(parameter) => f.write_str(parameter.label)?,
            None => f.write_str(&name.replace('-', " "))?,
        }
        value.map_or(Ok(()), |value| write!(f, " {value}"))
    }
}
