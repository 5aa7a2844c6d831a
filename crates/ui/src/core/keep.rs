//! Saving of the state for the next start soon after each change, so that a crash loses nothing, and messages about it.

use super::{
    Core, Job, Level, RecordingChoices, Remedy, ViewSettings,
    rig::state::flags_of,
    saved::SavedState,
    store::{SavedContent, SetAside, is_estimate},
};
use std::path::Path;
use std::time::{Duration, Instant};
use stereopsis_base::{console, files};
use stereopsis_frame::SourceSpec;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice, RigFile};
use stereopsis_settings::settings::{Origin, Settings};
use stereopsis_stereo::Preset;

/// Job that writes the state, hidden from the status line.
pub(super) const KEEP: Job = Job::hidden("saving the window's state");
/// Interval of the check for changes.
const INTERVAL: Duration = Duration::from_secs(2);
/// Delay before writing is repeated after a failure.
const RETRY: Duration = Duration::from_secs(30);

impl Core {
    /// Writes the state in the background if it has changed; once per frame.
    pub(crate) fn update_kept(&mut self, now: Instant) {
        let Some(store) = self.keeping.store.clone() else { return };
        if now < self.keeping.due || self.jobs.is_running(KEEP) {
            return;
        }
        self.keeping.due = now + INTERVAL;
        let kept = self.kept();
        if self.keeping.written.as_ref() == Some(&kept) {
            return;
        }
        self.keeping.number += 1;
        let number = self.keeping.number;
        let write = move || store.write(number, &kept).map(|aside| (kept, aside));
        self.jobs.start(KEEP, write, |core: &mut Self, written| {
            let failed = match written {
                Ok((kept, aside)) => {
                    core.keeping.written = Some(kept);
                    core.announce_aside(aside);
                    None
                }
                Err(why) => {
                    core.keeping.due = Instant::now() + RETRY;
                    Some(format!("the window's state is not saved: {why}"))
                }
            };
            let before = std::mem::replace(&mut core.keeping.failing, failed.clone());
            if before != failed {
                if let Some(before) = &before {
                    core.notices.retract(before);
                }
                if let Some(failed) = failed {
                    core.notices.error(failed);
                }
            }
        });
    }

    /// Saves the state for the next start and waits until it is written; nothing is written where no window was shown.
    pub fn save(&mut self) {
        let Some(store) = self.keeping.store.clone().filter(|_| self.keeping.number > 0) else { return };
        self.keeping.number += 1;
        match store.write(self.keeping.number, &self.kept()) {
            Ok(aside) => self.announce_aside(aside),
            Err(why) => log::warn!("the window's state is not saved: {why}"),
        }
    }

    /// Names a saved state that could not be used, and what to do with it.
    fn announce_aside(&mut self, aside: Option<SetAside>) {
        let (Some(SetAside { why, path }), Some(place)) = (aside, &self.options.saved_state) else { return };
        let [kept, name] = [&path, place].map(|path| console::path(Path::new(path.file_name().unwrap_or_default())));
        let folder = console::path(files::folder_of(place));
        let text = format!(
            "{why}. It is kept as {kept}: to use it, correct it and rename it to {name} while no window is open, in {folder}"
        );
        self.notices.add(Level::Error, text, vec![Remedy::ShowInFolder(path)]);
    }

    /// Records that the user has closed the window.
    pub(crate) fn note_closed(&self) {
        if let Some(store) = &self.keeping.store {
            store.close();
        }
    }

    pub(crate) fn kept(&self) -> SavedContent {
        let Self { source, view, picture, recording, guide, rig, .. } = self;
        let (spec, board) = (source.spec.to_string(), guide.board.as_ref().ok());
        let state = SavedState::of(
            &spec,
            &source.recent,
            view,
            (&recording.choices, &picture.choices),
            board,
            self.settings_flags(),
        );
        let estimate = rig.rig.clone().filter(|_| rig.choice.rectify() == RectifyChoice::Auto);
        SavedContent { state, rig: RigFile::of(&source.spec, &rig.options, &rig.choice), estimate }
    }

    /// Announces restored settings once; all of them after a crash, since the cause may be among them.
    pub(crate) fn announce_saved(&mut self, saved: &SavedState, has_saved_rig: bool) {
        let was_not_closed = self.keeping.store.as_ref().is_some_and(|store| store.was_not_closed());
        let mut words = Vec::new();
        // a settings file replaces the saved settings
        if !self.options.words.iter().any(|word| word.origin != Origin::Flag) {
            words.extend(self.settings_flags().into_iter().map(|(name, value)| format!("{name} {value}")));
        }
        let text = if was_not_closed {
            let mut all = self.words_of_source(has_saved_rig);
            all.extend(words);
            all.extend(words_of_range(&self.view));
            words = all;
            "the window was not closed the last time, and goes on with what it had"
        } else {
            "settings of last time"
        };
        if !saved.is_empty() && !words.is_empty() {
            let text = format!("{text}: {}", words.join(", "));
            self.notices.add(Level::Remark, text, vec![Remedy::StartFresh]);
        }
    }

    /// Returns to the command line and the defaults; the file with the previous state is set aside.
    pub(crate) fn start_fresh(&mut self) {
        let Some(store) = self.keeping.store.clone() else { return self.take_fresh() };
        let keep = move || store.set_aside();
        self.start_job(Job::new("keeping the state before"), keep, |core, aside| {
            let mut discarded = core.words_of_source(true);
            discarded.extend(core.settings_flags().into_iter().map(|(name, value)| format!("{name} {value}")));
            discarded.extend(words_of_range(&core.view));
            discarded.push("views and panels".to_owned());
            core.take_fresh();
            let kept = aside.map(|aside| format!("; all of it is kept in {}", console::path(&aside)));
            let text = format!("back to the defaults without {}{}", discarded.join(", "), kept.unwrap_or_default());
            core.notices.confirm(text);
        });
    }

    pub(crate) fn take_fresh(&mut self) {
        let settings = match Settings::resolve(&self.options.words) {
            Ok(settings) => settings,
            Err(why) => return self.notices.error(why),
        };
        let matching = &mut self.matching;
        (matching.preset, matching.own) = (settings.preset.unwrap_or(Preset::Balanced), None);
        self.take_engine(&settings);
        self.set_params(settings.params.clone());
        self.awaited.check(settings);
        let is_narrow = self.view.is_narrow;
        self.view = ViewSettings { is_narrow, ..ViewSettings::default() };
        self.recording.choices = RecordingChoices::default();
        self.awaited.fit_depth();
        let fresh = &self.keeping.fresh;
        if self.source.spec != fresh.spec || self.rig.choice != fresh.choice {
            self.open_as(fresh.clone());
        }
    }

    /// Describes the source and its rig unless they are those of the command line.
    pub(crate) fn words_of_source(&self, has_saved_rig: bool) -> Vec<String> {
        let (spec, choice, fresh) = (&self.source.spec, &self.rig.choice, &self.keeping.fresh);
        let mut words = Vec::new();
        if *spec != fresh.spec && *spec != SourceSpec::Scene {
            words.push(format!("source {spec}"));
        }
        if has_saved_rig && *choice != fresh.choice {
            words.push(self.words_of_rig(choice));
        }
        words
    }

    pub(crate) fn words_of_rig(&self, choice: &CalibrationChoice) -> String {
        if is_estimate(choice, self.state_folder()) {
            return "the estimated rig".to_owned();
        }
        match &choice.files[..] {
            [] => format!("rig {}", flags_of(choice.options()).join(" ")),
            [file, ..] => format!("calibration {}", console::path(file)),
        }
    }

    pub(crate) fn state_folder(&self) -> Option<&Path> {
        self.options.saved_state.as_deref().and_then(Path::parent)
    }
}

fn words_of_range(view: &ViewSettings) -> Option<String> {
    view.depth_range_m.map(|(near, far)| format!("depth range {near:.2} to {far:.2} m"))
}
