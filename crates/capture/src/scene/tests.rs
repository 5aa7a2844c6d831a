//! Tests of the scene as a source.

use super::*;
use std::time::Instant;

fn small() -> SceneOptions {
    SceneOptions { width: 200, height: 150, ..SceneOptions::default() }
}

#[test]
fn a_rendered_loop_equals_frames_on_demand() {
    let options = SceneOptions { width: 80, height: 60, noise: 1.0, loop_frames: 5, ..small() };
    let mut played = SceneSource::new(options, Some(500.0), true).unwrap();
    let mut asked = SceneSource::new(options, None, true).unwrap();
    let next = |source: &mut SceneSource| {
        let give_up = Instant::now() + Duration::from_secs(20);
        while Instant::now() < give_up {
            if let Next::Pair(pair) = source.next(Duration::from_millis(50)).unwrap() {
                return pair;
            }
        }
        panic!("no pair within 20 s")
    };
    for sequence in 0..12 {
        let (one, other) = (next(&mut played), next(&mut asked));
        assert_eq!((one.sequence, &one.name), (sequence, &format!("scene-{sequence:06}")));
        assert!(one.left == other.left && one.right == other.right, "frame {sequence}");
        let (one, other) = (one.truth.unwrap(), other.truth.unwrap());
        assert!(one.left_px == other.left_px && one.right_px == other.right_px && one.occluded == other.occluded);
    }
}

#[test]
fn sources_of_the_same_scene_share_its_frames() {
    let played = |options| match SceneSource::new(options, Some(500.0), false).unwrap().play {
        Playback::RenderedLoop(played) => played,
        Playback::OnDemand(_) => panic!("a rate was given"),
    };
    let one = played(small());
    assert!(Arc::ptr_eq(&one, &played(small())));
    assert!(!Arc::ptr_eq(&one, &played(SceneOptions { seed: 7, ..small() })));
    let shared = Arc::downgrade(&one);
    drop(one);
    assert!(shared.upgrade().is_none(), "nothing keeps them after the last source");
}

#[test]
fn rejects_invalid_scene_options() {
    for options in [
        SceneOptions { width: 0, ..small() },
        SceneOptions { baseline_m: f64::NAN, ..small() },
        SceneOptions { noise: -1.0, ..small() },
    ] {
        assert!(SceneSource::new(options, None, false).is_err(), "{options:?}");
    }
}
