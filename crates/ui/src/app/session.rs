//! Session: the core and the features. It outlives window and device.

use super::list;
use crate::core::{Command, Core, Feature, WindowOptions, owner::Owner};
use egui::Context;
#[cfg(test)]
use std::any::Any;
use std::time::Instant;
use stereopsis_gpu::Gpu;

/// Core and features of the window.
pub struct Session {
    pub(crate) core: Core,
    pub(crate) features: Vec<Box<dyn Feature>>,
}

impl Session {
    /// Starts the pipeline and opens the source in the background.
    ///
    /// # Errors
    /// Flags or the settings file are wrong, or the system cannot start a thread.
    pub fn start(options: WindowOptions, gpu: Option<Gpu>) -> anyhow::Result<Self> {
        let core = Core::start(options, gpu)?;
        Ok(Self { features: list::features(&core)?, core })
    }

    /// Updates the core and then each feature, once per frame of the window and without waiting.
    pub(crate) fn update(&mut self, ctx: &Context) {
        self.core.finish_jobs();
        self.execute_sent(ctx); // a result must be taken before a feature asks for it again
        let (core, now) = (&mut self.core, Instant::now());
        core.update(now);
        for feature in &mut self.features {
            feature.update(core, now);
        }
        self.execute_sent(ctx);
        self.core.update_kept(now);
    }

    /// Executes a command and removes errors of earlier commands of this kind; `ctx` is the window's.
    pub(crate) fn execute(&mut self, command: Command, ctx: &Context) {
        let owner = command.owner();
        self.core.notices.given_again(owner);
        self.carry_out(Some(owner), command, ctx);
        self.execute_sent(ctx);
    }

    /// Returns whether the window stays open because something would be lost; asks once.
    pub(crate) fn keeps_open(&mut self) -> bool {
        self.features.iter_mut().any(|feature| feature.keeps_open(&mut self.core))
    }

    fn execute_sent(&mut self, ctx: &Context) {
        for (owner, command) in self.core.take_sent() {
            self.carry_out(owner, command, ctx);
        }
    }

    fn carry_out(&mut self, owner: Option<Owner>, command: Command, ctx: &Context) {
        let features = &mut self.features;
        self.core.owned(owner, |core| {
            let mut rest = core.execute(command, ctx);
            for feature in features {
                rest = rest.or_else(|command| feature.execute(core, command, ctx));
            }
            // no feature has an end of its own for this job
            if let Err(Command::StopJob(job)) = rest
                && let Some(change) = core.jobs.stop(job)
            {
                change(core);
            }
        });
    }

    #[cfg(test)]
    pub(crate) fn feature<F: Feature>(&self) -> &F {
        let mut features = self.features.iter().map(|feature| &**feature as &dyn Any);
        features.find_map(|feature| feature.downcast_ref()).unwrap()
    }

    #[cfg(test)]
    pub(crate) fn feature_mut<F: Feature>(&mut self) -> &mut F {
        let mut features = self.features.iter_mut().map(|feature| &mut **feature as &mut dyn Any);
        features.find_map(|feature| feature.downcast_mut()).unwrap()
    }
}
