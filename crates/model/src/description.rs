//! Conventions of a model's inputs and output, in a text file beside it that the user may change.

use crate::brightness::Brightness;
use crate::error::{MAX_EXTENT, ModelError};
use crate::loaded::LoadedModel;
use crate::values::{Port, Signature};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use stereopsis_base::{choices, files};

/// Conventions of a model's inputs and output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Description {
    /// Name of the input of the left image.
    pub left: String,
    /// Name of the input of the right image. If it is the same, the channels of the left image come first.
    pub right: String,
    /// Whether the right image comes first in the one input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub swapped: bool,
    /// Channels of an image.
    pub colors: Colors,
    /// Brightness that the model expects.
    pub brightness: Brightness,
    /// Width of the images, px, if it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// Height of the images, px, if it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<usize>,
    /// Divisor of width and height where they are not fixed, px.
    #[serde(default = "default_multiple")]
    pub multiple: usize,
    /// Name of the output with the disparity.
    pub output: String,
    /// Disparity at the width of the input, px, for 1 in the output; negative for right minus left.
    #[serde(default = "default_scale")]
    pub scale: f32,
    /// Largest disparity that the model finds at the width of its input, px, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_disparity: Option<usize>,
    /// Licence of the weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
}

/// Divisor of the size that most models with a pyramid of features need.
const USUAL_MULTIPLE: usize = 32;

const fn default_multiple() -> usize {
    USUAL_MULTIPLE
}

const fn default_scale() -> f32 {
    1.0
}

choices! {
    /// Channels of an image.
    pub enum Colors {
        /// Red, green, blue.
        Rgb = "rgb",
        /// Blue, green, red.
        Bgr = "bgr",
        /// Luma.
        Grey = "grey",
    }
}

/// Returns the path of the description of a model: its own with the ending `.toml`.
pub fn path_beside(model: &Path) -> PathBuf {
    model.with_extension("toml")
}

impl Description {
    /// Reads the description beside a model; `None` if there is none.
    ///
    /// # Errors
    /// The file cannot be read, or is no description; the error has the line.
    pub fn beside(model: &Path) -> Result<Option<Self>, ModelError> {
        let path = path_beside(model);
        if !path.exists() {
            return Ok(None);
        }
        let text = files::plain::read_text(&path).map_err(ModelError::read(&path));
        let description = text.and_then(|text| Self::of_text(&text));
        description.map(Some).map_err(|err| ModelError::Description(path, Box::new(err)))
    }

    /// Returns the description beside an open model, or guesses it.
    ///
    /// # Errors
    /// Errors of [`Self::beside`] and [`Self::guess`].
    pub(crate) fn of_model(file: &Path, model: &LoadedModel) -> Result<Self, ModelError> {
        let guess = || Self::guess(model.signature()).map_err(|err| err.of_file(file));
        Self::beside(file)?.map_or_else(guess, Ok)
    }

    /// Parses a description.
    ///
    /// # Errors
    /// The text is no description; the error has the line.
    pub fn of_text(text: &str) -> Result<Self, ModelError> {
        let description: Self = toml::from_str(text).map_err(|err| ModelError::Syntax(err.into()))?;
        let extents =
            [("width", description.width), ("height", description.height), ("multiple", Some(description.multiple))];
        for (name, extent) in extents {
            if extent.is_some_and(|px| !(1..=MAX_EXTENT).contains(&px)) {
                return Err(ModelError::Extent(name));
            }
        }
        if description.width.is_some() != description.height.is_some() {
            return Err(ModelError::OneExtent);
        }
        if !(description.scale.is_finite() && description.scale != 0.0) {
            return Err(ModelError::Scale);
        }
        Ok(description)
    }

    /// Formats the description as the text of its file.
    pub fn to_text(&self) -> String {
        let table = toml::to_string(self).unwrap_or_default();
        format!("# Conventions of the model beside this file: see the page \"Learned matchers\" of Stereopsis\n{table}")
    }

    /// Guesses the conventions from names and shapes. Order, brightness and scale are the most frequent ones; `inspect` tests them.
    ///
    /// # Errors
    /// The model does not take two images, or gives nothing of the shape of a map.
    pub fn guess(signature: &Signature) -> Result<Self, ModelError> {
        let no_pair = || ModelError::NoPair(signature.inputs.clone());
        let channels = |port: &Port| match port.extents[..] {
            [None | Some(1), channels, ..] if port.extents.len() == 4 => Some(channels),
            _ => None,
        };
        let of_count = |count: Option<usize>| match count {
            None | Some(3) => Some(Colors::Rgb),
            Some(1) => Some(Colors::Grey),
            Some(_) => None,
        };
        let (left, right, colors) = match &signature.inputs[..] {
            [both] => {
                let count = channels(both).ok_or_else(no_pair)?;
                let is_even = count.is_none_or(|count| count % 2 == 0);
                let colors = of_count(count.map(|count| count / 2)).filter(|_| is_even).ok_or_else(no_pair)?;
                (both, both, colors)
            }
            [one, other] => {
                let counts = channels(one).zip(channels(other)).ok_or_else(no_pair)?;
                let colors = of_count(counts.0).filter(|_| counts.0 == counts.1).ok_or_else(no_pair)?;
                let is_swapped = is_of(&one.name, "right") || is_of(&other.name, "left");
                if is_swapped { (other, one, colors) } else { (one, other, colors) }
            }
            _ => return Err(no_pair()),
        };
        let (width, height) = left.extents[3].zip(left.extents[2]).unzip();
        let output = disparity_output(signature)?;
        Ok(Self {
            left: left.name.clone(),
            right: right.name.clone(),
            swapped: false,
            colors,
            brightness: Brightness::Bytes,
            width,
            height,
            multiple: USUAL_MULTIPLE,
            output: output.name.clone(),
            scale: 1.0,
            max_disparity: None,
            license: signature.license.clone(),
        })
    }
}

fn is_of(name: &str, word: &str) -> bool {
    name.to_lowercase().contains(word)
}

/// Returns the output with the disparity: the last one with that name, else the last one of the shape of a map that is no confidence.
fn disparity_output(signature: &Signature) -> Result<&Port, ModelError> {
    let is_map = |port: &&Port| {
        let is_single = |extent: &Option<usize>| matches!(extent, None | Some(1 | 2));
        port.extents.len() >= 2 && port.extents[..port.extents.len() - 2].iter().all(is_single)
    };
    let maps: Vec<_> = signature.outputs.iter().filter(is_map).collect();
    let named = maps.iter().rev().find(|port| is_of(&port.name, "disp") || is_of(&port.name, "flow"));
    let beside = ["conf", "occ", "mask", "prob", "uncert"];
    let other = maps.iter().rev().find(|port| !beside.iter().any(|word| is_of(&port.name, word)));
    named.or(other).copied().ok_or_else(|| ModelError::NoMap(signature.outputs.clone()))
}
