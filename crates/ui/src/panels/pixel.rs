//! Read-out of the pixel under the pointer: disparity, depth, position, grey values, and reasons for a missing disparity.

use super::{Command, Core, widgets};
use crate::view::{Crosshair, metres};
use egui::{Align, Layout, RichText, Role, TextStyle, Ui, WidgetInfo, vec2};
use std::sync::Arc;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::Recorded;
use stereopsis_frame::engine::Output;
use stereopsis_stereo::{DisparityMap, INVALID, depth, reason};

/// Number of rows of the read-out, with three for the reasons.
const ROWS: usize = 9;
const NO_PIXEL: &str = "Rest the pointer on an image to read it; a click holds the place.";

pub(crate) fn show(ui: &mut Ui, core: &Core, _: &mut Vec<Command>) {
    widgets::heading(ui, "Pixel");
    // equal height with and without numbers, so that nothing below moves
    let row = ui.text_style_height(&TextStyle::Monospace) + ui.spacing().item_spacing.y;
    let optional = core.output().map_or(0, |output| {
        let frame = &output.job.frame;
        let has_bounds = frame.geometry.is_some_and(|geometry| geometry.spread.is_some());
        [output.job.params.confidence, frame.raw.recorded.is_some(), has_bounds].map(usize::from).into_iter().sum()
    });
    let height = row * (ROWS + optional) as f32;
    let size = vec2(ui.available_width(), height);
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        ui.set_min_height(height);
        match pointed(core) {
            Some((output, pixel)) => readout(ui, output, pixel, core.depth_mark()),
            None => widgets::note(ui, NO_PIXEL),
        }
    });
}

/// Returns the newest result and the pixel to read; a held one may lie outside smaller images.
pub(crate) fn pointed(core: &Core) -> Option<(&Arc<Output>, (usize, usize))> {
    let (output, (x, y)) = core.output().zip(core.pointer.pixel())?;
    let (width, height) = output.job.frame.size();
    (x < width && y < height).then_some((output, (x, y)))
}

/// Shows the read-out in one line below a page.
pub(crate) fn brief(ui: &mut Ui, core: &Core, _: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.set_min_height(ui.spacing().interact_size.y);
        let Some((output, (x, y))) = pointed(core) else {
            widgets::note(ui, NO_PIXEL);
            return;
        };
        let (geometry, map) = (output.job.frame.geometry.as_ref(), output.map.as_deref());
        let disparity_px = map.and_then(|map| map.disparity_px(x, y));
        let depth_m = geometry.zip(disparity_px).and_then(|(geometry, d)| geometry.depth_m(f64::from(d)));
        let between = geometry.zip(disparity_px).and_then(|(geometry, d)| geometry.interval_words(f64::from(d)));
        let between = between.map_or(String::new(), |between| format!(", {between}"));
        let mark = core.depth_mark().map_or(String::new(), |mark| format!(", {mark}"));
        let dash = || "–".to_owned();
        for (name, value) in [
            ("x, y", format!("{x}, {y}")),
            ("disparity", disparity_px.map_or_else(dash, |d| format!("{d:.2} px"))),
            ("depth", depth_m.map_or_else(dash, |z| format!("{} m{between}{mark}", metres(z as f32)))),
        ] {
            ui.label(RichText::new(name).weak().small());
            let response = ui.label(RichText::new(&value).monospace());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name} {value}")));
        }
    });
}

/// Shows the values of pixel `(x, y)`, only those of the images without a map on the host.
fn readout(ui: &mut Ui, output: &Output, (x, y): (usize, usize), mark: Option<&str>) {
    let frame = &*output.job.frame;
    let (geometry, map) = (frame.geometry.as_ref(), output.map.as_deref());
    let disparity_px = map.and_then(|map| map.disparity_px(x, y));
    let depth_m = geometry.zip(map).map(|(geometry, map)| depth::depth_m(map.values.at(x, y), geometry));
    let depth_m = depth_m.filter(|z| z.is_finite());
    let mut line = |name: &str, value: Option<String>, help: &str| {
        widgets::named_value(ui, name, value.as_deref().unwrap_or("–"), None).on_hover_text(help);
    };
    line("x, y", Some(format!("{x}, {y} px")), "Column and row in the left image, from 0.");
    let help = "How much further left the same thing is in the right image.";
    line("disparity", disparity_px.map(|d| format!("{d:.2} px")), help);
    // depends on the setting and not on the pixel, so that nothing moves
    if output.job.params.confidence {
        let help = "How clearly this disparity won over the best other one.";
        line("confidence", map.and_then(|map| map.confidence_percent(x, y)).map(|c| format!("{c:.0} %")), help);
    }
    let mark = mark.map_or(String::new(), |mark| format!(", {mark}"));
    line("depth", depth_m.map(|z| format!("{} m{mark}", metres(z))), "Distance along the left camera's axis.");
    if geometry.is_some_and(|geometry| geometry.spread.is_some()) {
        let between = geometry.zip(disparity_px).filter(|_| depth_m.is_some());
        let words = between.and_then(|(geometry, d)| geometry.interval_words(f64::from(d)));
        let help =
            "The true distance lies there in 95 of 100 rigs that the images allow. Known distances narrow it: Rig.";
        let words = words.map(|words| words.trim_start_matches("between ").to_owned());
        line("between", words, help);
    }
    let xyz = geometry.zip(depth_m).map(|(geometry, z)| {
        let scale = z / geometry.focal_px as f32;
        let (x, y) = ((x as f32 - geometry.cx_px as f32) * scale, (y as f32 - geometry.cy_px as f32) * scale);
        format!("{x:.2}  {y:.2}  {z:.2} m")
    });
    line("X Y Z", xyz, "The point from the left camera on: right, down, forward.");
    let partner = disparity_px.map(|d| Geometry::right_pixel(frame.axis, (x as f32, y as f32), d));
    let inside = |(x, y): &(f32, f32)| {
        let (width, height) = frame.size();
        (0.0..width as f32).contains(&x.round()) && (0.0..height as f32).contains(&y.round())
    };
    let right = partner
        .filter(inside)
        .map_or("–".to_owned(), |(x, y)| grey(&frame.right.luma, x.round() as usize, y.round() as usize).to_string());
    let help = "Grey values of the pixel and of its partner in the right image.";
    line("left, right", Some(format!("{}, {right}", grey(&frame.left.luma, x, y))), help);
    let truth_px = frame.truth.as_ref().map(|truth| truth.left_px.at(x, y)).filter(|d| d.is_finite());
    let truth = truth_px.and_then(|d| match geometry {
        Some(geometry) => geometry.depth_m(f64::from(d)).map(|z| format!("{} m", metres(z as f32))),
        None => Some(format!("{d:.2} px")),
    });
    line("truth", truth, "Disparity that the source gives as exact.");
    if let Some(recorded) = &frame.raw.recorded {
        line("recorded", recorded_at(recorded, frame.size(), (x, y)), "Disparity recorded with the pair.");
    }
    let why = match map {
        None => "reading …".to_owned(),
        Some(_) if geometry.is_some() && disparity_px.is_some() && depth_m.is_none() => {
            "no depth: at or behind infinity".to_owned()
        }
        Some(map) => why(map, x, y),
    };
    ui.add(egui::Label::new(RichText::new(why).small()).wrap());
}

fn recorded_at(recorded: &Recorded, size: (usize, usize), (x, y): (usize, usize)) -> Option<String> {
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

/// Returns the depth and disparity of the pixel under the pointer as a label.
pub(super) fn beside_pointer(core: &Core) -> Option<String> {
    core.pointer.hovered?;
    let (output, (x, y)) = pointed(core)?;
    let disparity_px = output.map.as_ref()?.disparity_px(x, y)?;
    let geometry = output.job.frame.geometry.as_ref();
    let depth_m = geometry.and_then(|geometry| geometry.depth_m(f64::from(disparity_px)));
    let between = geometry.and_then(|geometry| geometry.interval_words(f64::from(disparity_px)));
    let between = between.map_or(String::new(), |between| format!(", {between}"));
    let depth = depth_m.map_or(String::new(), |z| format!("{} m{between} · ", metres(z as f32)));
    Some(format!("{depth}{disparity_px:.2} px"))
}

pub(super) fn crosshair(output: &Output, (x, y): (usize, usize)) -> Crosshair {
    let d = output.map.as_ref().and_then(|map| map.disparity_px(x, y));
    let at = (x as f32, y as f32);
    Crosshair { left: at, right: d.map(|d| Geometry::right_pixel(output.job.frame.axis, at, d)) }
}

fn grey(luma: &Luma, x: usize, y: usize) -> u16 {
    match luma {
        Luma::U8(image) => image.at(x, y).into(),
        Luma::U16 { image, .. } => image.at(x, y),
    }
}

fn why(map: &DisparityMap, x: usize, y: usize) -> String {
    let bits = map.reasons.at(x, y);
    let sentences: Vec<_> = reason::ALL.iter().filter(|(bit, ..)| bits & bit != 0).map(|(.., text)| *text).collect();
    let invalid = map.values.at(x, y) == INVALID;
    match (invalid, sentences.is_empty()) {
        (false, true) => "measured".to_owned(),
        (true, true) => "no disparity".to_owned(),
        (_, false) => sentences.join("; "),
    }
}
