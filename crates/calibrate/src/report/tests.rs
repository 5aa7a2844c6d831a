//! Tests of the report's HTML on a simulated calibration.

use super::*;
use crate::finding::{Advice, Finding};
use crate::{Board, CalibrationRequest, Corner, Outcome, Pictures, Pose, View, calibrate};
use glam::{DMat3, DVec2, DVec3};
use std::sync::Arc;
use stereopsis_base::image::Image;
use stereopsis_calibration::{Camera, Distortion, StereoRig};
use stereopsis_frame::Side;

const SIZE: (usize, usize) = (640, 480);

/// Simulates views of a board by a rig with a baseline of 60 mm, with errors of some hundredths of a pixel.
fn outcome(names: impl Fn(usize) -> String) -> Outcome {
    let board: Board = "chessboard:7x5:26mm".parse().unwrap();
    let camera = |fx: f64| Camera {
        fx,
        fy: fx,
        cx: 322.0,
        cy: 238.0,
        skew: 0.0,
        distortion: Distortion::from_opencv("lens", &[-0.1, 0.02, 0.0, 0.0]).unwrap(),
    };
    let rig = StereoRig::new(
        camera(500.0),
        camera(503.0),
        DMat3::from_rotation_y(0.01),
        DVec3::new(-0.06, 0.0, 0.001),
        Some(SIZE),
    );
    let view = |number: usize| {
        let turn = number as f64 * 2.4;
        let rotation = DMat3::from_rotation_x(0.5 * turn.sin()) * DMat3::from_rotation_y(0.5 * turn.cos());
        let at = DVec2::new([-0.17, 0.0, 0.2][number % 3], [-0.12, 0.13, 0.0, 0.1][number % 4]);
        let pose = Pose { rotation, translation_m: at.extend(0.45) - rotation * DVec3::new(0.08, 0.05, 0.0) };
        let corners = Side::ALL.map(|side| {
            let seen = |id: usize| {
                let in_left = pose.at(board.point_m(id));
                let at = match side {
                    Side::Left => rig.left.project(in_left),
                    Side::Right => rig.right.project(rig.rotation * in_left + rig.translation_m),
                };
                let phase = (number * 97 + id * 31 + side as usize * 13) as f64;
                let is_inside = at.cmpge(DVec2::splat(2.0)).all() && at.cmple(DVec2::new(637.0, 477.0)).all();
                is_inside.then(|| Corner { id, at: at + 0.08 * DVec2::new((phase * 1.7).sin(), (phase * 2.3).cos()) })
            };
            (0..board.corner_count()).filter_map(seen).collect()
        });
        View { name: names(number), corners }
    };
    let views: Vec<View> = (0..12).map(view).collect();
    calibrate(&board, &views, SIZE, &CalibrationRequest::default()).unwrap()
}

fn text_of(page: &str) -> String {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    let tree = roxmltree::Document::parse_with_options(page, options).unwrap();
    assert!(tree.descendants().all(|node| node.tag_name().name() != "script"));
    tree.descendants().filter(roxmltree::Node::is_text).filter_map(|node| node.text()).collect()
}

#[test]
fn the_page_has_the_numbers_of_the_outcome_and_needs_no_file() {
    let outcome = outcome(|number| format!("view{number}.png"));
    let page = html(&outcome, &[]);
    let text = text_of(&page);
    let judgement = outcome.judgement.as_ref().unwrap();
    let rig = &outcome.solution.rig;
    for expected in [
        format!("{:.2} px ± {:.2} %", rig.left.fx, judgement.focal_percent),
        format!("{:.2} mm ± {:.2} %", 1e3 * rig.baseline_m(), judgement.baseline_percent),
        format!("{:.2} %", judgement.depth[1].calibration_percent),
        format!("{:.2} %", judgement.depth[1].percent()),
        format!("{:.3} px", judgement.left_out_px),
        format!("{:.3} px", outcome.tried[2].1),
        format!("{:.3} px", outcome.mono_px),
        "the 26.0 mm that were typed".to_owned(),
        "chessboard:7x5:26mm".to_owned(),
        "640 x 480 px".to_owned(),
        "view11.png".to_owned(),
        env!("CARGO_PKG_VERSION").to_owned(),
    ] {
        assert!(text.contains(&expected), "'{expected}' is missing");
    }
    // no external resources
    for word in ["src=\"http", "href=\"http", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(page.matches("<svg").count(), 6);
}

#[test]
fn names_are_text_and_never_markup() {
    let outcome = outcome(|number| format!("<script>{number}&\u{7}"));
    let page = html(&outcome, &[]);
    assert!(!page.contains("<script") && text_of(&page).contains("<script>3&"));
}

#[test]
fn the_verdict_comes_first() {
    let mut outcome = outcome(|number| number.to_string());
    outcome.refusals.clear();
    let good = outcome.judgement.as_ref().unwrap().good_to_m(1.0).unwrap();
    let text = text_of(&html(&outcome, &[]));
    assert!(text.contains(&format!("Good enough for {good:.1} m within 1 %.")), "{text}");
    outcome.doubts = vec![Finding::Tilt(3.0)];
    let page = html(&outcome, &[]);
    let text = text_of(&page);
    assert!(text.contains("within 1 %, with 1 doubt.") && text.contains("tilted by 3 degrees"), "{text}");
    assert!(page.contains("class=\"verdict fair\""), "a doubt is no good verdict");
    outcome.refusals = vec![Finding::UpsideDown];
    outcome.advice = vec![Advice::MoreViews];
    let text = text_of(&html(&outcome, &[]));
    let places = ["Not to be used, for 1 reason.", "one camera is upside down", "more views", "Expected error"]
        .map(|words| text.find(words).unwrap());
    assert!(places.is_sorted() && !text.contains("Good enough"), "{places:?}");
}

#[test]
fn unknown_errors_are_described() {
    let mut outcome = outcome(|number| number.to_string());
    outcome.judgement.as_mut().unwrap().depth[0].calibration_percent = f64::INFINITY;
    let text = text_of(&html(&outcome, &[]));
    assert!(text.contains("not seen by both cameras") && !text.contains("inf"));
    outcome.judgement = None;
    assert!(text_of(&html(&outcome, &[])).contains("too few views"));
}

#[test]
fn split_views_are_one_row_each() {
    let mut outcome = outcome(|number| format!("view {number}"));
    let mut halves = [outcome.solution.views[3].clone(), outcome.solution.views[3].clone()];
    for (side, half) in halves.iter_mut().enumerate() {
        half.is_split = true;
        half.view.corners[1 - side].clear();
        half.errors[1 - side].clear();
    }
    outcome.solution.views.splice(3..4, halves);
    let text = text_of(&html(&outcome, &[]));
    assert_eq!((text.matches("view 3").count(), text.matches("view 4").count()), (1, 1));
    assert!(text.contains("12 views used, 11 of them in both images"), "{text}");
}

#[test]
fn pictures_are_inside_the_page() {
    let outcome = outcome(|number| number.to_string());
    let picture = Arc::new(Image::from_fn(SIZE.0, SIZE.1, |x, y| ((x / 40 + y / 40) % 2 * 200) as u8));
    let view = outcome.solution.views[2].view.clone();
    let mut taken = TakenView { view, pictures: Pictures::Held([picture.clone(), picture]) };
    let page = html(&outcome, std::slice::from_ref(&taken));
    assert!(text_of(&page).contains("The view 2, rectified"));
    let count = |words: &str| page.matches(words).count();
    assert_eq!((count("<img src=\"data:image/png;base64,"), count("<image href=\"data:image/png;base64,")), (2, 2));
    // images of another shape cannot be rectified, which the page reports
    taken.pictures = Pictures::Held([(); 2].map(|()| Arc::new(Image::filled(100, 90, 0))));
    assert!(text_of(&html(&outcome, &[taken])).contains("The view 2 cannot be shown: "));
}
