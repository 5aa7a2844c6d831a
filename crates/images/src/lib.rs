//! Image files, both ways: pairs and their truth read from files of any kind, and results written for other tools (disparity, depth,
//! points, images, snapshots) or as bytes for the window's shaders.

mod cloud;
pub mod colormap;
pub mod decode;
mod disparity;
mod error;
mod file;
mod mpo;
mod picture;
pub mod picture_files;
pub mod reach;
pub mod screen;
mod snapshot;
mod stereo_view;
pub mod fixture;

pub use cloud::{Axes, CloudShape, CloudSize, MAX_STEP_PX, cloud_bytes, cloud_size, write_cloud};
pub use disparity::{
    check_depth_name, check_disparity_name, write_depth, write_depth_m, write_disparity, write_disparity_px,
    write_millimetres,
};
pub use error::PictureError;
pub use file::{Endings, ExportError};
pub use picture::{colors_of, png_with_texts, write_color, write_confidence, write_errors, write_picture, write_rgb};
pub use snapshot::{describe, snapshot};
pub use stereo_view::{StereoView, write_stereo_view};
