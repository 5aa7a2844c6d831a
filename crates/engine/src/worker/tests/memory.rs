//! Tests of a setting for which there is no memory: the engine continues with the one before.

use super::*;

#[test]
fn continues_with_the_setting_before_where_memory_is_too_small() {
    for (when, said) in [(0, "9 GB are missing"), (1, "its gates leave 9 GB")] {
        let bench = Bench::new(1);
        bench.permit(100);
        bench.send(0);
        bench.until("the first result", |b| b.worker.stats().computed == 1);
        bench.script.lock().too_large[when] = vec![P1 + 1];
        bench.set_p1(P1 + 1);
        bench.until("it is said", |b| b.worker.stats().too_large.is_some());
        let told = bench.worker.stats().too_large.unwrap();
        assert!(told.starts_with(said) && told.ends_with("the setting before is used until then"), "{told}");
        for sequence in 1..4 {
            bench.send(sequence);
            bench.until("its result", |b| {
                b.worker.latest().is_some_and(|output| output.job.frame.raw.sequence == sequence)
            });
            assert_eq!(bench.worker.latest().map(|output| output.job.params.p1), Some(P1));
        }
        let stats = bench.worker.stats();
        assert_eq!((stats.too_large.as_ref(), stats.error), (Some(&told), None));
        bench.set_p1(P1 + 2);
        bench.until("another setting has room", |b| b.worker.stats().too_large.is_none());
        bench.until("its result", |b| b.worker.latest().is_some_and(|output| output.job.params.p1 == P1 + 2));
    }
}

#[test]
fn tries_every_pair_where_no_setting_has_worked_before() {
    let bench = Bench::new(1);
    bench.permit(100);
    bench.script.lock().too_large[0] = vec![P1];
    for sequence in 0..2 {
        bench.send(sequence);
        bench.until("it failed", |b| b.worker.stats().failed == sequence + 1);
        let stats = bench.worker.stats();
        assert_eq!(
            (stats.too_large.as_deref(), stats.error.as_deref()),
            (Some("9 GB are missing"), Some("9 GB are missing"))
        );
    }
    bench.script.lock().too_large[0] = Vec::new();
    bench.send(2);
    bench.until("there is room", |b| b.worker.stats().too_large.is_none() && b.worker.stats().computed == 1);
}
