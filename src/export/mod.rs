//! Results as files for other tools: disparity, depth, points, pictures, figures.

mod cloud;
#[cfg(feature = "window")]
mod curves;
mod disparity;
#[cfg(feature = "window")]
mod figure;
mod file;
#[cfg(feature = "window")]
mod panel;
mod picture;
#[cfg(feature = "window")]
mod preview;
#[cfg(feature = "window")]
mod scale;
#[cfg(feature = "window")]
mod snapshot;
#[cfg(feature = "window")]
mod text;
#[cfg(feature = "window")]
mod trade_off;
#[cfg(test)]
mod fixture;

#[cfg(test)]
pub use cloud::MAX_STEP_PX;
pub use cloud::{CloudShape, CloudSize, cloud_bytes, write_cloud};
#[cfg(feature = "window")]
pub use curves::{Curve, Curves, write_curves};
pub use disparity::{check_disparity_name, write_depth_mm, write_disparity, write_disparity_px, write_millimetres};
#[cfg(feature = "window")]
pub use figure::{check_figure_name, write_reach};
pub use file::ExportError;
pub(crate) use picture::colors_of;
pub use picture::{write_color, write_confidence, write_errors, write_picture};
#[cfg(feature = "window")]
pub use preview::{PreviewOptions, write_preview};
#[cfg(feature = "window")]
pub use snapshot::{describe, snapshot};
#[cfg(feature = "window")]
pub use trade_off::{Place, TradeOff, write_trade_off};
