//! Tests of row errors: their estimate, and the correction of images.

use super::*;
use crate::matches::matches;
use crate::rig::tests::plain_rig;
use stereopsis_base::image::{Image, Luma, Picture};

const SIZE: (usize, usize) = (320, 240);

/// Returns a wall of dots and blobs, drawn at `source`.
fn wall(source: impl Fn(f64, f64) -> (f64, f64)) -> Luma {
    let wave = |x: f64, y: f64| {
        let soft = (0.31 * x).sin() * (0.27 * y + 0.05 * x).cos() + (0.11 * x - 0.19 * y).sin();
        soft + 0.6 * (0.73 * x + 0.41 * y).sin() * (0.07 * y).cos()
    };
    Luma::U8(Image::from_fn(SIZE.0, SIZE.1, |x, y| {
        let (x, y) = source(x as f64, y as f64);
        (128.0 + 38.0 * wave(x, y)).round() as u8
    }))
}

/// Returns matches of a wall at 12 px whose right image shows every point `px(x, y)` lower.
fn bent(px: impl Fn(DVec2) -> f64) -> Vec<Match> {
    let size = DVec2::new(SIZE.0 as f64, SIZE.1 as f64);
    let right = wall(|x, y| (x + 12.0, y - px(place(DVec2::new(x, y), size))));
    matches(&wall(|x, y| (x, y)), &right)
}

fn found(matches: &[Match]) -> RowFit {
    row_field(matches, SIZE.0, SIZE.1, &RowField::default()).unwrap()
}

#[test]
fn row_errors_are_found_to_a_twentieth_of_a_pixel() {
    for (name, terms) in [
        ("constant", [0.4, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("roll", [-0.2, 0.5, 0.0, 0.0, 0.0, 0.0]),
        ("curved", [0.3, -0.1, 0.25, 0.2, -0.3, 0.15]),
    ] {
        let fit = found(&bent(|at| value(&terms, at)));
        let size = DVec2::new(SIZE.0 as f64, SIZE.1 as f64);
        for at in [(-0.7, -0.7), (0.0, 0.0), (0.8, -0.3), (0.5, 0.8)].map(|(x, y)| DVec2::new(x, y)) {
            let found = fit.field.offset_px((at + 1.0) * size / 2.0 - 0.5, size);
            assert!((found - value(&terms, at)).abs() < 0.05, "{name} at {at}: {found}, {}", value(&terms, at));
        }
        assert!(fit.after_px < 0.5 * fit.before_px, "{name}: {fit}");
    }
}

#[test]
fn nothing_is_corrected_where_rows_agree_or_are_far_off() {
    let fit = found(&bent(|_| 0.0));
    assert!(fit.field.is_zero() && fit.before_px < 0.05, "{fit}");
    assert!(fit.to_string().starts_with("rows need no correction"), "{fit}");
    assert!(found(&bent(|_| 4.0)).field.is_zero(), "more than a slight error");
    assert_eq!(row_field(&bent(|_| 0.4)[..MIN_MATCHES - 1], SIZE.0, SIZE.1, &RowField::default()), None);
}

#[test]
fn the_next_field_includes_the_applied_one() {
    let applied = RowField { terms: [0.3 * 2.0 / SIZE.1 as f64, 0.0, 0.0, 0.0, 0.0, 0.0] };
    let fit = row_field(&bent(|_| 0.1), SIZE.0, SIZE.1, &applied).unwrap();
    assert!((fit.field.offset_px(DVec2::new(160.0, 120.0), DVec2::new(320.0, 240.0)) - 0.4).abs() < 0.05, "{fit}");
    assert!((fit.before_px - 0.4).abs() < 0.05 && fit.after_px < 0.1, "{fit}");
}

#[test]
fn the_field_moves_rows_or_columns_by_the_axis() {
    let (width, height) = (8, 6);
    let picture = Picture::from(Image::from_fn(width, height, |x, y| [(10 * x + y) as u8, (20 * y) as u8, 7]));
    let field = |px: f64, rows: usize| RowField { terms: [px * 2.0 / rows as f64, 0.0, 0.0, 0.0, 0.0, 0.0] };
    let lower = RowRemap::new(&field(1.0, height), Axis::Horizontal, (width, height), None).apply(&picture);
    for y in 0..height {
        let from = (y + 1).min(height - 1);
        assert_eq!(lower.rgb.as_ref().unwrap().row(y), picture.rgb.as_ref().unwrap().row(from), "row {y}");
    }
    // lower in turned images is further left upright
    let left = RowRemap::new(&field(1.0, width), Axis::Vertical, (width, height), None).apply(&picture);
    for x in 0..width {
        assert_eq!(left.luma.to_u8().at(x, 3), picture.luma.to_u8().at(x.saturating_sub(1), 3), "column {x}");
    }
}

#[test]
fn correction_and_rectification_combine_in_one_map() {
    let rig = plain_rig();
    let rectifier = rig.rectifier(640, 480, 0.3).unwrap();
    let field = RowField { terms: [0.5 * 2.0 / 480.0, 0.0, 0.0, 0.0, 0.0, 0.0] };
    let remap = RowRemap::new(&field, Axis::Horizontal, (640, 480), Some(&rectifier));
    for (x, y) in [(100, 100), (320, 240), (500, 400)] {
        let [above, below] = [y, y + 1].map(|y| DVec2::from(rectifier.sources(x, y)[1].unwrap()));
        let moved = remap.table.source(x, y).unwrap();
        assert!((moved - above.lerp(below, 0.5)).abs().max_element() <= 1.0 / 128.0, "{x}, {y}");
    }
    let still = RowRemap::new(&RowField::default(), Axis::Horizontal, (640, 480), Some(&rectifier));
    assert!((0..480).all(|y| (0..640).all(|x| still.table.source(x, y) == rectifier.right_table().source(x, y))));
}
