//! Execution of commands, the only place where panels, menus and keys take effect.

use super::{Action, Command, Core, KnownDistance, Playback, ViewLayout, dialog, recording, rig, source::Request};
use crate::view::{ViewKind, Zoom};
use egui::{Context, ViewportCommand};
use std::time::Instant;
use stereopsis_live::Live;
use stereopsis_stereo::StereoParams;

const ZOOM_STEP: f32 = 1.5;

impl Core {
    /// Executes a command of the core.
    ///
    /// # Errors
    /// The command, if it is one of a feature.
    pub(crate) fn execute(&mut self, command: Command, ctx: &Context) -> Result<(), Command> {
        match command {
            Command::Action(action) => return self.act(action, ctx),
            Command::Open(spec) => self.open(spec),
            Command::OpenFiles(paths) => self.open_files(paths),
            Command::Reopen(options) => {
                let wanted = self.request(self.source.spec.clone());
                self.open_as(Request { options: *options, ..wanted });
            }
            Command::FindCameras => self.find_cameras(),
            #[cfg(feature = "zenoh")]
            Command::WatchRigs(router) => self.watch_rigs(&router),
            Command::OpenAgain => self.open_again(),
            Command::ShowInFolder(file) => self.show_in_folder(file),
            Command::StartFresh => self.start_fresh(),
            Command::Resync => self.live.resync(),
            Command::Playback(playback) => play(&self.live, playback),
            Command::Reveal(name) => self.reveal(name),
            Command::SetParams(params) => self.set_params(params),
            Command::SetEngine(choice) => self.set_engine(choice),
            Command::SetView(view) => self.view = view,
            Command::SetDockWidths(widths) => self.view.dock_widths = widths,
            Command::SetPointer(pointer) => {
                self.pointer = pointer;
                ctx.request_repaint(); // the read-out was drawn before
            }
            Command::Mark(marked) => self.marked = marked,
            Command::SetPose(pose) => {
                self.pose = pose;
                ctx.request_repaint(); // the view was drawn before
            }
            Command::ConfirmBaseline => rig::commands::confirm_baseline(self),
            Command::Type(step) => dialog::commands::execute(self, step),
            Command::SetRecording(choices) => self.recording.choices = choices,
            Command::ChooseRecordingFolder => recording::commands::choose_folder(self),
            Command::EndRecording(ends) => recording::commands::answer_question(self, ends),
            Command::EstimateRecording => recording::commands::estimate(self),
            Command::Calibrate(choice) => rig::commands::calibrate(self, *choice, rig::commands::Initiator::User),
            Command::WatchSides(true) => rig::commands::watch_sides(self),
            Command::WatchSides(false) => self.rig.sides_watch = None,
            Command::ChooseCalibration => rig::commands::choose_calibration(self),
            Command::SetScale(scale) => rig::commands::set_scale(self, scale),
            Command::SetKnownDistance(which, metres) => self.rig.known[which].metres = metres,
            Command::AddKnownDistance => self.rig.known.push(KnownDistance::at(1.0)),
            Command::TakeKnownDisparity(which) => rig::commands::take_known_disparity(self, which),
            Command::FitDepth => rig::commands::fit_depth(self),
            Command::NameRigFile(name) => self.rig.save_as = name,
            Command::SaveRig => rig::commands::save_rig(self),
            Command::ReadControls => rig::controls::read_controls(self),
            Command::SetControls(view, settings) => rig::controls::set_controls(self, view, settings),
            Command::EqualExposure => rig::controls::equal_exposure(self),
            Command::Dismiss(index) => self.notices.dismiss(index),
            other => return Err(other),
        }
        Ok(())
    }

    /// Applies changed parameters if they are valid, and otherwise shows the reason.
    pub(crate) fn set_params(&mut self, params: StereoParams) {
        match params.validate() {
            Ok(()) => {
                self.live.set_params(params.clone());
                self.matching.params = params;
                recording::commands::note_params(self);
            }
            Err(why) => self.notices.error(why),
        }
    }

    fn act(&mut self, action: Action, ctx: &Context) -> Result<(), Command> {
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
            Action::Snapshot => match self.unreadable() {
                Some(why) => self.notices.news(why),
                None => self.awaited.snapshot = true,
            },
            Action::Open => self.choose_source_files(),
            Action::ShowA => match &mut self.comparison {
                Some(comparison) => comparison.shows_a ^= true,
                None => self.notices.news("nothing is compared: A keeps the present settings"),
            },
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
            Action::ZoomIn => self.pointer.zoom.enlarge(ZOOM_STEP),
            Action::ZoomOut => self.pointer.zoom.enlarge(1.0 / ZOOM_STEP),
            Action::WholePicture => {
                self.pointer.zoom = Zoom::default();
                self.pose = None;
            }
            Action::ColourReasons => self.view.colour_reasons ^= true,
            Action::ResetParameters => self.set_params(self.matching.base()),
            Action::CopyCommand => {
                let line = self.command_line();
                ctx.copy_text(line.clone());
                self.notices.news(format!("on the clipboard: {line}"));
            }
            Action::View(view) => self.toggle_view(view),
            Action::SwapPictures => self.swap_pictures(),
            Action::Grid => {
                let is_grid = self.view.layout == ViewLayout::Grid;
                self.view.layout = if is_grid { ViewLayout::Large } else { ViewLayout::Grid };
                self.view.alone = None;
            }
            Action::Panels => self.view.toggle_panels(),
            Action::Controls => self.view.arrangement_mut().controls ^= true,
            Action::Readings => self.view.arrangement_mut().readings ^= true,
            Action::Find => self.is_finder_open ^= true,
            Action::Close if self.page.is_some() => self.page = None,
            Action::Close => self.view.alone = None,
            Action::FullScreen => {
                let full = ctx.input(|i| i.viewport().fullscreen.unwrap_or(false));
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!full));
            }
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Action::Record => recording::commands::toggle(self),
            Action::Widen => rig::commands::widen_range(self),
            Action::FitRange => rig::commands::fit_range(self, rig::commands::Initiator::User),
            Action::SavePicture
            | Action::CopyPicture
            | Action::KeepAsA
            | Action::EndComparison
            | Action::Undo
            | Action::Redo => return Err(action.into()),
        }
        Ok(())
    }

    /// Moves to another pair of a recording or a folder.
    fn go(&mut self, action: Action) {
        let Some(transport) = self.live.transport() else {
            let source = &self.source.spec;
            self.notices.news(format!("{}: only in a recording or a folder, and {source} is none", action.label()));
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
                    self.notices.news(format!("no pair {side} this one has recorded depth{place}"));
                }
                transport.step_recorded(forward);
            }
            _ => {}
        }
    }

    /// Opens or closes a page, one at a time.
    fn toggle_page(&mut self, page: Action) {
        if self.is_open(page) {
            self.page = None;
            return;
        }
        if page == Action::Pictures {
            self.picture.chosen = self.current_figure(); // figure of the page that was open
        }
        self.page = Some(page);
        match page {
            Action::Cameras | Action::Rig if self.chooses_cameras() => self.find_cameras(),
            _ => {}
        }
    }

    /// Shows a parameter in its panel with its group unfolded, and a message if the parameter has no effect.
    fn reveal(&mut self, name: &'static str) {
        let Some(parameter) = StereoParams::table().iter().find(|parameter| parameter.name == name) else { return };
        if let Some(why) = parameter.inapplicable(&self.matching.params) {
            self.notices.news(format!("{}: {why}", parameter.label));
        }
        if self.view.is_narrow || self.shows_guide() {
            self.page = None;
        }
        self.view.arrangement_mut().controls = true;
        if !self.view.unfolded.contains(&parameter.group) {
            self.view.unfolded.push(parameter.group);
        }
        self.revealed = Some((name, Instant::now()));
    }

    /// Opens or closes a view; confidence is computed while its view is open.
    fn toggle_view(&mut self, view: ViewKind) {
        self.view.toggle(view);
        if view == ViewKind::Confidence {
            let confidence = self.view.arrangement().views.contains(&view);
            self.set_params(StereoParams { confidence, ..self.matching.params.clone() });
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
    use crate::core::notices::Level;
    use stereopsis_frame::SourceOptions;
    use stereopsis_settings::settings::{Origin, Word};

    #[test]
    fn only_valid_commands_change_the_state() {
        let words = vec![Word { name: "engine".into(), text: "cpu".into(), origin: Origin::Flag }];
        let source_options = SourceOptions { size: Some((64, 48)), ..WindowOptions::default().source_options };
        let options = WindowOptions { words, source_options, saved_state: None, ..WindowOptions::default() };
        let mut core = Core::start(options, None).unwrap();
        let ctx = Context::default();
        for is_open in [true, false] {
            core.execute(Action::Help.into(), &ctx).unwrap();
            assert_eq!(core.is_open(Action::Help), is_open);
            core.execute(Action::View(ViewKind::Confidence).into(), &ctx).unwrap();
            assert_eq!(core.matching.params.confidence, is_open, "computed while it is seen");
        }
        let before = core.matching.params.clone();
        core.execute(Command::SetParams(StereoParams { num_disparities: 0, ..before.clone() }), &ctx).unwrap();
        assert_eq!(core.matching.params, before);
        assert_eq!(core.notices.all()[0].level, Level::Error);
        core.execute(Command::Dismiss(0), &ctx).unwrap();
        assert!(core.notices.all().is_empty());
    }
}
