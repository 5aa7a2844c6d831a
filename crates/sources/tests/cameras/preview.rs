//! Tests of previews: images of every camera, release of the camera, and errors.

use super::{SIZES, folder, open_one, open_pair, scene, take, with_cameras};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::image::Picture;
use stereopsis_base::testing::found as wait_for;
use stereopsis_capture::emulated::plug_in;
use stereopsis_capture::webcam::Preview;

fn picture(preview: &Preview) -> Arc<Picture> {
    wait_for("no image", || preview.latest())
}

#[test]
fn thumbnails_show_every_camera_and_free_it_again() {
    with_cameras(&["", "grey", "wide"], "preview::inside_thumbnails");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_thumbnails() {
    let previews = [0, 1, 2].map(Preview::open);
    let pictures = previews.each_ref().map(picture);
    assert!(previews.iter().all(|p| p.problem().is_none()));
    // the grey camera has its small size only at 60/s, so the larger one is used
    for (i, (picture, size)) in pictures.iter().zip([SIZES[1], SIZES[0], SIZES[1]]).enumerate() {
        assert_eq!(picture.size(), size, "camera {i}");
        let rgb = picture.rgb.as_ref().expect("is there").at(50, 60);
        assert!(rgb[1].abs_diff(scene(i, size).at(50, 60)) < 30, "camera {i}: {rgb:?}");
    }
    wait_for("stands still", || (!Arc::ptr_eq(&picture(&previews[0]), &pictures[0])).then_some(()));
    let dropping = Instant::now();
    drop(previews);
    assert!(dropping.elapsed() < Duration::from_millis(300), "dropping waits for nobody");
    take(&mut open_one(0).expect("is free"), 1);
}

#[test]
fn a_camera_in_use_is_left_alone() {
    with_cameras(&["", ""], "preview::inside_in_use");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_in_use() {
    let mut source = open_pair(0, 1).expect("opens");
    let preview = Preview::open(1);
    let problem = wait_for("no word", || preview.problem());
    assert!(problem.starts_with("camera 1 is in use by this program's source"), "{problem}");
    let pairs = take(&mut source, 5);
    assert_eq!(pairs[4].left.size(), SIZES[0]);
    assert!(preview.latest().is_none());
    drop(source);
    picture(&preview);
    assert_eq!(preview.problem(), None);
}

#[test]
fn a_preview_reports_its_problem_and_recovers() {
    with_cameras(&["unplug=5", "busy"], "preview::inside_trouble");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_trouble() {
    let (lost, busy) = (Preview::open(0), Preview::open(1));
    let problem = wait_for("no word", || busy.problem());
    assert!(problem.starts_with("camera 1 is busy"), "{problem}");
    let problem = wait_for("no word", || lost.problem());
    assert!(problem.contains("camera 0"), "{problem}");
    plug_in(&folder(), 0, 0);
    wait_for("does not recover", || lost.problem().is_none().then_some(()));
}
