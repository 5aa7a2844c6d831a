//! Figures as files: distances in the search range of a rig, settings tried by a search, and the preview of a live view.

mod figure;
mod panel;
mod preview;
mod scale;
mod text;
mod trade_off;

pub use figure::{Drawing, FONT, INK, check_figure_name, write_figure, write_reach};
pub use preview::write_preview;
pub use trade_off::{Place, TradeOff, write_trade_off};
