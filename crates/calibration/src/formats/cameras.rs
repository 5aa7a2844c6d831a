//! Choice of two cameras in a file of several.

use super::error::two_cameras;
use super::{FileError, LoadOptions, names};
use std::fmt;
use std::str::FromStr;
use stereopsis_base::console::foreign;

/// Largest number of cameras named in an error.
const MAX_NAMED: usize = 20;

/// Names or numbers of the left and the right camera.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cameras([String; 2]);

impl Cameras {
    /// Finds both cameras among those with names; the first name of each is for display.
    ///
    /// # Errors
    /// There is no camera of that name.
    pub(super) fn among<'a, T>(&self, known: &'a [(Vec<String>, T)]) -> Result<[&'a T; 2], FileError> {
        let [left, right] = &self.0;
        let find = |wanted: &str| {
            let camera = known.iter().find(|(names, _)| names.iter().any(|name| is_same(name, wanted)));
            camera
                .map(|(_, camera)| camera)
                .ok_or_else(|| FileError::NoSuchCamera { wanted: wanted.to_owned(), known: listed(known) })
        };
        Ok([find(left)?, find(right)?])
    }
}

/// Chooses two cameras of a file: those of the options, else those named left and right, else the first two, with a doubt where there are
/// more. The first name of each is for display.
pub(super) fn pair<'a, T>(
    known: &'a [(Vec<String>, T)],
    options: &LoadOptions,
) -> Result<([&'a T; 2], Option<String>), FileError> {
    if let Some(chosen) = &options.cameras {
        return Ok((chosen.among(known)?, None));
    }
    // the only camera whose name contains a word
    let named = |word: &str| {
        let has = |name: &String| names::plain(name).contains(word);
        let mut found = known.iter().filter(|(names, _)| names.iter().any(has));
        found.next().filter(|_| found.next().is_none()).map(|(_, camera)| camera)
    };
    if let (Some(left), Some(right)) = (named("left"), named("right")) {
        return Ok(([left, right], None));
    }
    let [(left_names, left), (right_names, right), others @ ..] = known else {
        return Err(FileError::CameraCount { count: known.len(), known: listed(known) });
    };
    let shown = |names: &[String]| names.first().map_or_else(String::new, |name| foreign(name));
    let doubt = (!others.is_empty()).then(|| {
        format!(
            "it has the cameras {}: {} is taken as left and {} as right; for others give {}",
            listed(known),
            shown(left_names),
            shown(right_names),
            two_cameras()
        )
    });
    Ok(([left, right], doubt))
}

/// Whether two names are equal, in any case, or as numbers.
fn is_same(name: &str, wanted: &str) -> bool {
    let as_number = |text: &str| text.parse::<u32>().ok();
    name.eq_ignore_ascii_case(wanted) || as_number(name).is_some_and(|number| as_number(wanted) == Some(number))
}

pub(super) fn listed<T>(known: &[(Vec<String>, T)]) -> String {
    let names: Vec<_> = known.iter().filter_map(|(names, _)| names.first()).map(|name| foreign(name)).collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        [most @ .., last] if !most.is_empty() && names.len() <= MAX_NAMED => format!("{} and {last}", most.join(", ")),
        _ => names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", "),
    }
}

/// Error of a word that is no choice of two cameras.
#[derive(Debug, thiserror::Error)]
#[error("expected the left and the right camera of the file, such as 2,3")]
pub struct CamerasError;

impl FromStr for Cameras {
    type Err = CamerasError;

    fn from_str(text: &str) -> Result<Self, CamerasError> {
        match text.split_once(',').map(|(left, right)| (left.trim(), right.trim())) {
            Some((left, right)) if !left.is_empty() && !right.is_empty() && left != right && !right.contains(',') => {
                Ok(Self([left.to_owned(), right.to_owned()]))
            }
            _ => Err(CamerasError),
        }
    }
}

impl fmt::Display for Cameras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right] = &self.0;
        write!(f, "{left},{right}")
    }
}

stereopsis_base::parameter::stands_as_its_word!(Cameras);
