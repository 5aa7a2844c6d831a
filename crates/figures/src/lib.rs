//! Figures as files: curves, distances in the search range of a rig, settings tried by a search, and the preview of a live view.

mod curves;
mod figure;
mod panel;
mod preview;
mod scale;
mod text;
mod trade_off;

pub use curves::{Curve, Curves, write_curves};
pub use figure::{check_figure_name, write_reach};
pub use preview::{PreviewOptions, write_preview};
pub use trade_off::{Place, TradeOff, write_trade_off};
