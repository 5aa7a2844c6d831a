//! Tests of AprilGrid detection on rendered boards: occluded, duplicated and foreign tags.

use crate::detect::tests::other;
use crate::detect::{Detection, Detector, Mismatch};
use crate::fixture::{BoardRenderer, ImagingConditions, random_pose, random_rig, truth};
use crate::marker::tag_codes;
use crate::{Board, Corner, Pattern, Pose};
use calib_targets_charuco::resolve_dictionary;
use fastrand::Rng;
use glam::{DMat3, DVec2, DVec3, IVec2};
use stereopsis_base::image::Image;
use stereopsis_frame::Side;

const BOARD: &str = "aprilgrid:6x6:30mm:9mm";

fn detect(named: &str, picture: &Image<u8>) -> Detection {
    Detector::new(&named.parse().unwrap()).unwrap().detect(picture, None)
}

fn whole_tags(board: &Board, corners: &[Corner]) -> Vec<[usize; 4]> {
    let (across, _) = board.inner();
    let inside = |id: &usize| {
        let place = corners.iter().find(|corner| corner.id == *id).map(|corner| corner.at);
        place.is_some_and(|at| at.cmpge(DVec2::splat(6.0)).all() && at.cmple(DVec2::new(633.0, 473.0)).all())
    };
    let firsts = (0..board.rows).flat_map(|row| (0..board.columns).map(move |column| 2 * (row * across + column)));
    let tags = firsts.map(|first| [first, first + 1, first + across, first + across + 1]);
    tags.filter(|tag| tag.iter().all(inside)).collect()
}

#[test]
fn tags_are_found_at_all_tilts_with_blur_and_noise() {
    let board: Board = BOARD.parse().unwrap();
    let (mut whole, mut found, mut errors) = (0, 0, Vec::new());
    for seed in 4..14 {
        let rig = random_rig(seed);
        let pose = random_pose(&rig, &board, &mut Rng::with_seed(seed));
        let shot = ImagingConditions::usual(seed);
        let picture = BoardRenderer::new(&rig).picture(&board, &pose, &shot, Side::Left);
        let truth = truth(&rig, &board, &pose, &shot);
        let truth = truth.of(Side::Left);
        let seen = detect(BOARD, &picture);
        let at = |id: usize| seen.corners().iter().find(|corner| corner.id == id);
        let tags = whole_tags(&board, truth);
        whole += tags.len();
        found += tags.iter().filter(|tag| tag.iter().all(|id| at(*id).is_some())).count();
        for corner in truth {
            errors.extend(at(corner.id).map(|found| found.at.distance(corner.at)));
        }
    }
    errors.sort_by(f64::total_cmp);
    let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    assert!(found * 100 >= whole * 90, "{found} of {whole} tags");
    assert!(median < 0.05 && worst < 0.3, "{median:.3} px median, {worst:.3} px at most");
}

/// Renders a board that fills most of the image, rolled about the optical axis, and returns its corners too.
fn picture(board: &Board, roll_deg: f64) -> (Image<u8>, Vec<Corner>) {
    let rig = random_rig(3);
    let rotation = DMat3::from_rotation_x(0.3) * DMat3::from_rotation_z(roll_deg.to_radians());
    let size_m = board.size_mm() * 1e-3;
    let middle = (size_m / 2.0 - board.origin_mm() * 1e-3).extend(0.0);
    let distance_m = 2.0 * size_m.max_element() * rig.left.fx / 640.0;
    let pose = Pose { rotation, translation_m: DVec3::Z * distance_m - rotation * middle };
    let shot = ImagingConditions::usual(1);
    let corners = truth(&rig, board, &pose, &shot).of(Side::Left).to_vec();
    (BoardRenderer::new(&rig).picture(board, &pose, &shot, Side::Left), corners)
}

fn hidden(picture: &Image<u8>, from: (usize, usize), to: (usize, usize)) -> Image<u8> {
    Image::from_fn(picture.width(), picture.height(), |x, y| {
        let is_hidden = (from.0..to.0).contains(&x) && (from.1..to.1).contains(&y);
        if is_hidden { 120 } else { picture.at(x, y) }
    })
}

/// Asserts corner positions to about a pixel, because an occluder shifts the corners beside it a little.
fn check(seen: &Detection, truth: &[Corner], least: usize) {
    assert!(seen.corners().len() >= least, "{}: {seen:?}", seen.corners().len());
    for corner in seen.corners() {
        let at = truth.iter().find(|known| known.id == corner.id).map(|known| known.at);
        assert!(at.is_some_and(|at| at.distance(corner.at) < 1.0), "{corner:?} {at:?}");
    }
}

#[test]
fn parts_of_a_turned_board_suffice() {
    let board: Board = BOARD.parse().unwrap();
    for roll in [0.0, 90.0, 180.0, 250.0] {
        let (picture, truth) = picture(&board, roll);
        check(&detect(BOARD, &picture), &truth, 144);
        check(&detect(BOARD, &hidden(&picture, (0, 0), (330, 480))), &truth, 48);
        // a hand in the middle separates the tags
        check(&detect(BOARD, &hidden(&picture, (260, 0), (380, 480))), &truth, 60);
    }
    let (picture, truth) = picture(&board, 0.0);
    let last = truth.iter().find(|corner| corner.id == 143).unwrap().at;
    let first = truth.iter().find(|corner| corner.id == 130).unwrap().at;
    let but_one = Image::from_fn(640, 480, |x, y| {
        let at = DVec2::new(x as f64, y as f64);
        if at.cmpge(first - 9.0).all() && at.cmple(last + 9.0).all() { picture.at(x, y) } else { 120 }
    });
    let seen = detect(BOARD, &but_one);
    check(&seen, &truth, 4);
    let ids: Vec<usize> = seen.corners().iter().map(|corner| corner.id).collect();
    assert_eq!(ids, [130, 131, 142, 143]);
    // an isolated tag with wrong cells may be any tag
    let spot = (first + last) / 2.0 - 10.5;
    let (from, to) = (spot.as_usizevec2(), (spot + 9.0).as_usizevec2());
    let smudged = hidden(&but_one, (from.x, from.y), (to.x, to.y));
    assert!(detect(BOARD, &smudged) == Detection::Mismatch(Mismatch::Unread("tag")), "{:?}", detect(BOARD, &smudged));
}

#[test]
fn a_tag_that_lies_elsewhere_is_none_of_the_board() {
    let board: Board = BOARD.parse().unwrap();
    let (picture, truth) = picture(&board, 0.0);
    let corner = |id: usize| truth.iter().find(|corner| corner.id == id).unwrap().at;
    let (from, to) = ((corner(0) - 9.0).as_usizevec2(), (corner(13) + 9.0).as_usizevec2());
    let copied = |onto: &Image<u8>| {
        Image::from_fn(640, 480, |x, y| {
            let (x_in_copy, y_in_copy) = (x.wrapping_sub(14), y.wrapping_sub(14));
            let is_copy = x_in_copy < to.x - from.x && y_in_copy < to.y - from.y;
            if is_copy { picture.at(x_in_copy + from.x, y_in_copy + from.y) } else { onto.at(x, y) }
        })
    };
    assert_eq!(detect(BOARD, &copied(&Image::filled(640, 480, 120))).corners().len(), 4);
    let without = hidden(&picture, (from.x, from.y), (to.x, to.y));
    check(&detect(BOARD, &copied(&without)), &truth, 120);
    check(&detect(BOARD, &copied(&picture)), &truth, 140);
}

#[test]
fn other_board_is_distinguished_from_the_named_one() {
    let told = |shown: &str, named: &str, words: &str| {
        let (picture, _) = picture(&shown.parse().unwrap(), 0.0);
        let seen = detect(named, &picture);
        assert!(other(&seen).contains(words), "{shown} as {named}: {seen:?}");
    };
    told("aprilgrid:7x5:30mm:9mm", BOARD, "has 7 tags along a row, as their numbers say, and 6 are named");
    told(BOARD, "aprilgrid:6x4:30mm:9mm", "the tag 29 is seen, and a board of 6x4 tags has those from 0 to 23");
    told("aprilgrid:6x6:30mm:6mm", BOARD, "the gaps between the tags measure 0.2");
    let (seen, _) = picture(&BOARD.parse().unwrap(), 0.0);
    let mirrored = Image::from_fn(640, 480, |x, y| seen.at(639 - x, y));
    assert_eq!(detect(BOARD, &mirrored), Detection::Mismatch(Mismatch::Mirrored));
}

#[test]
fn a_board_beside_the_named_one_does_no_harm() {
    let (picture, truth) = picture(&BOARD.parse().unwrap(), 0.0);
    let at = |id: usize| truth.iter().find(|corner| corner.id == id).unwrap().at;
    // without the middle rows the upper tags are far from the lower ones
    let two = hidden(&picture, (0, at(48).y as usize + 3), (640, at(95).y as usize - 3));
    let seen = detect("aprilgrid:6x2:30mm:9mm", &two);
    let upper: Vec<_> =
        truth.iter().filter(|corner| corner.id >= 96).map(|c| Corner { id: c.id - 96, at: c.at }).collect();
    check(&seen, &upper, 44);
}

#[test]
fn other_families_of_tags_are_named() {
    let mut board: Board = "aprilgrid:5x4:30mm:9mm".parse().unwrap();
    for family in ["DICT_APRILTAG_36h10", "DICT_APRILTAG_25h9", "DICT_APRILTAG_16h5"] {
        board.pattern = Pattern::AprilGrid { gap_mm: 9.0, tags: resolve_dictionary(family).unwrap() };
        let seen = detect("aprilgrid:5x4:30mm:9mm", &picture(&board, 0.0).0);
        assert_eq!(seen, Detection::Mismatch(Mismatch::OtherTags(family)));
    }
}

/// Draws a grid of 3x3 tags with a black border of one cell and the numbers `number(column, row)`.
fn with_narrow_borders(codes: &[u64], number: impl Fn(i32, i32) -> i32) -> Image<u8> {
    // tags of 8 cells with gaps of 2; a cell has 8 px
    let is_black = |x: i32, y: i32| {
        let (tag, cell) = ((x.div_euclid(10), y.div_euclid(10)), (x.rem_euclid(10), y.rem_euclid(10)));
        let is_inside = (0..3).contains(&tag.0) && (0..3).contains(&tag.1);
        let bit = (cell.1 - 1) * 6 + cell.0 - 1;
        match (cell.0 < 8, cell.1 < 8) {
            (false, false) => (-1..3).contains(&tag.0) && (-1..3).contains(&tag.1),
            (true, true) if is_inside => {
                let is_border = !(1..7).contains(&cell.0) || !(1..7).contains(&cell.1);
                is_border || codes[number(tag.0, tag.1) as usize] >> bit & 1 == 1
            }
            _ => false,
        }
    };
    Image::from_fn(360, 360, |x, y| if is_black(x as i32 / 8 - 6, y as i32 / 8 - 6) { 30 } else { 220 })
}

#[test]
fn narrow_tag_borders_are_found_and_other_orders_reported() {
    let tags = resolve_dictionary("DICT_APRILTAG_36h11").unwrap();
    let named = "aprilgrid:3x3:80mm:20mm";
    let codes: Vec<u64> = tag_codes(&tags).collect();
    let seen = detect(named, &with_narrow_borders(&codes, |column, row| column + 3 * (2 - row)));
    assert_eq!(seen.corners().len(), 36, "{seen:?}");
    for corner in seen.corners() {
        let place = |number: usize| (48 + number / 2 * 80 + number % 2 * 64) as f64 - 0.5;
        let at = DVec2::new(place(corner.id % 6), place(corner.id / 6));
        assert!(corner.at.distance(at) < 0.01, "{corner:?} {at}");
    }
    let downwards = detect(named, &with_narrow_borders(&codes, |column, row| column + 3 * row));
    // OpenCV's orientation
    let upside_down = detect(named, &with_narrow_borders(tags.codes(), |column, row| column + 3 * (2 - row)));
    for seen in [downwards, upside_down] {
        assert_eq!(seen, Detection::Mismatch(Mismatch::TagsElsewhere(IVec2::splat(3))));
    }
}

#[test]
fn other_things_are_no_board() {
    let (chessboard, _) = picture(&"chessboard:9x6:30mm".parse().unwrap(), 0.0);
    assert_eq!(detect(BOARD, &chessboard), Detection::Mismatch(Mismatch::Nothing));
    let mut random = Rng::with_seed(5);
    let noise = Image::from_fn(320, 240, |_, _| random.u8(..));
    assert_eq!(detect(BOARD, &noise), Detection::Mismatch(Mismatch::Nothing));
}
