//! Options of sources, as plain data with the same words on the command line, in rig files and in the window.

use super::{CameraOptions, CaptureError, MaxPixels, Pixels, Speed};
use std::path::PathBuf;
use std::time::Duration;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::parameter::choices;

/// Options of sources beside the words of `--source`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceOptions {
    /// Size per view, px: of the scene, or requested from a camera; files have their own.
    pub size: Option<(usize, usize)>,
    /// Rate, Hz: of scene and files, or requested from a camera. `None` for no limit, or for the camera's default.
    pub rate_hz: Option<f64>,
    /// Whether files and recordings restart at the end.
    pub looped: bool,
    /// Whether the use is interactive: a recording stays open at its end so that the user can seek, and its pairs have their recorded
    /// results; a folder is held at its start and played like a recording; a single pair is delivered once.
    pub watched: bool,
    /// Speed of playback of recordings and watched folders. Standard input has no speed; [`Speed::Max`] reads all of it.
    pub speed: Speed,
    /// Start time of recordings, from their first pair on.
    pub start_at: Duration,
    /// Topics of a foreign recording that hold the views.
    pub topics: TopicChoice,
    /// Arrangement of both views in each image of files, or of [`TopicChoice::both`]; `None` for one image per view.
    pub both_views: Option<Arrangement>,
    /// Whether left and right are exchanged after the source: a film that states their order is then taken as the user says.
    pub swapped_views: bool,
    /// Time by which the right one of two videos began after the left one, s; negative: before it.
    pub right_shift_s: f64,
    /// Whether the views of files may have two sizes, because a calibration of both cameras brings them into one.
    pub two_sizes: bool,
    /// Limit on the size of images from files and recordings.
    pub max_pixels: MaxPixels,
    /// Parts of images that are decoded: brightness alone, or colours too.
    pub pixels: Pixels,
    /// Whether the camera of `webcam:N` shows one view instead of both side by side, for a head of one camera.
    pub one_view: bool,
    /// Options of cameras.
    pub cameras: CameraOptions,
    /// Configuration of Zenoh for rigs on the network: certificates, access rules.
    pub zenoh_config: Option<PathBuf>,
    /// Rig and appearance of the scene; [`SourceOptions::size`] takes precedence over its size.
    pub scene: SceneOptions,
}

choices! {
    /// Arrangement of both views in one image.
    pub enum Arrangement {
        /// The left view is in the left half.
        SideBySide = "side-by-side",
        /// The left view is in the upper half.
        TopBottom = "top-bottom",
    }
}

/// User's choice of topics for the views, and of the pairing of their images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicChoice {
    /// Topic of the left view.
    pub left: Option<String>,
    /// Topic of the right view.
    pub right: Option<String>,
    /// Topic of side-by-side images, the left view in the left half.
    pub both: Option<String>,
    /// Times by which the images of both topics are paired.
    pub pair_by: PairBy,
}

choices! {
    /// Times by which a foreign recording's images of two topics are paired.
    pub enum PairBy, default Stamp {
        /// When they were taken, as their cameras say.
        Stamp = "stamp",
        /// When they were recorded: for cameras whose clocks differ.
        LogTime = "log-time",
    }
}

impl TopicChoice {
    /// Whether no topic is chosen.
    pub fn is_default(&self) -> bool {
        [&self.left, &self.right, &self.both].iter().all(|topic| topic.is_none())
    }
}

choices! {
    /// World of the scene.
    pub enum SceneWorld {
        /// A furnished room in which some things move.
        Room = "room",
        /// Solids drawn at random, many of them without texture; nothing moves.
        Random = "random",
    }
}

/// Options of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneOptions {
    /// Width of each view, px.
    pub width: usize,
    /// Height of each view, px.
    pub height: usize,
    /// Baseline, m.
    pub baseline_m: f64,
    /// World that the cameras see.
    pub world: SceneWorld,
    /// Seed of positions and textures.
    pub seed: u32,
    /// Standard deviation of the sensor noise, grey levels of 8 bits.
    pub noise: f64,
    /// Ratio of the right image's brightness to the left one's.
    pub exposure: f64,
    /// Vertical offset of the right image, px (positive: lower); imitates imperfect rectification.
    pub vertical_px: f64,
    /// Number of frames until all motion repeats; with more frames, motion is slower.
    pub loop_frames: u32,
}

/// Fault of the scene's options.
#[derive(Debug, thiserror::Error)]
enum SceneError {
    #[error("a scene of {0}x{1} pixels: choose 1x1 to 8192x8192")]
    Size(usize, usize),
    #[error("the scene's baseline and exposure are positive, its noise is not negative")]
    Numbers,
}

impl Default for SceneOptions {
    /// Returns 640x480 with disparities from about 6 to 58 px.
    fn default() -> Self {
        Self {
            width: 640,
            height: 480,
            baseline_m: 0.065,
            world: SceneWorld::Room,
            seed: 1,
            noise: 0.0,
            exposure: 1.0,
            vertical_px: 0.0,
            loop_frames: 90,
        }
    }
}

impl SceneOptions {
    /// Returns the rig of the scene.
    pub fn geometry(&self) -> Geometry {
        Geometry::centred(0.9 * self.width as f64, self.baseline_m, 0.0, (self.width, self.height))
    }

    /// Checks the ranges of the options.
    ///
    /// # Errors
    /// A number is out of its range.
    pub fn check(&self) -> Result<(), CaptureError> {
        let Self { width, height, baseline_m, noise, exposure, .. } = *self;
        if width == 0 || height == 0 || width.saturating_mul(height) > 1 << 26 {
            return Err(CaptureError::Grammar(SceneError::Size(width, height).into()));
        }
        let sane = |v: f64| v.is_finite() && v > 0.0;
        if !sane(baseline_m) || !sane(exposure) || !noise.is_finite() || noise < 0.0 {
            return Err(CaptureError::Grammar(SceneError::Numbers.into()));
        }
        Ok(())
    }
}
