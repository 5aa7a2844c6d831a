//! Execution of commands, the only place where panels, menus and keys take effect.

use super::Session;
use super::source::Request;
use crate::action::Action;
use crate::command::{Command, Playback};
use crate::features::conversion::commands::CONVERT;
use crate::features::picture::state::{Destination, Figure};
use crate::features::{
    comparison, conversion, dialog, doctor, guide, history, measure, picture, presets, recording, rig, search,
};
use crate::state::ViewLayout;
use crate::view::{ViewKind, Zoom};
use egui::{Context, ViewportCommand};
use std::time::Instant;
use stereopsis_live::Live;
use stereopsis_stereo::StereoParams;

const ZOOM_STEP: f32 = 1.5;

impl Session {
    /// Executes a command and removes errors of earlier commands of this kind; `ctx` is the window's.
    pub(crate) fn execute(&mut self, command: Command, ctx: &Context) {
        let owner = command.owner();
        self.state.notices.given_again(owner);
        self.owned(Some(owner), |session| session.carry_out(command, ctx));
    }

    fn carry_out(&mut self, command: Command, ctx: &Context) {
        let state = &mut self.state;
        match command {
            Command::Action(action) => self.act(action, ctx),
            Command::Open(spec) => self.open(spec),
            Command::OpenFiles(paths) => self.open_files(paths),
            Command::Reopen(options) => {
                let wanted = self.request(self.state.source.spec.clone());
                self.open_as(Request { options: *options, ..wanted });
            }
            Command::FindCameras => self.find_cameras(),
            #[cfg(feature = "zenoh")]
            Command::WatchRigs(router) => self.watch_rigs(&router),
            Command::Examine => doctor::commands::examine(self),
            Command::OpenAgain => self.open_again(),
            Command::ConfirmBaseline => rig::commands::confirm_baseline(self),
            Command::ShowInFolder(file) => self.show_in_folder(file),
            Command::StartFresh => self.start_fresh(),
            Command::Resync => self.live.resync(),
            Command::Playback(playback) => play(&self.live, playback),
            Command::Reveal(name) => self.reveal(name),
            Command::SetParams(params) => self.set_params(params),
            Command::SetPreset(preset) => presets::commands::take(self, preset),
            Command::TakeOwnPreset(name) => presets::commands::take_own(self, &name),
            Command::SaveOwnPreset(name) => presets::commands::save(self, &name),
            Command::DeleteOwnPreset(name) => presets::commands::delete(self, &name),
            Command::Compare(step) => comparison::commands::execute(self, step),
            Command::History(step) => history::commands::execute(self, step),
            Command::SetEngine(choice) => self.set_engine(choice),
            Command::SetView(view) => state.view = view,
            Command::SetDockWidths(widths) => state.view.dock_widths = widths,
            Command::SetPointer(pointer) => {
                state.pointer = pointer;
                ctx.request_repaint(); // the read-out was drawn before
            }
            Command::SetPose(pose) => {
                state.pose = pose;
                ctx.request_repaint(); // the view was drawn before
            }
            Command::OfferPoints(wish) => self.points.offered = wish,
            Command::SavePoints(wish) => self.points.wanted = Some(wish),
            Command::Type(step) => dialog::commands::execute(self, step),
            Command::Picture(step) => picture::commands::execute(self, step),
            Command::SetRecording(choices) => state.recording.choices = choices,
            Command::ChooseRecordingFolder => recording::commands::choose_folder(self),
            Command::EndRecording(ends) => recording::commands::answer_question(self, ends),
            Command::EstimateRecording => recording::commands::estimate(self),
            Command::Search(step) => search::commands::execute(self, step),
            Command::Measure(step) => measure::commands::execute(self, step, ctx),
            Command::Guide(step) => guide::commands::execute(self, step),
            Command::Calibrate(choice) => rig::commands::calibrate(self, choice, rig::commands::Initiator::User),
            Command::WatchSides(true) => rig::sides::begin(self),
            Command::WatchSides(false) => state.rig.sides_watch = None,
            Command::ChooseCalibration => rig::commands::choose_calibration(self),
            Command::SetScale(scale) => rig::commands::set_scale(self, scale),
            Command::SetKnownDistance(which, metres) => state.rig.known[which].metres = metres,
            Command::TakeKnownDisparity(which) => rig::commands::take_known_disparity(self, which),
            Command::FitDepth => rig::commands::fit_depth(self),
            Command::NameRigFile(name) => state.rig.save_as = name,
            Command::SaveRig => rig::commands::save_rig(self),
            Command::ReadControls => rig::controls::read_controls(self),
            Command::SetControls(view, settings) => rig::controls::set_controls(self, view, settings),
            Command::EqualExposure => rig::controls::equal_exposure(self),
            Command::SetConversion(choices) => state.conversion.choices = choices,
            Command::Convert(kind) => conversion::commands::convert(self, kind),
            Command::StopConversion | Command::StopJob(CONVERT) => conversion::commands::stop(self),
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
            Action::StepBack
            | Action::SecondBack
            | Action::SecondOn
            | Action::ToStart
            | Action::ToEnd
            | Action::RecordedBack
            | Action::RecordedOn => self.go(action),
            Action::Snapshot => match state.unreadable() {
                Some(why) => state.notices.news(why),
                None => self.awaited.snapshot = true,
            },
            Action::SavePicture => picture::commands::want(self, Destination::File),
            Action::CopyPicture => picture::commands::want(self, Destination::Clipboard),
            Action::Record => recording::commands::toggle(self),
            Action::Open => self.choose_source_files(),
            Action::KeepAsA => comparison::commands::keep_as_a(self),
            Action::ShowA => match &mut state.comparison {
                Some(comparison) => comparison.shows_a ^= true,
                None => state.notices.news("nothing is compared: A keeps the present settings"),
            },
            Action::EndComparison => comparison::commands::end(self),
            Action::Undo => history::commands::go_in_history(self, -1),
            Action::Redo => history::commands::go_in_history(self, 1),
            Action::Cameras
            | Action::Rig
            | Action::Calibrate
            | Action::Reach
            | Action::Explain
            | Action::Measure
            | Action::Sweep
            | Action::Suggest
            | Action::Convert
            | Action::History
            | Action::Doctor
            | Action::Pictures
            | Action::Help => self.toggle_page(action),
            Action::FitDepth => self.awaited.fit_depth_as_asked(),
            Action::ZoomIn => state.pointer.zoom.enlarge(ZOOM_STEP),
            Action::ZoomOut => state.pointer.zoom.enlarge(1.0 / ZOOM_STEP),
            Action::WholePicture => {
                state.pointer.zoom = Zoom::default();
                state.pose = None;
            }
            Action::ColourReasons => state.view.colour_reasons ^= true,
            Action::ResetParameters => self.set_params(self.state.matching.base()),
            Action::CopyCommand => {
                let line = self.command_line();
                ctx.copy_text(line.clone());
                self.state.notices.news(format!("on the clipboard: {line}"));
            }
            Action::View(view) => self.toggle_view(view),
            Action::SwapPictures => self.swap_pictures(),
            Action::Widen => rig::commands::widen_range(self),
            Action::FitRange => rig::commands::fit_range(self, rig::commands::Initiator::User),
            Action::Grid => {
                let is_grid = state.view.layout == ViewLayout::Grid;
                state.view.layout = if is_grid { ViewLayout::Large } else { ViewLayout::Grid };
                state.view.alone = None;
            }
            Action::Panels => state.view.toggle_panels(),
            Action::Controls => state.view.arrangement_mut().controls ^= true,
            Action::Readings => state.view.arrangement_mut().readings ^= true,
            Action::Find => state.is_finder_open ^= true,
            Action::Close if state.page.is_some() => state.page = None,
            Action::Close => state.view.alone = None,
            Action::FullScreen => {
                let full = ctx.input(|i| i.viewport().fullscreen.unwrap_or(false));
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!full));
            }
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
        }
    }

    /// Moves to another pair of a recording or a folder.
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
            Action::RecordedBack | Action::RecordedOn => {
                let forward = action == Action::RecordedOn;
                let playing = transport.get();
                if playing.next_recorded(forward).is_none() {
                    let side = if forward { "after" } else { "before" };
                    let place = match playing.recorded {
                        Some(searched) if (searched.len() as u64) < playing.num_pairs() => {
                            " among the pairs searched so far"
                        }
                        _ => "",
                    };
                    self.state.notices.news(format!("no pair {side} this one has recorded depth{place}"));
                }
                transport.step_recorded(forward);
            }
            _ => {}
        }
    }

    /// Opens or closes a page, one at a time.
    fn toggle_page(&mut self, page: Action) {
        if self.state.is_open(page) {
            self.state.page = None;
            return;
        }
        if page == Action::Pictures {
            self.state.picture.chosen = Figure::current(&self.state); // figure of the page that was open
        }
        self.state.page = Some(page);
        match page {
            Action::Cameras | Action::Rig if self.state.chooses_cameras() => self.find_cameras(),
            Action::Doctor => doctor::commands::examine(self),
            _ => {}
        }
    }

    /// Shows a parameter in its panel with its group unfolded, and a message if the parameter has no effect.
    fn reveal(&mut self, name: &'static str) {
        let Some(parameter) = StereoParams::table().iter().find(|parameter| parameter.name == name) else { return };
        let state = &mut self.state;
        if let Some(why) = parameter.inapplicable(&state.matching.params) {
            state.notices.news(format!("{}: {why}", parameter.label));
        }
        if state.view.is_narrow || state.shows_guide() {
            state.page = None;
        }
        state.view.arrangement_mut().controls = true;
        if !state.view.unfolded.contains(&parameter.group) {
            state.view.unfolded.push(parameter.group);
        }
        state.revealed = Some((name, Instant::now()));
    }

    /// Opens or closes a view; confidence is computed while its view is open.
    fn toggle_view(&mut self, view: ViewKind) {
        self.state.view.toggle(view);
        if view == ViewKind::Confidence {
            let confidence = self.state.view.arrangement().views.contains(&view);
            self.set_params(StereoParams { confidence, ..self.state.matching.params.clone() });
        }
    }
}

/// Changes the playback of a recording or a folder.
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
    use crate::WindowOptions;
    use crate::notices::Level;
    use stereopsis_frame::SourceOptions;
    use stereopsis_settings::settings::{Origin, Word};

    #[test]
    fn only_valid_commands_change_the_state() {
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
        assert_eq!(session.state.notices.all()[0].level, Level::Error);
        session.execute(Command::Dismiss(0), &ctx);
        assert!(session.state.notices.all().is_empty());
    }
}
