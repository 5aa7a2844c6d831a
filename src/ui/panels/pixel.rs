//! Reads out the pixel under the pointer: disparity, depth, place in space, brightness, and why there is none.

use crate::capture::Recorded;
use crate::engine::Output;
use crate::image::{Image, Luma};
use crate::stereo::{DisparityMap, INVALID, depth, reason};
use crate::ui::session::Session;
use crate::ui::view::{Crosshair, metres};
use crate::ui::widgets;
use egui::{RichText, Ui};

/// What is known of one pixel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Readout {
    pub(crate) disparity_px: Option<f32>,
    /// How clearly it won.
    pub(crate) confidence_percent: Option<f32>,
    pub(crate) depth_m: Option<f32>,
    pub(crate) xyz_m: Option<[f32; 3]>,
    /// Grey values left and, at x - d, right.
    pub(crate) grey: (u16, Option<u16>),
    /// Exact depth, where the source knows it.
    pub(crate) truth_m: Option<f32>,
    /// What was recorded there: depth in m, or else disparity in px, in words.
    pub(crate) recorded: Option<String>,
    /// Why there is no disparity, or that it was filled in.
    pub(crate) why: Option<String>,
}

impl Readout {
    /// Reads pixel `(x, y)`; without a map only the pictures.
    pub(crate) fn of(output: &Output, (x, y): (usize, usize)) -> Self {
        let frame = &*output.job.frame;
        let mut readout = Self { grey: (grey(&frame.left.luma, x, y), None), ..Self::default() };
        let geometry = frame.geometry.as_ref();
        readout.truth_m = frame.truth.as_ref().zip(geometry).and_then(|(truth, geometry)| {
            let d = truth.left_px.at(x, y);
            geometry.depth_m(f64::from(d)).map(|z| z as f32)
        });
        readout.recorded =
            frame.raw.recorded.as_ref().and_then(|recorded| was_recorded(recorded, frame.size(), (x, y)));
        let Some(map) = &output.map else { return readout };
        readout.why = why(map, x, y);
        readout.disparity_px = map.disparity_px(x, y);
        readout.confidence_percent = map.confidence_percent(x, y);
        if let Some(geometry) = geometry {
            readout.depth_m = Some(depth::depth_m(map.values.at(x, y), geometry)).filter(|z| z.is_finite());
            readout.xyz_m = readout.depth_m.map(|z| {
                let scale = z / geometry.focal_px as f32;
                [(x as f32 - geometry.cx_px as f32) * scale, (y as f32 - geometry.cy_px as f32) * scale, z]
            });
            if readout.disparity_px.is_some() && readout.depth_m.is_none() {
                readout.why = Some("no depth: at or behind infinity".into());
            }
        }
        readout.grey.1 = readout.disparity_px.and_then(|d| {
            let column = (x as f32 - d).round();
            (0.0..frame.size().0 as f32).contains(&column).then(|| grey(&frame.right.luma, column as usize, y))
        });
        readout
    }
}

/// What was recorded where pixel `(x, y)` of a picture of this size is.
fn was_recorded(recorded: &Recorded, size: (usize, usize), (x, y): (usize, usize)) -> Option<String> {
    let at = |map: &Image<f32>| {
        let (x, y) = (x * map.width() / size.0, y * map.height() / size.1);
        Some(map.at(x, y)).filter(|v| v.is_finite())
    };
    match (&recorded.depth_m, &recorded.disparity_px) {
        (Some(depth_m), _) => at(depth_m).map(|z| format!("{} m", metres(z))),
        (None, Some(disparity_px)) => at(disparity_px).map(|d| format!("{d:.2} px")),
        (None, None) => None,
    }
}

/// Where the cross-hairs stand for a pixel.
pub(crate) fn crosshair(output: &Output, (x, y): (usize, usize)) -> Crosshair {
    let d = output.map.as_ref().and_then(|map| map.disparity_px(x, y));
    Crosshair { left: (x as f32, y as f32), right: d.map(|d| (x as f32 - d, y as f32)) }
}

fn grey(luma: &Luma, x: usize, y: usize) -> u16 {
    match luma {
        Luma::U8(image) => image.at(x, y).into(),
        Luma::U16 { image, .. } => image.at(x, y),
    }
}

fn why(map: &DisparityMap, x: usize, y: usize) -> Option<String> {
    let bits = map.reasons.at(x, y);
    let sentences: Vec<_> = reason::ALL.iter().filter(|(bit, ..)| bits & bit != 0).map(|(.., text)| *text).collect();
    let invalid = map.values.at(x, y) == INVALID;
    match (invalid, sentences.is_empty()) {
        (false, true) => None,
        (true, true) => Some("no disparity".into()),
        (_, false) => Some(sentences.join("; ")),
    }
}

/// Shows the panel.
pub(crate) fn show(ui: &mut Ui, session: &Session) {
    widgets::heading(ui, "Pixel");
    let size = session.output.as_ref().map(|output| output.job.frame.size());
    // told only where it is computed, so that nothing jumps from pixel to pixel
    let with_confidence = session.output.as_ref().is_some_and(|output| output.job.params.confidence);
    let inside = |&(x, y): &(usize, usize)| size.is_some_and(|(width, height)| x < width && y < height);
    let (Some(output), Some(pixel)) = (&session.output, session.pixel().filter(inside)) else {
        widgets::note(ui, "Rest the pointer on a picture to read it; a click holds the place.");
        // room for the numbers that come, so that nothing below jumps
        ui.add_space(row_height(ui) * if with_confidence { 7.0 } else { 6.0 });
        return;
    };
    let readout = Readout::of(output, pixel);
    let number = |v: Option<f32>, places: usize, unit: &str| v.map_or("–".into(), |v| format!("{v:.places$} {unit}"));
    line(ui, "x, y", format!("{}, {} px", pixel.0, pixel.1));
    line(ui, "disparity", number(readout.disparity_px, 2, "px"));
    if with_confidence {
        line(ui, "confidence", number(readout.confidence_percent, 0, "%"));
    }
    let estimated = output.job.frame.geometry.is_some_and(|geometry| geometry.estimated);
    let sure = if estimated { ", estimated" } else { "" };
    line(ui, "depth", readout.depth_m.map_or("–".into(), |z| format!("{} m{sure}", metres(z))));
    let xyz = |[x, y, z]: [f32; 3]| format!("{x:.2}  {y:.2}  {z:.2} m");
    line(ui, "X Y Z", readout.xyz_m.map_or("–".into(), xyz));
    let grey = |v: Option<u16>| v.map_or("–".into(), |v| v.to_string());
    line(ui, "left, right", format!("{}, {}", readout.grey.0, grey(readout.grey.1)));
    line(ui, "truth", readout.truth_m.filter(|z| z.is_finite()).map_or("–".into(), |z| format!("{} m", metres(z))));
    if output.job.frame.raw.recorded.is_some() {
        line(ui, "recorded", readout.recorded.unwrap_or_else(|| "–".into()));
    }
    let why = if output.map.is_none() { Some("reading …".into()) } else { readout.why };
    ui.add(egui::Label::new(RichText::new(why.unwrap_or_else(|| "measured".into())).small()).truncate());
}

fn row_height(ui: &Ui) -> f32 {
    ui.text_style_height(&egui::TextStyle::Monospace) + ui.spacing().item_spacing.y
}

fn line(ui: &mut Ui, name: &str, value: impl Into<String>) {
    widgets::named_value(ui, name, &value.into(), None);
}
