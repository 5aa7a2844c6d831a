//! Feature of the window: a folder with a state, a worker, steps and pages of its own.

use super::{Action, Command, Core};
use egui::{Context, Ui};
use std::any::Any;
use std::rc::Rc;
use std::time::Instant;

/// Feature, which imports the core and no other feature; only the app's list imports it.
pub(crate) trait Feature: Any {
    /// Returns its pages, by the actions that open them.
    fn pages(&self) -> &'static [Action] {
        &[]
    }

    /// Updates the state once per frame, after the core.
    fn update(&mut self, _core: &mut Core, _now: Instant) {}

    /// Executes a command of this feature.
    ///
    /// # Errors
    /// The command, if it is one of another feature.
    fn execute(&mut self, _core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        Err(command)
    }

    /// Completes a frame after all of its commands.
    fn end_frame(&mut self, _core: &mut Core, _ctx: &Context) {}

    /// Returns whether the window stays open because something would be lost; asks once.
    fn keeps_open(&mut self, _core: &mut Core) -> bool {
        false
    }

    /// Draws a page and adds the user's commands to `commands`.
    fn page(&mut self, _page: Action, _ui: &mut Ui, _core: &Core, _commands: &mut Vec<Command>) {}
}

/// Step of a feature, which is a command that the core only carries.
pub(crate) trait Step: Any + Clone {
    /// Returns a number for its kind where messages of a failure belong to one kind of steps.
    fn kind(&self) -> u8 {
        0
    }
}

impl<S: Step> From<S> for Command {
    fn from(step: S) -> Self {
        Self::Step(step.kind(), Rc::new(step))
    }
}

impl Command {
    /// Returns the step if it is one of this feature, or else the command.
    ///
    /// # Errors
    /// The command is another one.
    pub(crate) fn step<S: Step>(self) -> Result<S, Self> {
        match self {
            Self::Step(kind, step) => step.downcast().map(Rc::unwrap_or_clone).map_err(|step| Self::Step(kind, step)),
            other => Err(other),
        }
    }
}
