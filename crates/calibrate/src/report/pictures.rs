//! Sections on the views with their images, and on a rectified pair.

use super::markup::{escaped, paragraph, png, section, table};
use crate::error::CalibrateError;
use crate::session::TakenView;
use crate::{Outcome, ViewFit, tilt_deg};
use std::fmt::Write as _;
use std::sync::Arc;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::Side;

/// Width of a thumbnail, px.
const SMALL: usize = 160;
/// Largest width of a rectified image, px.
const WIDE: usize = 480;
/// Distance of the lines across the rectified pair, px of the drawing.
const LINES: usize = 20;

/// Largest number of views with images, because browsers cannot open a page of thousands.
const MAX_SHOWN: usize = 200;

pub(super) fn views(outcome: &Outcome, taken: &[TakenView]) -> String {
    let shown = &taken[..taken.len().min(MAX_SHOWN)];
    let mut rows = Vec::new();
    let mut rest = outcome.solution.views.as_slice();
    while let Some((fit, others)) = rest.split_first() {
        // both halves of a split view share a row
        let other = others.first().filter(|other| fit.is_split && other.is_split && other.view.name == fit.view.name);
        rest = &others[usize::from(other.is_some())..];
        rows.push(row(outcome, shown, fit, other));
    }
    let mut head = vec!["View", "Corners left, right", "RMS left, right, px", "Tilt", "Distance"];
    if !taken.is_empty() {
        head.push("Images");
    }
    let mut body = table(&head, &rows);
    if outcome.solution.views.iter().any(|fit| fit.is_split) {
        body += &paragraph(
            "In views marked “split” the cameras contradict each other, as if the board had moved between both images: such a view counts \
             for each camera alone, and does not tell how the cameras stand to each other.",
        );
    }
    if taken.len() > shown.len() {
        body += &paragraph(&format!("Images of the first {MAX_SHOWN} views are shown."));
    }
    section("Views", &body)
}

fn row(outcome: &Outcome, taken: &[TakenView], fit: &ViewFit, other: Option<&ViewFit>) -> Vec<String> {
    let halves = || std::iter::once(fit).chain(other);
    let corners = |side: Side| halves().map(|half| half.view.of(side).len()).sum::<usize>();
    let error =
        |side: Side| halves().find_map(|half| half.rms_px(side)).map_or("–".to_owned(), |px| format!("{px:.3}"));
    let (across, down) = outcome.board.inner();
    let middle = fit.pose.at((outcome.board.point_m(0) + outcome.board.point_m(across * down - 1)) / 2.0);
    let split = if fit.is_split { " <strong>split</strong>" } else { "" };
    let mut cells = vec![
        escaped(&fit.view.name) + split,
        format!("{}, {}", corners(Side::Left), corners(Side::Right)),
        format!("{}, {}", error(Side::Left), error(Side::Right)),
        format!("{:.0}°", tilt_deg(&fit.pose)),
        format!("{:.2} m", middle.length()),
    ];
    if !taken.is_empty() {
        let found = taken.iter().find(|taken| taken.view.name == fit.view.name);
        let pictures = found.and_then(|taken| taken.pictures.get().ok());
        let pictures: String = pictures.iter().flatten().filter_map(|picture| small(picture)).collect();
        cells.push(format!("<span class=\"images\">{pictures}</span>"));
    }
    cells
}

fn small(picture: &Image<u8>) -> Option<String> {
    let (address, (width, height)) = png(picture, SMALL)?;
    Some(format!("<img src=\"{address}\" width=\"{width}\" height=\"{height}\" alt=\"\"/>"))
}

/// Returns the section on a rectified pair, or nothing without images.
pub(super) fn rectified(outcome: &Outcome, taken: &[TakenView]) -> String {
    let Some(best) = taken.iter().max_by_key(|taken| taken.view.corners.iter().map(Vec::len).sum::<usize>()) else {
        return String::new();
    };
    let body = match drawing(outcome, best) {
        Ok(drawing) => {
            drawing
                + &paragraph(&format!(
                    "The view {}, rectified: left and right image. Whatever a line crosses in the left image, it must cross at the same \
                     height in the right one.",
                    best.view.name
                ))
        }
        Err(why) => paragraph(&format!("The view {} cannot be shown: {why}", best.view.name)),
    };
    section("A rectified pair", &body)
}

fn drawing(outcome: &Outcome, taken: &TakenView) -> Result<String, CalibrateError> {
    let (width, height) = outcome.size;
    let rectifier = outcome.solution.rig.rectifier(width, height, 0.0)?;
    let [left, right] =
        taken.pictures.get()?.map(|picture| Picture { luma: Luma::U8(Arc::unwrap_or_clone(picture)), rgb: None });
    let (left, right) = rectifier.apply(&left, &right)?;
    let mut images = String::new();
    let mut size = (0, 0);
    for (place, picture) in [left, right].into_iter().enumerate() {
        let (address, (width, height)) = png(&picture.luma.to_u8(), WIDE).ok_or(CalibrateError::Png)?;
        size = (width, height);
        let x = place * width;
        let _ = writeln!(images, "<image href=\"{address}\" x=\"{x}\" y=\"0\" width=\"{width}\" height=\"{height}\"/>");
    }
    let (width, height) = (2 * size.0, size.1);
    let mut lines = String::new();
    for y in (LINES / 2..height).step_by(LINES) {
        let _ = write!(lines, "M0 {y}H{width}");
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\">\n{images}\
         <path fill=\"none\" stroke=\"#00c853\" stroke-width=\"0.8\" d=\"{lines}\"/>\n</svg>\n"
    ))
}
