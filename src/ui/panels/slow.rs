//! Says that pairs are left out because the matcher is slow, with what would help as buttons.

use crate::ui::session::Session;
use egui::{RichText, Ui};

/// Shows the line; its caller asks [`crate::ui::session::Slowness::is_slow`] first.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) {
    let status = &session.status;
    let text = format!(
        "Too slow: matching takes {:.0} ms, so {:.0} of {:.0} pairs a second are left out.",
        session.pair_ms(),
        status.captured_hz - status.computed_hz,
        status.captured_hz
    );
    ui.horizontal(|ui| {
        ui.label(RichText::new(text).color(ui.visuals().warn_fg_color));
        for (cure, expected_hz) in session.cures() {
            let label = match expected_hz {
                Some(hz) => format!("{}: about {hz:.0}/s", cure.label()),
                None => cure.label().to_owned(),
            };
            if ui.button(label).clicked() {
                session.cure(cure);
            }
        }
    });
}
