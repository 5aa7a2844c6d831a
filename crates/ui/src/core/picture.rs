//! Choices for saved images, and the requested image.

use crate::style::Ground;
use crate::view::ViewKind;
use egui::ColorImage;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use stereopsis_base::parameter::choices;

/// Scales on offer: pixels of the file for each pixel of a view, or for each point of a figure.
pub(crate) const SCALES: RangeInclusive<u32> = 1..=8;

choices! {
    /// Format of images.
    pub enum PictureFormat {
        /// Pixels, for every view and figure.
        Png = "PNG",
        /// Lines and text that can be edited and enlarged, for figures.
        Svg = "SVG",
    }
}

/// View or figure that can be saved as an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    View(ViewKind),
    /// Costs and sums of the explained pixel over disparity.
    Costs,
    /// Map of a sweep.
    Sweep,
    /// Quality against time of the settings tried by a search.
    Search,
    /// Distance and its error over disparity.
    Reach,
}

impl Figure {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::View(view) => view.word(),
            Self::Costs => "cost over disparity",
            Self::Sweep => "sweep",
            Self::Search => "quality against time",
            Self::Reach => "distance and error",
        }
    }

    /// Returns whether the figure consists of lines and text.
    pub(crate) fn is_drawing(self) -> bool {
        !matches!(self, Self::View(_))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PictureChoices {
    #[serde(rename = "picture-format")]
    pub(crate) format: PictureFormat,
    #[serde(rename = "picture-scale")]
    pub(crate) scale: u32,
    #[serde(rename = "picture-ground")]
    pub(crate) ground: Ground,
    /// Folder of the files; `None` for the folder of snapshots.
    #[serde(rename = "picture-folder")]
    pub(crate) folder: Option<PathBuf>,
}

impl Default for PictureChoices {
    fn default() -> Self {
        Self { format: PictureFormat::Png, scale: 1, ground: Ground::Light, folder: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    File,
    Clipboard,
}

#[derive(Default)]
pub(crate) struct PictureState {
    pub(crate) choices: PictureChoices,
    /// View or figure of the page; `None` for the large view.
    pub(crate) chosen: Option<Figure>,
    /// Image to draw with the next frame.
    pub(crate) wanted: Option<(Figure, Destination)>,
    /// Image to copy to the clipboard with the next frame.
    pub(crate) copied: Option<ColorImage>,
}

impl PictureState {
    pub(crate) fn new(choices: PictureChoices) -> Self {
        Self { choices, ..Self::default() }
    }
}
