//! Device shared by window and engine: messages about its loss, and recovery of a lost GPU.
//! The window reopens on any available GPU; a missed one is opened again by the policy of [`stereopsis_frame::engine::recovery`].

use super::{Core, Job, absolute, dialog};
use std::fmt::Display;
use std::path::Path;
use std::time::Instant;
use stereopsis_engine::OpenOptions;
use stereopsis_engine::worker::EngineSource;
use stereopsis_frame::engine::recovery::{Decision, Recovery, not_recovered};
use stereopsis_frame::engine::{EngineChoice, EngineError, EngineKind, ModelDevice, ModelFile};
use stereopsis_gpu::Gpu;
use stereopsis_settings::settings::Settings;

impl Core {
    /// Returns the options of the engine in use, with `auto` resolved.
    pub(crate) fn engine_in_use(&self) -> Option<OpenOptions> {
        let choice = match self.live.latest()?.engine.kind {
            EngineKind::Cpu => EngineChoice::Cpu,
            EngineKind::Gpu => EngineChoice::Gpu,
            EngineKind::Network => EngineChoice::Auto,
            EngineKind::Model => EngineChoice::Model,
        };
        let mut options = self.matching.engine.clone();
        options.settings.choice = choice;
        Some(options)
    }

    /// Continues with another device after a loss for the reason `why`; the caller reopens the window.
    pub(crate) fn device_replaced(&mut self, gpu: &Gpu, why: &str) {
        let now = Instant::now();
        let adapter = &gpu.info.adapter;
        let engine = &self.matching.engine;
        let lost = engine.gpu.as_ref().map(|lost| lost.info.adapter.clone()).filter(|lost| lost != adapter);
        let decision = self.device.recovery.lost(now);
        self.device.recovery.recovered(now);
        let loss = EngineError::DeviceLost(why.to_owned());
        self.device.missed = self.device.missed.take().or(lost).filter(|missed| missed != adapter);
        let missed = self.device.missed.as_deref();
        self.notices.error(decision.message(&loss, &format!("going on with {adapter}"), missed));
        self.take_device(gpu);
        let choice = if decision == Decision::Retry { self.matching.engine.settings.choice } else { EngineChoice::Cpu };
        let mut options = self.matching.engine.clone();
        options.settings.choice = choice;
        self.live.set_engine(EngineSource::Open(options));
    }

    /// Returns the device to which the window moves.
    pub(crate) fn next_device(&self) -> Option<&Gpu> {
        self.device.next.as_ref()
    }

    /// Moves to [`Self::next_device`].
    pub(crate) fn move_device(&mut self) -> Option<Gpu> {
        let gpu = self.device.next.take()?;
        self.device.missed = None;
        self.take_device(&gpu);
        self.live.set_engine(EngineSource::Open(self.matching.engine.clone()));
        self.notices.news(format!("back on {}", gpu.info.adapter));
        Some(gpu)
    }

    fn take_device(&mut self, gpu: &Gpu) {
        self.live.forget_device();
        self.comparison = None; // its results belong to the lost device
        self.pipeline.output = None;
        self.matching.engine.gpu = Some(gpu.clone());
    }

    /// Matches with a model from now on.
    pub(crate) fn set_model(&mut self, file: &Path) {
        let engine = &mut self.matching.engine.settings;
        let device = engine.model.as_ref().map_or(ModelDevice::BuiltIn, |model| model.device);
        engine.model = Some(ModelFile { path: absolute(file), device });
        self.set_engine(EngineChoice::Model);
    }

    /// Takes the engine and the model of settings; without a model the present one stays.
    pub(crate) fn take_engine(&mut self, settings: &Settings) {
        let engine = &mut self.matching.engine.settings;
        let model = settings.model_file().or_else(|| engine.model.clone());
        if (engine.choice, &engine.model) != (settings.engine, &model) {
            engine.model = model;
            self.set_engine(settings.engine);
        }
    }

    /// Replaces the engine in the background and opens a missed GPU again. A model is asked for if there is none.
    pub(crate) fn set_engine(&mut self, choice: EngineChoice) {
        if choice == EngineChoice::Model && self.matching.engine.settings.model.is_none() {
            return dialog::commands::ask_files(self, "A model", "Models", &["onnx"], |core, files| {
                files.first().into_iter().for_each(|file| core.set_model(file));
            });
        }
        self.matching.engine.settings.choice = choice;
        self.live.set_engine(EngineSource::Open(self.matching.engine.clone()));
        self.device.recovery = Recovery::default();
        if choice != EngineChoice::Cpu {
            self.open_missed();
        }
    }

    /// Opens the missed GPU again when due.
    pub(super) fn search_device(&mut self, now: Instant) {
        if self.device.recovery.take_due(now) {
            self.open_missed();
        }
    }

    fn open_missed(&mut self) {
        if self.device.missed.is_some() {
            let adapter = self.matching.engine.settings.adapter.clone();
            let open = move || Gpu::open(&adapter).map(Gpu::for_window);
            self.jobs.start(Job::stoppable("looking for the GPU"), open, Self::found_device);
        }
    }

    /// Makes the window move to a found GPU if it is the missed one.
    pub(super) fn found_device(&mut self, found: Result<Gpu, impl Display>) {
        let Some(missed) = &self.device.missed else { return };
        let why = match found {
            Ok(gpu) if gpu.info.adapter == *missed => {
                self.device.next = Some(gpu);
                return;
            }
            Ok(gpu) => format!("there is {}", gpu.info.adapter),
            Err(why) => why.to_string(),
        };
        let here = self.matching.engine.gpu.as_ref().map_or("the CPU", |gpu| &gpu.info.adapter);
        self.notices.error(not_recovered(&format!("{missed} was lost"), &why, &format!("the window stays on {here}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WindowOptions;
    use std::time::Duration;
    use stereopsis_frame::SourceOptions;
    use stereopsis_settings::settings::{Origin, Word};

    fn core(gpu: &Gpu) -> Core {
        let word = |name: &str, text: &str| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
        let options = WindowOptions {
            words: vec![word("engine", "gpu"), word("num-disparities", "16"), word("p1", "5"), word("threads", "1")],
            source_options: SourceOptions { size: Some((64, 48)), ..WindowOptions::default().source_options },
            saved_state: None,
            ..WindowOptions::default()
        };
        Core::start(options, Some(gpu.clone())).unwrap()
    }

    /// Updates the core as a window does until `found`.
    fn until(core: &mut Core, what: &str, found: impl Fn(&Core) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            core.finish_jobs();
            core.update(Instant::now());
            if found(core) {
                return;
            }
            assert!(Instant::now() < deadline, "waited in vain until {what}: {:?}", core.status());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn computes(kind: EngineKind) -> impl Fn(&Core) -> bool {
        move |core| core.output().is_some_and(|output| output.engine.kind == kind)
    }

    fn has_notice(core: &Core, part: &str) -> bool {
        core.notices.all().iter().any(|notice| notice.text.contains(part))
    }

    #[test]
    fn state_survives_a_lost_device() {
        let (Some(first), Some(second)) = (Gpu::for_test(), Gpu::for_test()) else { return };
        let mut core = core(&first);
        until(&mut core, "the GPU computes", computes(EngineKind::Gpu));
        let (params, source) = (core.matching.params.clone(), core.source.spec.clone());
        first.device.destroy();
        until(&mut core, "the CPU computes", computes(EngineKind::Cpu));
        assert!(has_notice(&core, "the CPU computes instead"));
        core.device_replaced(&second, "a test");
        assert!(has_notice(&core, "the GPU was lost (a test); going on with "));
        until(&mut core, "the GPU computes", computes(EngineKind::Gpu));
        assert!(!has_notice(&core, "the CPU computes instead"), "that is over");
        assert_eq!(
            (&core.matching.params, &core.source.spec, core.matching.engine.settings.choice),
            (&params, &source, EngineChoice::Gpu)
        );
        assert_eq!(*core.live.params(), params);
        assert!(second.take_error().is_none());
    }

    #[test]
    fn a_held_pair_is_never_shown_from_a_device_that_is_gone() {
        let (Some(first), Some(second)) = (Gpu::for_test(), Gpu::for_test()) else { return };
        let mut core = core(&first);
        until(&mut core, "the GPU computes", computes(EngineKind::Gpu));
        core.live.pause();
        std::thread::sleep(Duration::from_millis(200));
        first.device.destroy();
        core.device_replaced(&second, "a test");
        core.finish_jobs();
        core.update(Instant::now());
        let texture = |core: &Core| core.output().and_then(|output| output.texture.clone());
        assert!(texture(&core).is_none());
        until(&mut core, "it is matched on the other device", |core| texture(core).is_some());
        assert!(core.live.is_paused());
    }

    #[test]
    fn a_gpu_that_is_lost_twice_waits_to_be_chosen() {
        let (Some(first), Some(second), Some(third)) = (Gpu::for_test(), Gpu::for_test(), Gpu::for_test()) else {
            return;
        };
        let mut core = core(&first);
        until(&mut core, "the GPU computes", computes(EngineKind::Gpu));
        first.device.destroy();
        core.device_replaced(&second, "once");
        until(&mut core, "the GPU computes", computes(EngineKind::Gpu));
        second.device.destroy();
        core.device_replaced(&third, "twice");
        until(&mut core, "the CPU computes", computes(EngineKind::Cpu));
        assert!(
            has_notice(&core, "the GPU was lost (twice) again") && has_notice(&core, "until an engine is chosen again")
        );
        assert_eq!(core.matching.engine.settings.choice, EngineChoice::Gpu, "the choice stays");
        core.set_engine(EngineChoice::Gpu);
        until(&mut core, "the GPU computes", computes(EngineKind::Gpu));
    }

    #[test]
    fn missed_gpu_is_searched_once_and_used() {
        let (Some(first), Some(second)) = (Gpu::for_test(), Gpu::for_test()) else { return };
        let mut core = core(&first);
        let real = first.info.adapter.clone();
        let now = Instant::now();
        core.device.missed = Some("a GPU that is away".into());
        core.device.recovery.lost(now);
        core.search_device(now + Duration::from_mins(1));
        until(&mut core, "it is said", |core| {
            has_notice(core, "a GPU that is away was lost and cannot be opened again")
        });
        assert!(core.device.recovery.due().is_none() && core.next_device().is_none());

        core.device.missed = Some(real.clone());
        core.found_device(Ok::<_, String>(second));
        assert!(core.next_device().is_some());
        assert_eq!(core.move_device().map(|gpu| gpu.info.adapter.clone()), Some(real));
        assert!(core.next_device().is_none() && core.device.missed.is_none() && has_notice(&core, "back on"));
        until(&mut core, "the GPU computes", computes(EngineKind::Gpu));
    }
}
