//! Tests of the player: order, loops, seeks, speed, damaged pairs, and jumps of the clock.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use stereopsis_base::image::{Image, Luma, Picture};

const TIMEOUT: Duration = Duration::from_secs(5);

/// Ten pairs, 20 ms apart, each with another grey level; those in `damaged` cannot be read, and only the first `there` are there.
struct GreyPairs {
    damaged: Vec<u64>,
    there: u64,
}

impl Pairs for GreyPairs {
    fn collection(&self) -> &'static str {
        "recording"
    }

    fn read(&mut self, k: u64) -> Result<RawPair, PairError> {
        if k >= self.there {
            return Err(PairError::Ended { count: self.there, why: format!("ends after {}", self.there).into() });
        }
        if self.damaged.contains(&k) {
            return Err(PairError::Damaged(format!("chunk of {k}").into()));
        }
        let picture = Picture { luma: Luma::U8(Image::filled(2, 1, k as u8)), rgb: None };
        Ok(RawPair::new(k.to_string(), 1000 + 2 * k, SystemTime::UNIX_EPOCH + time(k), picture.clone(), picture))
    }
}

fn start(pairs: Box<dyn Pairs>, transport: Transport, hold_at_end: bool) -> Result<Player, CaptureError> {
    let interval = median_interval(&transport.get().times);
    Player::start(pairs, Arc::new(transport), interval, hold_at_end)
}

fn time(k: u64) -> Duration {
    Duration::from_millis(20 * k)
}

fn player(speed: Speed, looped: bool, hold_at_end: bool, damaged: &[u64]) -> Player {
    let transport = Transport::new((0..10).map(time).collect(), speed, looped);
    start(Box::new(GreyPairs { damaged: damaged.into(), there: 10 }), transport, hold_at_end).unwrap()
}

/// Returns the number of the next pair, which must equal its pixels; `None` at the end.
fn next(player: &mut Player) -> Option<u64> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match player.next(Duration::from_millis(50)).unwrap() {
            Next::Pair(pair) => {
                assert_eq!(pair.left.luma, Luma::U8(Image::filled(2, 1, pair.sequence as u8)));
                return Some(pair.sequence);
            }
            Next::Waiting => assert!(Instant::now() < deadline, "no pair"),
            Next::End => return None,
        }
    }
}

fn holds(player: &mut Player) -> bool {
    matches!(player.next(Duration::from_millis(80)).unwrap(), Next::Waiting)
}

#[test]
fn returns_each_pair_then_ends_or_holds() {
    let mut once = player(Speed::Max, false, false, &[]);
    assert_eq!(std::iter::from_fn(|| next(&mut once)).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    let mut held = player(Speed::Max, false, true, &[]);
    (0..10).for_each(|k| assert_eq!(next(&mut held), Some(k)));
    assert!(holds(&mut held));
    held.transport().seek(3);
    assert_eq!(next(&mut held), Some(3));
}

#[test]
fn a_looped_player_starts_again() {
    let mut player = player(Speed::Max, true, false, &[]);
    let numbers: Vec<_> = (0..25).map(|_| next(&mut player).unwrap()).collect();
    assert_eq!(numbers, (0..25).map(|k| k % 10).collect::<Vec<_>>());
}

#[test]
fn steps_and_seeks_return_one_pair_while_paused() {
    let mut player = player(Speed::Times(1.0), false, true, &[]);
    assert_eq!(next(&mut player), Some(0));
    let transport = Arc::clone(player.transport());
    transport.pause();
    assert!(holds(&mut player));
    for (by, k) in [(1, 1), (1, 2), (-1, 1), (5, 6), (-9, 0)] {
        transport.step(by);
        assert_eq!(next(&mut player), Some(k));
        assert!(holds(&mut player));
    }
    transport.seek_time(time(7) + Duration::from_millis(3));
    assert_eq!(next(&mut player), Some(7));
    assert!(holds(&mut player));
    transport.play();
    assert_eq!((next(&mut player), next(&mut player)), (Some(8), Some(9)));
}

#[test]
fn the_speed_divides_the_intervals() {
    for (speed, seconds) in [(1.0, 0.18), (4.0, 0.045)] {
        let took = || {
            let mut player = player(Speed::Times(speed), false, false, &[]);
            next(&mut player);
            let start = Instant::now();
            while next(&mut player).is_some() {}
            start.elapsed().as_secs_f64()
        };
        // a busy machine delays some, and makes none shorter
        let took = (0..20).map(|_| took()).find(|&took| took < seconds + 0.05);
        assert!(took.is_some_and(|took| took > seconds - 0.01), "{speed}: {took:?} s instead of {seconds} s");
    }
}

#[test]
fn skips_and_records_damaged_pairs() {
    let mut player = player(Speed::Max, false, false, &[0, 4, 5]);
    assert_eq!(std::iter::from_fn(|| next(&mut player)).collect::<Vec<_>>(), [1, 2, 3, 6, 7, 8, 9]);
    assert_eq!(player.damaged.keys().copied().collect::<Vec<_>>(), [0, 4, 5]);
    assert_eq!(player.damaged[&4], "chunk of 4");
}

#[test]
fn an_early_end_shortens_the_time_line_with_one_remark() {
    let early = |looped, hold_at_end, damaged: &[u64]| {
        let transport = Transport::new((0..10).map(time).collect(), Speed::Max, looped);
        start(Box::new(GreyPairs { damaged: damaged.into(), there: 4 }), transport, hold_at_end).unwrap()
    };
    let mut once = early(false, false, &[1]);
    assert_eq!(std::iter::from_fn(|| next(&mut once)).collect::<Vec<_>>(), [0, 2, 3]);
    let remarks: Vec<_> = once.left_out().collect();
    assert_eq!(remarks, ["a pair of the recording was left out: chunk of 1", "ends after 4"]);
    let mut looped = early(true, false, &[]);
    assert_eq!([(); 6].map(|()| next(&mut looped).unwrap()), [0, 1, 2, 3, 0, 1]);
    let mut held = early(false, true, &[]);
    held.transport().seek(8);
    assert_eq!(next(&mut held), Some(3), "the last one");
    assert!(holds(&mut held));
    assert_eq!(held.transport().get().num_pairs(), 4);
}

#[test]
fn a_loop_without_readable_pairs_ends() {
    let mut player = player(Speed::Max, true, true, &(0..10).collect::<Vec<_>>());
    let end = (0..100).find_map(|_| player.next(Duration::from_millis(50)).err());
    assert!(end.unwrap().to_string().contains("no pair of the recording can be read"));
}

/// Pairs of which the third panics.
struct PanickingPairs;

impl Pairs for PanickingPairs {
    fn collection(&self) -> &'static str {
        "recording"
    }

    fn read(&mut self, k: u64) -> Result<RawPair, PairError> {
        assert!(k < 2, "a fault");
        GreyPairs { damaged: vec![], there: 10 }.read(k)
    }
}

#[test]
fn a_thread_that_dies_ends_the_source_with_an_error() {
    let transport = Transport::new((0..10).map(time).collect(), Speed::Max, false);
    let mut player = start(Box::new(PanickingPairs), transport, true).unwrap();
    let mut given = 0;
    let error = loop {
        match player.next(TIMEOUT) {
            Ok(Next::Pair(_)) => given += 1,
            Ok(other) => panic!("{other:?}"),
            Err(err) => break err.to_string(),
        }
    };
    assert_eq!(given, 2, "what it read before is given");
    assert!(error.contains("the thread that reads the recording has died"), "{error}");
}

/// Three pairs: the clock jumps by an hour before the second, and by centuries before the third.
struct JumpingPairs;

impl Pairs for JumpingPairs {
    fn collection(&self) -> &'static str {
        "recording"
    }

    fn read(&mut self, k: u64) -> Result<RawPair, PairError> {
        let at = [0, 3600, 9_000_000_000][k as usize];
        let pair = GreyPairs { damaged: vec![], there: 10 }.read(k)?;
        Ok(RawPair { capture_time: SystemTime::UNIX_EPOCH + Duration::from_secs(at), ..pair })
    }
}

#[test]
fn limits_the_wait_after_a_jump_of_the_clock() {
    let transport = Transport::new((0..3).map(time).collect(), Speed::Times(50.0), false);
    let mut player = start(Box::new(JumpingPairs), transport, false).unwrap();
    assert_eq!(player.max_wait(), MAX_WAIT);
    assert_eq!(std::iter::from_fn(|| next(&mut player)).collect::<Vec<_>>(), [0, 1, 2]);
    let said = player.jumps().unwrap();
    assert!(said.contains("by 3600 s at pair 1, and 1 time more: playback waits for 5 s"), "{said}");
}

#[test]
fn a_jump_does_not_change_the_median_interval() {
    let times = [0, 100, 200, 3_600_200, 3_600_300].map(Duration::from_millis);
    assert_eq!(median_interval(&times), Duration::from_millis(100));
    assert_eq!((median_interval(&times[..1]), median_interval(&[])), (Duration::ZERO, Duration::ZERO));
}
