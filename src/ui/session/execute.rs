//! Executes commands: the one place where panels, menus and keys take effect.

use super::Session;
use crate::live::Live;
use crate::stereo::StereoParams;
use crate::ui::action::Action;
use crate::ui::command::{Command, Playback};
use crate::ui::state::Pointer;
use crate::ui::view::{ViewKind, Zoom};
use egui::{Context, ViewportCommand};

impl Session {
    /// Executes a command; `ctx` is the window's.
    pub(crate) fn execute(&mut self, command: Command, ctx: &Context) {
        let state = &mut self.state;
        match command {
            Command::Action(action) => self.act(action, ctx),
            Command::Open(spec) => self.open(spec),
            Command::OpenFiles(paths) => self.open_files(paths),
            Command::Reopen(options) => {
                state.rig.options = *options;
                self.open_again();
            }
            Command::FindCameras => self.find_cameras(),
            Command::SwapViews => self.swap_views(),
            Command::Resync => self.live.resync(),
            Command::Playback(playback) => play(&self.live, playback),
            Command::SetParams(params) => self.set_params(params),
            Command::SetPreset(preset) => self.set_preset(preset),
            Command::SetEngine(choice) => self.set_engine(choice),
            Command::SetView(view) => state.view = view,
            Command::SetPointer(pointer) => {
                state.pointer = pointer;
                ctx.request_repaint(); // the readout was drawn before
            }
            Command::SetRecording(choices) => state.recording.choices = choices,
            Command::ChooseRecordingFolder => self.choose_recording_folder(),
            Command::EstimateRecording => self.estimate_recording(),
            Command::Calibrate(choice) => self.calibrate(choice),
            Command::ChooseCalibration => self.choose_calibration(),
            Command::SetScale(scale) => self.set_scale(scale),
            Command::SetKnownDistance(which, metres) => state.rig.known[which].metres = metres,
            Command::TakeKnownDisparity(which) => self.take_known_disparity(which),
            Command::FitDepth => self.fit_depth(),
            Command::NameRigFile(name) => state.rig.save_as = name,
            Command::SaveRig => self.save_rig(),
            Command::ReadControls => self.read_controls(),
            Command::SetControls(view, settings) => self.set_controls(view, settings),
            Command::EqualExposure => self.equal_exposure(),
            Command::StopJob(job) => {
                if let Some(change) = self.jobs.stop(job) {
                    change(self);
                }
            }
            Command::Dismiss(index) => state.notices.dismiss(index),
        }
    }

    fn act(&mut self, action: Action, ctx: &Context) {
        let state = &mut self.state;
        match action {
            Action::Pause if self.live.is_paused() => self.live.resume(),
            Action::Pause => self.live.pause(),
            Action::Step => self.live.step(1),
            Action::StepBack | Action::SecondBack | Action::SecondOn | Action::ToStart | Action::ToEnd => {
                self.go(action);
            }
            Action::Snapshot => self.takes_snapshot = true,
            Action::Record => self.toggle_recording(),
            Action::Open => self.choose_source_files(),
            Action::Cameras | Action::Rig | Action::Reach | Action::Help => self.toggle_window(action),
            Action::FitDepth => self.fits_depth = true,
            Action::WholePicture => state.pointer = Pointer { zoom: Zoom::default(), ..state.pointer },
            Action::ColourReasons => state.view.colour_reasons ^= true,
            Action::ResetParameters => self.set_preset(self.state.matching.preset),
            Action::CopyCommand => {
                let line = self.command_line();
                ctx.copy_text(line.clone());
                self.state.notices.news(format!("on the clipboard: {line}"));
            }
            Action::View(view) => self.toggle_view(view),
            Action::Controls => state.view.controls ^= true,
            Action::FullScreen => {
                let full = ctx.input(|i| i.viewport().fullscreen.unwrap_or(false));
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!full));
            }
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
        }
    }

    /// Goes to another pair of a recording or a folder.
    fn go(&mut self, action: Action) {
        let Some(transport) = self.live.transport() else {
            let source = &self.state.source.spec;
            self.state
                .notices
                .news(format!("{}: only in a recording or a folder, and {source} is none", action.label()));
            return;
        };
        match action {
            Action::StepBack => transport.step(-1),
            Action::SecondBack => transport.skip(-1.0),
            Action::SecondOn => transport.skip(1.0),
            Action::ToStart => transport.seek(0),
            Action::ToEnd => transport.seek(u64::MAX),
            _ => {}
        }
    }

    /// Opens or closes a window over the pictures.
    fn toggle_window(&mut self, window: Action) {
        if self.state.is_open(window) {
            self.state.windows.retain(|open| *open != window);
            return;
        }
        self.state.windows.push(window);
        if window == Action::Cameras {
            self.find_cameras();
        }
    }

    /// Opens or closes a view. Confidence is computed while its view is open.
    fn toggle_view(&mut self, view: ViewKind) {
        self.state.view.toggle(view);
        if view == ViewKind::Confidence {
            let confidence = self.state.view.views.contains(&view);
            self.set_params(StereoParams { confidence, ..self.state.matching.params.clone() });
        }
    }
}

/// Changes the playback of a recording or a folder, if one is read.
fn play(live: &Live, playback: Playback) {
    let Some(transport) = live.transport() else { return };
    match playback {
        Playback::Seek(pair) => transport.seek(pair),
        Playback::SeekTime(time) => transport.seek_time(time),
        Playback::Drag(true) => transport.pause(),
        Playback::Drag(false) if transport.get().at_end() => {}
        Playback::Drag(false) => transport.play(),
        Playback::SetSpeed(speed) => transport.set_speed(speed),
        Playback::SetLooped(looped) => transport.set_looped(looped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::SourceOptions;
    use crate::settings::{Origin, Word};
    use crate::ui::WindowOptions;

    #[test]
    fn commands_change_the_state_and_what_is_invalid_does_not() {
        let words = vec![Word { name: "engine".into(), text: "cpu".into(), origin: Origin::Flag }];
        let source_options = SourceOptions { size: Some((64, 48)), ..WindowOptions::default().source_options };
        let options = WindowOptions { words, source_options, saved_state: None, ..WindowOptions::default() };
        let mut session = Session::start(options, None).unwrap();
        let ctx = Context::default();
        for is_open in [true, false] {
            session.execute(Action::Help.into(), &ctx);
            assert_eq!(session.state.is_open(Action::Help), is_open);
            session.execute(Action::View(ViewKind::Confidence).into(), &ctx);
            assert_eq!(session.state.matching.params.confidence, is_open, "computed while it is seen");
        }
        let before = session.state.matching.params.clone();
        session.execute(Command::SetParams(StereoParams { num_disparities: 0, ..before.clone() }), &ctx);
        assert_eq!(session.state.matching.params, before);
        assert!(session.state.notices.all()[0].is_error);
        session.execute(Command::Dismiss(0), &ctx);
        assert!(session.state.notices.all().is_empty());
    }
}
