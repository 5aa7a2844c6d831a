//! Update of the core once per frame of the window.

use super::{Core, NARROW_WIDTH, Theme, recording, rig};
use std::time::Instant;
use stereopsis_frame::SourceSpec;

impl Core {
    /// Polls the pipeline and the remote clients without waiting; once per frame of the window.
    pub(crate) fn update(&mut self, now: Instant) {
        let before = std::mem::replace(&mut self.pipeline.status, self.live.status());
        rig::controls::restore_controls(self, &before.cameras);
        rig::commands::update_sides(self);
        self.note_lost_cameras(now);
        recording::commands::update(self);
        self.search_device(now);
        self.matching.load.update(&self.pipeline.status, now);
        self.exchange_with_remote();
        self.update_errors();
        self.update_previews();
        self.notices.remove_expired(now);
        self.pipeline.playback = self.live.transport().map(|transport| transport.get());
        if let Some(output) = self.live.latest().filter(|_| self.unreadable().is_none()) {
            self.take_output(output, now);
        }
        self.pipeline.shown_hz = self.shown.per_second(now);
    }

    /// Adapts to the window's width and to the user's theme and text size; once per frame.
    pub(crate) fn fit_window(&mut self, ctx: &egui::Context) {
        let view = &mut self.view;
        view.is_narrow = ctx.content_rect().width() < NARROW_WIDTH;
        view.text_zoom = ctx.zoom_factor(); // egui's own keys change it
        let viewport = ctx.input(|i| i.viewport().clone());
        if let Some(inner) =
            viewport.inner_rect.filter(|_| viewport.fullscreen != Some(true) && viewport.maximized != Some(true))
        {
            view.window_size = [inner.width(), inner.height()];
        }
        ctx.set_theme(match view.theme {
            Theme::System => egui::ThemePreference::System,
            Theme::Dark => egui::ThemePreference::Dark,
            Theme::Light => egui::ThemePreference::Light,
        });
    }

    /// Shows each error once when it begins; a dismissed one returns only if it ends and begins again.
    pub(crate) fn update_errors(&mut self) {
        let status = self.status();
        // missing memory has a message with remedies
        let too_large = status.engine.too_large.as_ref();
        let mut errors: Vec<_> = status.errors.iter().filter(|error| Some(*error) != too_large).cloned().collect();
        if matches!(self.source.spec, SourceSpec::Recording(_)) {
            errors.extend(status.cameras.remarks.iter().cloned()); // damage of the file
        }
        for ended in self.errors_shown.iter().filter(|error| !errors.contains(error)) {
            self.notices.retract(ended);
        }
        for begun in errors.iter().filter(|error| !self.errors_shown.contains(error)) {
            self.notices.error(begun.clone());
        }
        self.errors_shown = errors;
    }
}
