//! Results as files for other tools: disparity, depth, points, pictures, figures.

mod cloud;
mod curves;
mod disparity;
mod figure;
mod file;
mod panel;
mod picture;
mod preview;
mod scale;
mod snapshot;
mod text;
mod trade_off;
#[cfg(test)]
mod fixture;

#[cfg(test)]
pub use cloud::MAX_STEP_PX;
pub use cloud::{CloudShape, CloudSize, cloud_bytes, write_cloud};
pub use curves::{Curve, Curves, write_curves};
pub use disparity::{check_disparity_name, write_depth_mm, write_disparity, write_disparity_px, write_millimetres};
pub use figure::{check_figure_name, write_reach};
pub use file::ExportError;
pub(crate) use picture::colors_of;
pub use picture::{write_color, write_confidence, write_errors, write_picture};
pub use preview::{PreviewOptions, write_preview};
pub use snapshot::{describe, snapshot};
pub use trade_off::{Place, TradeOff, write_trade_off};
