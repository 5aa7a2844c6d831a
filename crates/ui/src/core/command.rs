//! Commands: every change that panels, menus and keys request.
//! `core/execute.rs` and the features execute them; nothing else changes the state.

use super::{Action, Job, Marked, Pointer, RecordingChoices, ViewSettings, dialog::state::TypeStep, owner::Owner};
use crate::space::{PointsWish, Pose};
use std::any::Any;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use stereopsis_frame::engine::EngineChoice;
use stereopsis_frame::{ControlSettings, Scale, SourceOptions, SourceSpec, Speed};
use stereopsis_settings::rig::CalibrationChoice;
use stereopsis_stereo::{Preset, StereoParams};

/// Change of the playback of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Playback {
    Seek(u64),
    /// Goes to a time, from the first pair on.
    SeekTime(Duration),
    /// Holds playback while the time line is dragged (true), and resumes it (false).
    Drag(bool),
    SetSpeed(Speed),
    /// Sets whether playback restarts at the end.
    SetLooped(bool),
}

/// Change of the comparison of two settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CompareStep {
    /// Moves the line between A and B to this share of the images' width, from the left.
    SetWiper(f32),
    /// Makes A's settings the present ones and keeps the present ones as A.
    Exchange,
}

/// Change of the state.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Action(Action),
    /// Executes a step of this kind of a feature.
    Step(u8, Rc<dyn Any>),
    Compare(CompareStep),
    /// Marks a rectangle and points in the images.
    Mark(Marked),
    Open(SourceSpec),
    /// Opens recordings, images, rigs or calibrations; an empty list changes nothing.
    OpenFiles(Vec<PathBuf>),
    /// Opens the source again with other options.
    Reopen(Box<SourceOptions>),
    FindCameras,
    /// Lists the rigs of this router while the page of cameras is open.
    #[cfg(feature = "zenoh")]
    WatchRigs(String),
    /// Opens the user's source again.
    OpenAgain,
    /// Accepts the unit of length that was read from the calibration.
    ConfirmBaseline,
    /// Shows a file in the system's file manager.
    ShowInFolder(PathBuf),
    /// Returns to the defaults; the previous state is set aside.
    StartFresh,
    /// Restarts a camera until both expose at nearly the same time.
    Resync,
    Playback(Playback),
    /// Shows a parameter in its panel.
    Reveal(&'static str),
    /// Takes parameters, if they are valid.
    SetParams(StereoParams),
    /// Takes a preset's parameters; the search range stays.
    SetPreset(Preset),
    /// Takes a preset of the user's own.
    TakeOwnPreset(String),
    /// Saves the settings as a preset of this name, in place of an older one.
    SaveOwnPreset(String),
    DeleteOwnPreset(String),
    /// Opens an engine, or opens the present one anew.
    SetEngine(EngineChoice),
    SetView(ViewSettings),
    /// Stores the widths of the docks in points.
    SetDockWidths([f32; 3]),
    SetPointer(Pointer),
    /// Sets the camera of the 3-D view; `None` for the left camera's pose.
    SetPose(Option<Pose>),
    /// Counts the points of the file to save while its menu is open; `None` when it closes.
    OfferPoints(Option<PointsWish>),
    /// Lets the user choose a file for the points of the 3-D view, and writes them.
    SavePoints(PointsWish),
    /// Changes the typed path, where the system has no dialog.
    Type(TypeStep),
    SetRecording(RecordingChoices),
    ChooseRecordingFolder,
    /// Answers whether the recording ends for the pending change.
    EndRecording(bool),
    EstimateRecording,
    Calibrate(Box<CalibrationChoice>),
    /// Starts (true) or stops (false) watching both images for a hand before a lens.
    WatchSides(bool),
    ChooseCalibration,
    /// Sets the working size; the search range follows.
    SetScale(Scale),
    /// Sets one of the known distances, m.
    SetKnownDistance(usize, f64),
    /// Adds a known distance.
    AddKnownDistance,
    /// Takes the disparity at the held pixel for one of the known distances.
    TakeKnownDisparity(usize),
    /// Fits depth to the known distances that are taken.
    FitDepth,
    NameRigFile(String),
    SaveRig,
    /// Reads the controls of the cameras in use.
    ReadControls,
    /// Sets controls of one view's camera.
    SetControls(usize, ControlSettings),
    /// Locks both cameras to the exposure, gain and white balance of the left one.
    EqualExposure,
    StopJob(Job),
    Dismiss(usize),
}

impl Command {
    /// Returns the owner of messages of the command's failures.
    pub(crate) fn owner(&self) -> Owner {
        let action = if let Self::Action(action) = self { Some(*action) } else { None };
        let is_of_source = matches!(
            self,
            Self::Calibrate(_)
                | Self::FitDepth
                | Self::SetScale(_)
                | Self::TakeKnownDisparity(_)
                | Self::Action(Action::SwapPictures | Action::FitRange | Action::Widen)
        );
        let step = if let Self::Step(kind, step) = self { Some((*kind, (**step).type_id())) } else { None };
        Owner::new((std::mem::discriminant(self), action, step), is_of_source)
    }
}

impl From<Action> for Command {
    fn from(action: Action) -> Self {
        Self::Action(action)
    }
}

impl From<CompareStep> for Command {
    fn from(step: CompareStep) -> Self {
        Self::Compare(step)
    }
}

impl From<TypeStep> for Command {
    fn from(step: TypeStep) -> Self {
        Self::Type(step)
    }
}
