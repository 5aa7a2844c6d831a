//! The device of window and engine, as far as it may be lost: what is said, and how the GPU comes back.
//!
//! The window opens again on whatever GPU there is. Where that is another one than before, the one that is missed is looked
//! for once more after some seconds. A device that is lost twice within a minute is not given to the engine again by itself.

use super::Session;
use crate::engine::gpu::Gpu;
use crate::engine::{EngineChoice, OpenOptions};
use crate::live::EngineSource;
use crate::ui::jobs::Job;
use std::time::{Duration, Instant};

/// From a loss to the search for the GPU that is missed.
const PAUSE: Duration = Duration::from_secs(10);
/// Losses within this time are too many.
const PROBATION: Duration = Duration::from_mins(1);

/// Losses so far.
#[derive(Default)]
pub(super) struct DeviceState {
    lost_at: Option<Instant>,
    /// The adapter that the window was on before it had to take another one.
    missed: Option<String>,
    /// When that is looked for.
    look_at: Option<Instant>,
    /// It is there again: the window shall move to it.
    next: Option<Gpu>,
}

impl Session {
    /// Goes on with another device, after the last one was lost because of `why`. For whoever opens the window again.
    pub fn device_replaced(&mut self, gpu: &Gpu, why: &str) {
        let now = Instant::now();
        let adapter = &gpu.info.adapter;
        let lost = self
            .state
            .matching
            .engine
            .gpu
            .as_ref()
            .map(|lost| lost.info.adapter.clone())
            .filter(|lost| lost != adapter);
        if lost.is_some() {
            self.device.look_at = Some(now + PAUSE);
        }
        let looked_for =
            lost.as_ref().map_or(String::new(), |lost| format!(", {lost} is tried again in {} s", PAUSE.as_secs()));
        self.device.missed = self.device.missed.take().or(lost).filter(|missed| missed != adapter);
        let before = self.device.lost_at.replace(now);
        self.take_device(gpu);
        if let Some(before) = before.filter(|before| now.duration_since(*before) < PROBATION) {
            let cpu = OpenOptions { choice: EngineChoice::Cpu, ..self.state.matching.engine.clone() };
            self.live.set_engine(EngineSource::Open(cpu));
            self.state.notices.error(format!(
                "the GPU was lost again ({why}), {:.0} s after the last time; the CPU computes until you choose an engine again",
                now.duration_since(before).as_secs_f64()
            ));
        } else {
            self.live.set_engine(EngineSource::Open(self.state.matching.engine.clone()));
            self.state.notices.error(format!("the GPU was lost ({why}); going on with {adapter}{looked_for}"));
        }
    }

    /// The device that the window shall move to.
    pub(crate) fn next_device(&self) -> Option<&Gpu> {
        self.device.next.as_ref()
    }

    /// Moves there.
    pub(crate) fn move_device(&mut self) -> Option<Gpu> {
        let gpu = self.device.next.take()?;
        self.device.missed = None;
        self.take_device(&gpu);
        self.live.set_engine(EngineSource::Open(self.state.matching.engine.clone()));
        self.state.notices.news(format!("back on {}", gpu.info.adapter));
        Some(gpu)
    }

    /// What lies on the old device can be shown no more.
    fn take_device(&mut self, gpu: &Gpu) {
        self.live.forget_device();
        self.state.pipeline.output = None;
        self.state.matching.engine.gpu = Some(gpu.clone());
    }

    /// Chooses what computes; opened in the background. A GPU that is missed is looked for again.
    pub(crate) fn set_engine(&mut self, choice: EngineChoice) {
        self.state.matching.engine.choice = choice;
        self.live.set_engine(EngineSource::Open(self.state.matching.engine.clone()));
        self.device.lost_at = None;
        if choice != EngineChoice::Cpu && self.device.missed.is_some() {
            self.device.look_at = Some(Instant::now());
        }
    }

    /// Looks for the GPU that is missed when it is time; once.
    pub(super) fn search_device(&mut self, now: Instant) {
        if self.device.look_at.take_if(|at| *at <= now).is_some() && self.device.missed.is_some() {
            let adapter = self.state.matching.engine.adapter.clone();
            let open = move || Gpu::open(&adapter).map(Gpu::for_window).map_err(|err| err.to_string());
            self.jobs.start(Job::stoppable("looking for the GPU"), open, Self::found_device);
        }
    }

    /// Takes in what was found.
    pub(super) fn found_device(&mut self, found: Result<Gpu, String>) {
        let Some(missed) = &self.device.missed else { return };
        let why = match found {
            Ok(gpu) if gpu.info.adapter == *missed => {
                self.device.next = Some(gpu);
                return;
            }
            Ok(gpu) => format!("there is {}", gpu.info.adapter),
            Err(why) => why,
        };
        self.state.notices.error(format!("{missed} is not back ({why}); choose the engine again to look once more"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::source::SourceOptions;
    use crate::engine::EngineKind;
    use crate::settings::{Origin, Word};
    use crate::ui::WindowOptions;

    fn session(gpu: &Gpu) -> Session {
        let word = |name: &str, text: &str| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
        let options = WindowOptions {
            words: vec![word("engine", "gpu"), word("num-disparities", "16"), word("p1", "5"), word("threads", "1")],
            source_options: SourceOptions { size: Some((64, 48)), ..WindowOptions::default().source_options },
            saved_state: None,
            ..WindowOptions::default()
        };
        Session::start(options, Some(gpu.clone())).unwrap()
    }

    /// Looks for news as a window does, until `found`.
    fn until(session: &mut Session, what: &str, found: impl Fn(&Session) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            session.update();
            if found(session) {
                return;
            }
            assert!(Instant::now() < deadline, "waited in vain until {what}: {:?}", session.state.status());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn computes(kind: EngineKind) -> impl Fn(&Session) -> bool {
        move |session| session.state.output().is_some_and(|output| output.engine.kind == kind)
    }

    fn said(session: &Session, part: &str) -> bool {
        session.state.notices.all().iter().any(|notice| notice.text.contains(part))
    }

    #[test]
    fn after_a_loss_everything_stays_and_the_gpu_computes_on_the_next_device() {
        let (Some(first), Some(second)) = (Gpu::for_test(), Gpu::for_test()) else { return };
        let mut session = session(&first);
        until(&mut session, "the GPU computes", computes(EngineKind::Gpu));
        let (params, source) = (session.state.matching.params.clone(), session.state.source.spec.clone());
        first.device.destroy();
        until(&mut session, "the CPU computes", computes(EngineKind::Cpu));
        assert!(said(&session, "the CPU computes instead"));
        session.device_replaced(&second, "a test");
        assert!(said(&session, "the GPU was lost (a test); going on with "));
        until(&mut session, "the GPU computes", computes(EngineKind::Gpu));
        assert!(!said(&session, "the CPU computes instead"), "that is over");
        assert_eq!(
            (&session.state.matching.params, &session.state.source.spec, session.state.matching.engine.choice),
            (&params, &source, EngineChoice::Gpu)
        );
        assert_eq!(*session.live.params(), params);
        assert!(second.take_error().is_none());
    }

    #[test]
    fn a_held_pair_is_never_shown_from_a_device_that_is_gone() {
        let (Some(first), Some(second)) = (Gpu::for_test(), Gpu::for_test()) else { return };
        let mut session = session(&first);
        until(&mut session, "the GPU computes", computes(EngineKind::Gpu));
        session.live.pause();
        std::thread::sleep(Duration::from_millis(200));
        first.device.destroy();
        session.device_replaced(&second, "a test");
        session.update();
        let texture = |session: &Session| session.state.output().and_then(|output| output.texture.clone());
        assert!(texture(&session).is_none());
        until(&mut session, "it is matched on the other device", |session| texture(session).is_some());
        assert!(session.live.is_paused());
    }

    #[test]
    fn a_gpu_that_is_lost_twice_waits_to_be_chosen() {
        let (Some(first), Some(second), Some(third)) = (Gpu::for_test(), Gpu::for_test(), Gpu::for_test()) else {
            return;
        };
        let mut session = session(&first);
        until(&mut session, "the GPU computes", computes(EngineKind::Gpu));
        first.device.destroy();
        session.device_replaced(&second, "once");
        until(&mut session, "the GPU computes", computes(EngineKind::Gpu));
        second.device.destroy();
        session.device_replaced(&third, "twice");
        until(&mut session, "the CPU computes", computes(EngineKind::Cpu));
        assert!(said(&session, "the GPU was lost again (twice)") && said(&session, "until you choose an engine again"));
        assert_eq!(session.state.matching.engine.choice, EngineChoice::Gpu, "the choice stays");
        session.set_engine(EngineChoice::Gpu);
        until(&mut session, "the GPU computes", computes(EngineKind::Gpu));
    }

    #[test]
    fn a_gpu_that_is_missed_is_looked_for_once_and_moved_to() {
        let (Some(first), Some(second)) = (Gpu::for_test(), Gpu::for_test()) else { return };
        let mut session = session(&first);
        let real = first.info.adapter.clone();
        let now = Instant::now();
        session.device.missed = Some("a GPU that is away".into());
        session.device.look_at = Some(now);
        session.search_device(now);
        until(&mut session, "it is said", |session| said(session, "a GPU that is away is not back"));
        assert!(session.device.look_at.is_none() && session.next_device().is_none());

        session.device.missed = Some(real.clone());
        session.found_device(Ok(second));
        assert!(session.next_device().is_some());
        assert_eq!(session.move_device().map(|gpu| gpu.info.adapter.clone()), Some(real));
        assert!(session.next_device().is_none() && session.device.missed.is_none() && said(&session, "back on"));
        until(&mut session, "the GPU computes", computes(EngineKind::Gpu));
    }
}
