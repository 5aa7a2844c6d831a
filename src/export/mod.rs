//! Results as files for other tools: disparity, depth, points, pictures, figures.

mod cloud;
mod disparity;
#[cfg(feature = "window")]
mod figures;
mod file;
mod picture;
#[cfg(feature = "window")]
mod snapshot;
#[cfg(test)]
mod fixture;

#[cfg(test)]
pub use cloud::MAX_STEP_PX;
pub use cloud::{CloudShape, CloudSize, cloud_bytes, write_cloud};
pub use disparity::{check_disparity_name, write_depth_mm, write_disparity, write_disparity_px, write_millimetres};
#[cfg(feature = "window")]
pub use figures::{
    Curve, Curves, Place, PreviewOptions, TradeOff, check_figure_name, write_curves, write_preview, write_reach,
    write_trade_off,
};
pub use file::ExportError;
pub(crate) use picture::colors_of;
pub use picture::{write_color, write_confidence, write_errors, write_picture};
#[cfg(feature = "window")]
pub use snapshot::{describe, snapshot};
