//! Session: the core and the features, in one list. It outlives window and device.

use crate::core::Core;
use crate::core::action::Action;
use crate::core::command::{Command, Owner};
use crate::core::feature::Feature;
use crate::core::options::WindowOptions;
use crate::core::{recording, rig};
use crate::features::conversion::commands::CONVERT;
use crate::features::picture::state::Destination;
use crate::features::rig::by_itself;
use crate::features::{comparison, conversion, doctor, explain, guide, history, picture, presets, search};
use crate::space::commands as space;
use egui::Context;
#[cfg(test)]
use std::any::Any;
use std::time::Instant;
use stereopsis_gpu::Gpu;

/// Core and features of the window.
pub struct Session {
    pub(crate) core: Core,
    pub(super) features: Vec<Box<dyn Feature>>,
}

impl Session {
    /// Starts the pipeline and opens the source in the background.
    ///
    /// # Errors
    /// Flags or the settings file are wrong, or the system cannot start a thread.
    pub fn start(options: WindowOptions, gpu: Option<Gpu>) -> anyhow::Result<Self> {
        let core = Core::start(options, gpu)?;
        Ok(Self { features: super::list::features(&core)?, core })
    }

    /// Updates the core and then each feature, once per frame of the window and without waiting.
    pub(crate) fn update(&mut self, ctx: &Context) {
        let (core, now) = (&mut self.core, Instant::now());
        core.finish_jobs();
        core.update(now);
        rig::sides::update(core);
        by_itself::update(core);
        recording::commands::update(core);
        conversion::commands::update(core);
        comparison::commands::update(core);
        space::update(core);
        guide::commands::update(core, now);
        history::commands::follow_settings_file(core, now);
        explain::commands::update(core);
        search::commands::update(core);
        for feature in &mut self.features {
            feature.update(core, now);
        }
        for (owner, command) in core.take_sent() {
            self.carry_out(owner, command, ctx);
        }
        self.core.update_kept(now);
    }

    /// Executes a command and removes errors of earlier commands of this kind; `ctx` is the window's.
    pub(crate) fn execute(&mut self, command: Command, ctx: &Context) {
        let owner = command.owner();
        self.core.notices.given_again(owner);
        self.carry_out(Some(owner), command, ctx);
    }

    fn carry_out(&mut self, owner: Option<Owner>, command: Command, ctx: &Context) {
        let features = &mut self.features;
        self.core.owned(owner, |core| {
            let mut rest = core.execute(command, ctx);
            for feature in features {
                rest = rest.and_then(|command| feature.execute(core, command, ctx));
            }
            if let Some(command) = rest {
                execute(core, command);
            }
        });
    }

    #[cfg(test)]
    pub(crate) fn feature<F: Feature>(&self) -> &F {
        let features = self.features.iter().map(|feature| &**feature as &dyn Any);
        features.filter_map(|feature| feature.downcast_ref()).next().unwrap()
    }
}

fn execute(core: &mut Core, command: Command) {
    match command {
        Command::Examine => doctor::commands::examine(core),
        Command::ConfirmBaseline => rig::commands::confirm_baseline(core),
        Command::SetPreset(preset) => presets::commands::take(core, preset),
        Command::TakeOwnPreset(name) => presets::commands::take_own(core, &name),
        Command::SaveOwnPreset(name) => presets::commands::save(core, &name),
        Command::DeleteOwnPreset(name) => presets::commands::delete(core, &name),
        Command::Compare(step) => comparison::commands::execute(core, step),
        Command::History(step) => history::commands::execute(core, step),
        Command::OfferPoints(wish) => core.points.offered = wish,
        Command::SavePoints(wish) => core.points.wanted = Some(wish),
        Command::Type(step) => crate::core::dialog::commands::execute(core, step),
        Command::Picture(step) => picture::commands::execute(core, step),
        Command::SetRecording(choices) => core.recording.choices = choices,
        Command::ChooseRecordingFolder => recording::commands::choose_folder(core),
        Command::EndRecording(ends) => recording::commands::answer_question(core, ends),
        Command::EstimateRecording => recording::commands::estimate(core),
        Command::Search(step) => search::commands::execute(core, step),
        Command::Guide(step) => guide::commands::execute(core, step),
        Command::Calibrate(choice) => rig::commands::calibrate(core, choice, rig::commands::Initiator::User),
        Command::WatchSides(true) => rig::sides::begin(core),
        Command::WatchSides(false) => core.rig.sides_watch = None,
        Command::ChooseCalibration => rig::commands::choose_calibration(core),
        Command::SetScale(scale) => rig::commands::set_scale(core, scale),
        Command::SetKnownDistance(which, metres) => core.rig.known[which].metres = metres,
        Command::TakeKnownDisparity(which) => rig::commands::take_known_disparity(core, which),
        Command::FitDepth => rig::commands::fit_depth(core),
        Command::NameRigFile(name) => core.rig.save_as = name,
        Command::SaveRig => rig::commands::save_rig(core),
        Command::ReadControls => rig::controls::read_controls(core),
        Command::SetControls(view, settings) => rig::controls::set_controls(core, view, settings),
        Command::EqualExposure => rig::controls::equal_exposure(core),
        Command::SetConversion(choices) => core.conversion.choices = choices,
        Command::Convert(kind) => conversion::commands::convert(core, kind),
        Command::StopConversion | Command::StopJob(CONVERT) => conversion::commands::stop(core),
        Command::StopJob(job) => {
            if let Some(change) = core.jobs.stop(job) {
                change(core);
            }
        }
        Command::Action(action) => act(core, action),
        _ => {}
    }
}

fn act(core: &mut Core, action: Action) {
    match action {
        Action::SavePicture => picture::commands::want(core, Destination::File),
        Action::CopyPicture => picture::commands::want(core, Destination::Clipboard),
        Action::Record => recording::commands::toggle(core),
        Action::KeepAsA => comparison::commands::keep_as_a(core),
        Action::EndComparison => comparison::commands::end(core),
        Action::Undo => history::commands::go_in_history(core, -1),
        Action::Redo => history::commands::go_in_history(core, 1),
        Action::Widen => rig::commands::widen_range(core),
        Action::FitRange => rig::commands::fit_range(core, rig::commands::Initiator::User),
        _ => {}
    }
}
