//! Results as files for other tools: disparity, depth, points, pictures, figures.

use stereopsis_base::parameter::choices;
use stereopsis_base::{console, files, geometry, image};
#[cfg(test)]
use stereopsis_calibration as calibration;
use stereopsis_stereo as stereo;

mod cloud;
pub mod colormap;
mod disparity;
#[cfg(feature = "figures")]
mod figures;
mod file;
mod picture;
pub mod reach;
mod snapshot;
#[cfg(test)]
mod fixture;

pub use cloud::{CloudShape, CloudSize, MAX_STEP_PX, cloud_bytes, write_cloud};
pub use disparity::{check_disparity_name, write_depth_mm, write_disparity, write_disparity_px, write_millimetres};
#[cfg(feature = "figures")]
pub use figures::{
    Curve, Curves, Place, PreviewOptions, TradeOff, check_figure_name, write_curves, write_preview, write_reach,
    write_trade_off,
};
pub use file::ExportError;
pub use picture::colors_of;
pub use picture::{write_color, write_confidence, write_errors, write_picture};
pub use snapshot::{describe, snapshot};
