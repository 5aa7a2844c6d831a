//! Core of the window: pipeline, source, matching, views, messages and jobs, and the commands that change them. Features import the core,
//! and the core imports no feature. The window may close and reopen on another device after a loss; the core stays.

pub(crate) mod action;
mod awaited;
mod comparison;
pub(crate) mod command;
mod command_line;
mod device;
pub(crate) mod dialog;
pub(crate) mod error;
mod execute;
pub(crate) mod feature;
mod guide;
pub(crate) mod jobs;
mod keep;
mod marked;
mod matching;
pub(crate) mod notices;
mod opening;
pub(crate) mod options;
pub(crate) mod owner;
pub(crate) mod picture;
mod pipeline;
mod readings;
pub(crate) mod recording;
mod remote;
mod results;
pub(crate) mod rig;
pub(crate) mod saved;
mod search;
mod settings_file;
mod setup;
mod source;
mod start;
pub(crate) mod store;
mod update;
mod view_settings;
pub(crate) mod waker;

pub(crate) use action::Action;
pub(crate) use command::{Command, CompareStep, Playback};
pub(crate) use comparison::CompareState;
pub(crate) use feature::{Feature, Step};
pub(crate) use guide::{GuideState, RunningCalibration};
pub(crate) use jobs::{Fault, Job};
pub(crate) use marked::{Marked, Pointer};
pub(crate) use matching::{Load, Matching, MeasuredRates, OwnPreset};
pub(crate) use notices::{Level, Remedy};
pub(crate) use options::WindowOptions;
pub(crate) use picture::{PictureChoices, PictureState};
pub(crate) use pipeline::Pipeline;
pub(crate) use recording::state::{Obstacle, Phase, RecordingChoices, RecordingState};
pub(crate) use rig::state::{KnownDistance, RigState};
pub(crate) use search::{MAX_PAIRS, RATES_HZ, SEARCH_S, SearchState, SearchWishes, cannot_judge};
pub(crate) use settings_file::SettingsFile;
pub(crate) use setup::{Calibration, SettingChange, Setup, words_of};
pub(crate) use source::Source;
pub(crate) use view_settings::{Arrangement, ERRORS_PX, NARROW_WIDTH, TEXT_ZOOM, Theme, ViewLayout, ViewSettings};
pub(crate) use waker::Waker;

use crate::space::{PointsWish, Pose};
use awaited::AwaitedWork;
use dialog::state::{ChosenPaths, TypedPath};
use jobs::Jobs;
use matching::DeviceState;
use notices::Notices;
use owner::Owner;
use rig::estimate_pairs::EstimatePairs;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::rate::Rate;
use stereopsis_frame::RawTap;
use stereopsis_images::CloudSize;
use stereopsis_live::Live;
use store::StateWriter;

/// Continuation of a request for files with its answer.
pub(crate) type AnswerHandler = Box<dyn FnOnce(&mut Core, ChosenPaths)>;
/// Change of the core that waits for an answer.
pub(crate) type PendingChange = Box<dyn FnOnce(&mut Core) + Send>;

/// Pipeline, state and background jobs of the window.
pub struct Core {
    pub(crate) live: Live,
    pub(crate) pipeline: Pipeline,
    pub(crate) source: Source,
    pub(crate) matching: Matching,
    /// Settings file to apply and follow, which was opened as a file.
    pub(crate) settings_to_open: Option<(Option<Owner>, PathBuf)>,
    /// Whether colours were just fitted because of the step in force of the history.
    pub(crate) has_fitted_colours: bool,
    pub(crate) settings_file: Option<SettingsFile>,
    /// Two compared settings.
    pub(crate) comparison: Option<CompareState>,
    pub(crate) view: ViewSettings,
    pub(crate) pointer: Pointer,
    /// Camera of the 3-D view; `None` for the left camera's pose.
    pub(crate) pose: Option<Pose>,
    /// Numbers of points and triangles of the file whose menu is open.
    pub(crate) points_size: Option<(PointsWish, CloudSize)>,
    pub(crate) rig: RigState,
    pub(crate) picture: PictureState,
    pub(crate) recording: RecordingState,
    pub(crate) guide: GuideState,
    pub(crate) marked: Marked,
    pub(crate) search: SearchState,
    pub(crate) notices: Notices,
    /// Path in a text field where the system has no dialog.
    pub(crate) typed: Option<TypedPath>,
    /// Open page, identified by the action that opens and closes it.
    pub(crate) page: Option<Action>,
    pub(crate) is_finder_open: bool,
    /// Last found parameter, and the time since which its row is marked.
    pub(crate) revealed: Option<(&'static str, Instant)>,
    pub(crate) jobs: Jobs<Self>,
    pub(crate) waker: Waker,
    device: DeviceState,
    /// Change for which the recording may end.
    pub(crate) waiting_change: Option<PendingChange>,
    pub(crate) estimate_pairs: EstimatePairs,
    /// Receiver of the capture thread's pairs beside a recorder.
    pub(crate) raw_tap: Option<Arc<dyn RawTap>>,
    keeping: StateWriter,
    /// Commands to execute after the update, with their owners.
    sent: Vec<(Option<Owner>, Command)>,
    pub(crate) options: WindowOptions,
    pub(crate) awaited: AwaitedWork,
    /// Continuation of the typed path, and the kind of command that requested it.
    pub(crate) typed_then: Option<(Option<Owner>, AnswerHandler)>,
    /// Present errors of the pipeline, shown once when they began.
    errors_shown: Vec<String>,
    /// Message that the calibration of the source has failed.
    pub(crate) uncalibrated: Option<String>,
    shown: Rate,
    /// Time at which the present source was opened; earlier results belong to another one.
    pub(crate) source_since: Instant,
    /// Start of the window until its first result.
    pub(crate) started: Option<Instant>,
}

impl Core {
    pub(crate) fn show_in_folder(&mut self, file: PathBuf) {
        let folder = absolute(file.parent().unwrap_or(Path::new(".")));
        let shown = folder.clone();
        let show = move || open::that_detached(&shown);
        self.jobs.start(Job::new("showing the folder"), show, move |core: &mut Self, shown| {
            if let Err(why) = shown {
                core.notices.error(format!("{} cannot be shown: {why}", folder.display()));
            }
        });
    }

    /// Executes `change` for a kind of command, which owns messages of its failures and its jobs.
    pub(crate) fn owned(&mut self, owner: Option<Owner>, change: impl FnOnce(&mut Self)) {
        let before = (self.notices.owner, self.jobs.owner);
        (self.notices.owner, self.jobs.owner) = (owner, owner);
        change(self);
        (self.notices.owner, self.jobs.owner) = before;
    }

    pub(crate) fn finish_jobs(&mut self) {
        for (owner, change) in self.jobs.finished() {
            self.owned(owner, change);
        }
    }

    /// Sends a command that is executed after the update, for the command in execution.
    pub(crate) fn send(&mut self, command: impl Into<Command>) {
        self.sent.push((self.jobs.owner, command.into()));
    }

    pub(crate) fn take_sent(&mut self) -> Vec<(Option<Owner>, Command)> {
        std::mem::take(&mut self.sent)
    }

    /// Starts a job whose failure is shown and whose result `finish` receives.
    pub(crate) fn start_job<T: Send + 'static, E: Display + Send + 'static>(
        &mut self,
        job: Job,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
        finish: impl FnOnce(&mut Self, T) + 'static,
    ) {
        self.jobs.start(job, work, |core: &mut Self, result| match result {
            Ok(result) => finish(core, result),
            Err(why) => core.notices.error(why),
        });
    }

    #[cfg(test)]
    pub fn live(&self) -> &Live {
        &self.live
    }
}

/// Returns the folder as an absolute path, because the next run may have another current folder.
pub(crate) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}
