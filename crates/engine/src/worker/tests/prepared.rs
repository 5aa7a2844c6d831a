//! Tests of an engine that is not prepared for the current parameters: it uses older ones meanwhile, and no pair is lost.

use super::*;

impl Bench {
    /// Prepares the engine for all but these P1 from now on.
    fn lacks(&self, unprepared: &[u32]) {
        self.script.lock().unprepared = unprepared.to_vec();
    }

    /// Whether nothing happens while the engine is polled, but not all the time.
    fn waits_at_ease(&self) -> bool {
        let (before, start) = (self.script.lock().asked, Instant::now());
        let is_quiet = self.is_quiet();
        self.until("it is polled", |b| b.script.lock().asked > before);
        let (asked, ms) = (self.script.lock().asked - before, start.elapsed().as_millis());
        assert!(asked as u128 <= ms * 3 / 2, "asked {asked} times in {ms} ms");
        is_quiet
    }

    fn with_first_pair(slots: usize) -> Self {
        let bench = Self::new(slots);
        bench.permit(100);
        bench.send(0);
        bench.until_last(Done(0));
        bench
    }

    fn without_sender(self) -> Self {
        let Self { worker, frames, script } = self;
        drop(frames);
        let (frames, _) = channel();
        Self { worker, frames, script }
    }
}

#[test]
fn old_parameters_are_used_until_new_ones_are_prepared() {
    let bench = Bench::with_first_pair(2);
    bench.lacks(&[P1 + 1]);
    bench.set_p1(P1 + 1);
    for sequence in 1..4 {
        bench.send(sequence);
        bench.until_last(Done(sequence));
    }
    assert!(bench.waits_at_ease());
    bench.lacks(&[]);
    bench.until("the last pair is matched as wanted", |b| b.log().len() == 10);
    bench.send(4);
    bench.until_last(Done(4));
    let older = (0..4).flat_map(|sequence| [Submit(sequence, P1), Done(sequence)]);
    let wanted = [3, 4].into_iter().flat_map(|sequence| [Submit(sequence, P1 + 1), Done(sequence)]);
    assert_eq!(bench.log(), older.chain(wanted).collect::<Vec<_>>());
    bench.until("the last is published", |b| b.worker.stats().computed == 6);
    assert_eq!((bench.worker.stats().late, bench.worker.stats().failed), (0, 0));
    assert_eq!(bench.worker.latest().map(|output| output.job.params.p1), Some(P1 + 1));
}

#[test]
fn only_the_last_of_many_settings_counts() {
    let bench = Bench::with_first_pair(1);
    bench.lacks(&[P1 + 1, P1 + 2, P1 + 3]);
    (1..4).for_each(|more| bench.set_p1(P1 + more));
    assert!(bench.waits_at_ease());
    bench.lacks(&[P1 + 1, P1 + 2]);
    bench.until("the last wish is met", |b| b.log().last() == Some(&Done(0)) && b.log().len() == 4);
    assert!(bench.is_quiet());
    assert_eq!(bench.log()[2..], [Submit(0, P1 + 3), Done(0)]);
}

#[test]
fn first_pair_waits_while_commands_are_handled() {
    let bench = Bench::new(2);
    bench.permit(100);
    bench.lacks(&[P1]);
    bench.send(0);
    bench.until("it is taken", |b| b.script.lock().asked > 0);
    bench.send(1);
    assert!(bench.waits_at_ease());
    bench.set_p1(P1 + 1);
    bench.until_last(Done(1));
    let submitted: Vec<_> = bench.log().into_iter().filter(|event| matches!(event, Submit(..))).collect();
    assert_eq!(submitted, [Submit(0, P1 + 1), Submit(1, P1 + 1)], "no pair is lost");
    assert_eq!(bench.worker.stats().late, 0);
}

#[test]
fn pair_waits_for_whichever_parameters_are_prepared_first() {
    let bench = Bench::with_first_pair(2);
    bench.lacks(&[P1, P1 + 1]);
    bench.set_p1(P1 + 1);
    bench.send(1);
    assert!(bench.waits_at_ease());
    bench.lacks(&[P1 + 1]);
    bench.until_last(Done(1));
    assert!(bench.waits_at_ease());
    bench.lacks(&[]);
    bench.until("and then as wanted", |b| b.log().len() == 6);
    assert_eq!(bench.log()[2..], [Submit(1, P1), Done(1), Submit(1, P1 + 1), Done(1)]);
}

#[test]
fn busy_device_does_not_raise_the_rate_of_polls() {
    let bench = Bench::with_first_pair(2);
    bench.script.lock().permits = 0;
    bench.send(1);
    bench.until_last(Submit(1, P1));
    bench.lacks(&[P1, P1 + 1]);
    bench.set_p1(P1 + 1);
    bench.send(2);
    bench.until("it has asked", |b| b.script.lock().asked > 2);
    assert!(bench.waits_at_ease());
}

#[test]
fn paused_pair_is_matched_once_prepared() {
    let bench = Bench::with_first_pair(1);
    bench.worker.set_control(|control| control.paused = true);
    bench.send(1);
    bench.lacks(&[P1 + 1]);
    bench.set_p1(P1 + 1);
    assert!(bench.waits_at_ease());
    bench.lacks(&[]);
    bench.until("the held pair is matched as wanted", |b| b.log().len() == 4);
    assert!(bench.is_quiet());
    assert_eq!(bench.log()[2..], [Submit(0, P1 + 1), Done(0)]);
}

#[test]
fn waiting_pair_survives_a_pause() {
    let bench = Bench::with_first_pair(1);
    bench.lacks(&[P1, P1 + 1]);
    bench.set_p1(P1 + 1);
    bench.send(1);
    assert!(bench.waits_at_ease());
    bench.worker.set_control(|control| control.paused = true);
    assert!(bench.waits_at_ease());
    bench.worker.set_control(|control| control.paused = false);
    bench.lacks(&[]);
    bench.until("it is matched", |b| b.log().last() == Some(&Done(1)));
    assert_eq!(bench.worker.stats().late, 0);
}

#[test]
fn waiting_step_is_taken_once() {
    let bench = Bench::with_first_pair(1);
    bench.worker.set_control(|control| control.paused = true);
    bench.lacks(&[P1]);
    bench.send(1);
    bench.worker.set_control(|control| control.steps += 1);
    assert!(bench.waits_at_ease());
    bench.lacks(&[]);
    bench.until_last(Done(1));
    bench.send(2);
    assert!(bench.is_quiet(), "one pair for one step");
}

#[test]
fn end_is_reported_after_the_last_pair_with_new_parameters() {
    let bench = Bench::with_first_pair(1);
    bench.lacks(&[P1 + 1]);
    bench.set_p1(P1 + 1);
    bench.send(1);
    let bench = bench.without_sender();
    bench.until_last(Done(1));
    assert!(bench.waits_at_ease());
    assert!(!bench.worker.stats().ended);
    bench.lacks(&[]);
    bench.until("the source has ended", |b| b.worker.stats().ended);
    assert_eq!(bench.log()[2..], [Submit(1, P1), Done(1), Submit(1, P1 + 1), Done(1)]);
}

#[test]
fn last_pair_of_an_ended_source_is_matched_again_once_prepared() {
    let bench = Bench::with_first_pair(1).without_sender();
    bench.until("the source has ended", |b| b.worker.stats().ended);
    bench.lacks(&[P1 + 1]);
    bench.set_p1(P1 + 1);
    assert!(bench.waits_at_ease());
    bench.lacks(&[]);
    bench.until("the pair is matched as wanted", |b| b.log().len() == 4);
    assert_eq!(bench.log()[2..], [Submit(0, P1 + 1), Done(0)]);
}

#[test]
fn numbers_are_fetched_with_the_last_parameters_too() {
    let bench = Bench::with_first_pair(1);
    bench.send(1); // soon after the first one, which was measured
    bench.until_last(Done(1));
    bench.worker.set_control(|control| control.paused = true);
    bench.lacks(&[P1 + 1]);
    bench.set_p1(P1 + 1);
    bench.worker.set_control(|control| control.read_back = true);
    bench.until("the numbers are there", |b| b.worker.latest().is_some_and(|output| output.job.read_back));
    assert!(bench.waits_at_ease());
    assert_eq!(bench.log()[2..], [Submit(1, P1), Done(1), Submit(1, P1), Done(1)]);
}

#[test]
fn another_engine_does_not_take_over_old_parameters() {
    let bench = Bench::with_first_pair(1);
    bench.lacks(&[P1 + 1]);
    bench.set_p1(P1 + 1);
    assert!(bench.waits_at_ease());
    let script = Arc::clone(&bench.script);
    bench.worker.set_engine(EngineSource::Ready(Box::new(ScriptedEngine { slots: 1, script, queue: VecDeque::new() })));
    assert!(bench.waits_at_ease(), "the other engine's parameters may be what this one lacks");
    bench.lacks(&[]);
    bench.until("it is prepared", |b| b.log().len() == 4);
    assert_eq!(bench.log()[2..], [Submit(0, P1 + 1), Done(0)]);
}

#[test]
fn waiting_pair_is_prepared_again_like_the_last_one() {
    use stereopsis_frame::Scale;
    let bench = Bench::new(2);
    bench.permit(100);
    bench.lacks(&[P1]);
    bench.send(0);
    bench.until("it is taken", |b| b.script.lock().asked > 0);
    let prepare = |scale| {
        bench.worker.prepare_again(FramePreparation { scale, ..FramePreparation::default() }, SourceInfo::default());
    };
    let size = || bench.worker.latest().map(|output| output.job.frame.size());
    prepare(Scale::Half);
    assert!(bench.waits_at_ease());
    bench.lacks(&[]);
    bench.until("it is matched in half its size", |_| size() == Some((2, 1)));
    assert_eq!(bench.log(), [Submit(0, P1), Done(0)], "and never whole");
    prepare(Scale::One);
    bench.until("it is matched whole", |_| size() == Some((4, 3)));
    assert_eq!(bench.log().len(), 4);
    assert!(bench.is_quiet());
}
