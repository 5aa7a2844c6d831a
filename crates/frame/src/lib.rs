//! Core types: pairs and frames, the sources that deliver them, and the engines that match them.
//!
//! A [`PairSource`] delivers [`RawPair`]s, [`FramePreparation`] makes [`Frame`]s of them, and an [`engine::Engine`] matches these. Taps
//! observe pairs, frames and results.

mod camera_options;
pub mod decode_camera;
pub mod engine;
mod error;
pub mod jpeg;
mod mask;
mod max_pixels;
mod orientation;
mod original;
pub mod pace;
mod pair;
pub mod pairing;
mod pair_source;
mod pixels;
pub mod picture_file;
pub mod player;
mod preparation;
mod rows;
pub mod scale;
mod side;
pub mod source;
mod source_options;
pub mod stamps;
mod taps;
mod transport;

pub use camera_options::{CameraApi, CameraOptions, ControlSettings, Orientation, PowerLine, Setting, ViewOptions};
pub use error::{CaptureError, Cause};
pub use mask::{Masks, SCENE};
pub use max_pixels::{MaxPixels, TooManyPixels};
pub use original::{EncodedImage, Original, StereoLayout, doubtful_arrangement, halves, split};
pub use pair::{Frame, RawPair, Recorded};
pub use pair_source::{CameraState, NamedLens, Next, PairSource, Skew, SourceInfo, SourceState};
pub use pixels::Pixels;
pub use preparation::FramePreparation;
pub use rows::{FrameRows, RowCorrection};
pub use scale::Scale;
pub use side::Side;
pub use source::{CameraName, SourceSpec, VideoInput};
pub use source_options::{Arrangement, PairBy, SceneOptions, SceneWorld, SourceOptions, TopicChoice};
pub use taps::{FrameTap, RawTap, ResultTap, Taps, Wake};
pub use transport::{Playing, Speed, Transport};
