//! Open views: images and maps, with cross-hair and colour bar.

use super::{Action, Command, Core, Panel, pixel, widgets};
use crate::core::{CompareState, CompareStep, Marked, ViewSettings};
use crate::render::{Display, Drawable, FloatMap, MapDisplays, Screens};
use crate::space::panel::SpaceView;
use crate::view::{Marks, Tile, TitleClick, ViewKind, ViewRects, arrange, arrange_around, range_text};
use eframe::egui_wgpu::RenderState;
use egui::{Align, DragValue, Label, Layout, Rect, Role, Ui, UiBuilder};
use std::sync::Arc;
use stereopsis_base::console;
use stereopsis_base::console::foreign;
use stereopsis_calibration::{FocalLength, RowOffset};
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, Recorded, SourceSpec};
use stereopsis_settings::rig::{ASSUMED_BASELINE_M, ASSUMED_FOV_DEG, CalibrationChoice};

const NO_RESULT: &str = "no result yet";
const NO_CONFIDENCE: &str =
    "No confidence: it is switched off. Confidence, among the parameters of Rejection, switches it on.";
const NOT_RECORDED: &str =
    "No recorded depth: this pair has none with it. Recordings have it where depth or disparity was recorded.";
const NO_REFERENCE: &str = "No difference: this pair has neither recorded depth nor truth with it, or of another size.";
const NO_CALIBRATION: &str = "No depth: no calibration.";
const NO_DEPTH: &str = "No depth: no calibration. Two webcams, rig … (R) loads one or estimates it from the images. For rectified images two numbers do:";
const NO_DEPTH_HERE: &str = "No depth: no calibration. A click shows what to do.";
const BESIDE: [ViewKind; 2] = [ViewKind::Depth, ViewKind::Disparity];
const LENS_WIDTH: f32 = 210.0;

struct ViewData {
    displays: MapDisplays,
    recorded: Option<Arc<FloatMap>>,
}

pub(crate) struct Pictures {
    screens: Screens,
    space: SpaceView,
    /// Recorded map of the pair, packed for the shader.
    recorded: Option<(Arc<Recorded>, Arc<FloatMap>)>,
    /// Reference map of the pair, recorded or true disparities, packed for the shader.
    reference: Option<(Arc<Frame>, Option<Arc<FloatMap>>)>,
    /// Maps of A during a comparison.
    screens_of_a: Option<Screens>,
    /// Disparities of A, packed for the shader.
    packed_a: Option<(Arc<Output>, Arc<FloatMap>)>,
    render_state: RenderState,
    /// Typed field of view of the lens in degrees, and typed baseline in m.
    lens: (Option<f64>, Option<f64>),
}

impl Pictures {
    pub(crate) fn new(render_state: &RenderState) -> Self {
        Self {
            screens: Screens::new(render_state),
            space: SpaceView::new(render_state),
            recorded: None,
            reference: None,
            screens_of_a: None,
            packed_a: None,
            render_state: render_state.clone(),
            lens: (None, None),
        }
    }

    /// Returns A's disparities, packed once.
    fn map_of_a(&mut self, a: &Arc<Output>) -> Option<Arc<FloatMap>> {
        if !self.packed_a.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, a)) {
            self.packed_a = Some((Arc::clone(a), Arc::new(FloatMap::of_map(a.map.as_ref()?))));
        }
        self.packed_a.as_ref().map(|(_, map)| Arc::clone(map))
    }

    /// Returns the reference map of a pair, packed once.
    fn reference_map(&mut self, output: &Output) -> Option<Arc<FloatMap>> {
        let frame = &output.job.frame;
        if !self.reference.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, frame)) {
            self.reference = Some((Arc::clone(frame), FloatMap::of_reference(frame).map(Arc::new)));
        }
        self.reference.as_ref().and_then(|(_, map)| map.clone())
    }

    /// Draws A's maps where both settings are shown side by side.
    fn update_a(&mut self, comparison: Option<&CompareState>, displays: &MapDisplays, views: &[ViewKind]) {
        let Some([a, _]) = comparison.and_then(|comparison| comparison.shown.as_ref()) else {
            (self.screens_of_a, self.packed_a) = (None, None);
            return;
        };
        let screens = self.screens_of_a.get_or_insert_with(|| Screens::new(&self.render_state));
        let maps: Vec<_> = views.iter().copied().filter(|view| BESIDE.contains(view)).collect();
        screens.update(a, None, None, displays, &maps);
    }

    /// Returns A's map in a view, and the position of the line between both.
    fn beside(&self, core: &Core, kind: ViewKind) -> Option<(Drawable<'_>, f32)> {
        let comparison = core.comparison.as_ref().filter(|comparison| !comparison.shows_a && BESIDE.contains(&kind))?;
        Some((self.screens_of_a.as_ref()?.picture(kind)?, comparison.wiper))
    }

    /// Returns the image of a view, or the reason why none exists.
    fn content(
        &self,
        core: &Core,
        kind: ViewKind,
        is_small: bool,
        has_display: bool,
    ) -> Result<Drawable<'_>, &'static str> {
        match kind {
            ViewKind::Depth if !has_display && is_small => Err(NO_DEPTH_HERE),
            ViewKind::Depth if !has_display => Err(""), // the fields for the lens contain the reason
            ViewKind::Confidence if !core.matching.params.confidence => Err(NO_CONFIDENCE),
            ViewKind::Confidence if !has_display => Err(NO_RESULT),
            ViewKind::Recorded if !has_display => Err(NOT_RECORDED),
            ViewKind::Difference if !has_display => Err(NO_REFERENCE),
            _ => self.screens.picture(kind).ok_or(NO_RESULT),
        }
    }

    fn ready(&mut self, core: &Core, output: &Arc<Output>, views: &[ViewKind]) -> ViewData {
        let recorded = if views.contains(&ViewKind::Recorded) { self.recorded_map(output) } else { None };
        let compared = core.comparison.as_ref().and_then(|comparison| comparison.shown.as_ref());
        let reference = match compared {
            _ if !views.contains(&ViewKind::Difference) => None,
            Some([a, _]) => self.map_of_a(a),
            None => self.reference_map(output),
        };
        let (params, geometry) = (&output.job.params, output.job.frame.geometry.as_ref());
        let displays = core.view.maps(params, geometry, recorded.as_deref(), reference.is_some());
        self.screens.update(output, recorded.as_deref(), reference.as_ref(), &displays, views);
        self.update_a(core.comparison.as_ref(), &displays, views);
        ViewData { displays, recorded }
    }

    /// Returns a view at its place, without cross-hair, remark and marks.
    fn tile<'a>(
        &'a self,
        core: &'a Core,
        kind: ViewKind,
        rects: ViewRects,
        displays: &'a MapDisplays,
        is_small: bool,
    ) -> Tile<'a> {
        let display = display_of(kind, displays);
        Tile {
            kind,
            rects,
            content: self.content(core, kind, is_small, display.is_some()),
            display: display.map(|display| (display, &displays.colours[..])),
            size: core.output().map_or((1, 1), |output| output.job.frame.size()),
            crosshair: None,
            beside_pointer: None,
            remark: "",
            is_stale: false,
            beside: self.beside(core, kind),
            marks: None,
        }
    }

    /// Draws one view for a saved image without marks of the pointer.
    pub(crate) fn show_alone(&mut self, ui: &mut Ui, core: &Core, kind: ViewKind, rects: ViewRects) {
        let Some(output) = core.output() else { return };
        let ViewData { displays, recorded } = self.ready(core, output, &[kind]);
        let remark = remark(core, kind, display_of(kind, &displays).is_some(), recorded.as_deref());
        let remark = format!("{remark} · {}", core.status().source.name);
        if kind == ViewKind::Space {
            self.space.show_alone(ui, core, (output, &self.screens), rects, &displays, &remark);
            return;
        }
        let length = length(core);
        let marks = marks(core, output.job.frame.size(), length.as_deref());
        let tile = self.tile(core, kind, rects, &displays, false);
        Tile { remark: &remark, marks, ..tile }.show(ui, &mut core.pointer.zoom.clone());
    }

    /// Returns the range of the colours of a view, as `0.385 to 0.899 m`; `None` for images.
    pub(crate) fn range_text(&mut self, core: &Core, kind: ViewKind) -> Option<String> {
        let output = core.output()?;
        let ViewData { displays, .. } = self.ready(core, output, &[kind]);
        display_of(kind, &displays).map(range_text)
    }

    /// Returns the recorded map of a pair, packed once.
    fn recorded_map(&mut self, output: &Output) -> Option<Arc<FloatMap>> {
        let recorded = output.job.frame.raw.recorded.as_ref()?;
        if !self.recorded.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, recorded)) {
            self.recorded = Some((Arc::clone(recorded), Arc::new(FloatMap::of_recorded(recorded)?)));
        }
        self.recorded.as_ref().map(|(_, map)| Arc::clone(map))
    }
}

/// Returns colours and range of a map, or `None` for an image or a missing map.
fn display_of(kind: ViewKind, displays: &MapDisplays) -> Option<&Display> {
    match kind {
        ViewKind::Disparity => Some(&displays.disparity),
        ViewKind::Depth => displays.depth.as_ref(),
        ViewKind::Confidence => displays.confidence.as_ref(),
        ViewKind::Recorded => displays.recorded.as_ref(),
        ViewKind::Difference => displays.difference.as_ref(),
        ViewKind::Left | ViewKind::Right | ViewKind::Anaglyph | ViewKind::Rows | ViewKind::Space => None,
    }
}

fn remark(core: &Core, kind: ViewKind, is_shown: bool, recorded: Option<&FloatMap>) -> String {
    let compared = core.comparison.as_ref().filter(|comparison| comparison.shown.is_some());
    let is_recorded = core.output().is_some_and(|output| output.job.frame.raw.recorded.is_some());
    let remark = match (kind, recorded) {
        (ViewKind::Recorded, Some(map)) if map.is_depth() => " depth".to_owned(),
        (ViewKind::Recorded, Some(_)) => " disparity".to_owned(),
        (ViewKind::Difference, _) if is_shown => {
            let of = match compared {
                Some(_) => "A",
                None if is_recorded => "recorded",
                None => "truth",
            };
            format!(" from {of}")
        }
        (ViewKind::Depth, _) if is_shown => core.depth_mark().map_or(String::new(), |mark| format!(" · {mark}")),
        _ => String::new(),
    };
    if compared.is_some_and(|comparison| comparison.shows_a) && kind.is_map() {
        format!("{remark} · A")
    } else {
        remark
    }
}

fn marks<'a>(core: &'a Core, size: (usize, usize), length: Option<&'a str>) -> Option<Marks<'a>> {
    let marked = core.is_open(Action::Measure).then_some(&core.marked)?;
    Some(Marks { region: marked.subject(size, None).region, points: &marked.points, length })
}

/// Returns the distance of two points, as `412.3 mm ± 2.1`.
fn length(core: &Core) -> Option<String> {
    let measured = core.pipeline.measured.as_ref()?;
    let value = |name| measured.rows.iter().find(|row| row.quantity.name == name)?.quantity.value.ok();
    Some(format!("{:.1} mm ± {:.1}", value("distance_mm")?, value("distance_total_error_mm")?))
}

fn shown_views(core: &Core, output: &Output) -> Vec<ViewKind> {
    // other sources have no recorded depth
    let is_recording = matches!(core.source.running, Some(SourceSpec::Recording(_) | SourceSpec::Pipe))
        || output.job.frame.raw.recorded.is_some();
    let can_have = |view: &&ViewKind| **view != ViewKind::Recorded || is_recording || core.view.alone.is_some();
    let mut views: Vec<_> = core.view.shown().iter().filter(can_have).copied().collect();
    if output.job.frame.geometry.is_none() && views == ViewKind::AT_FIRST_NARROW {
        views[1] = ViewKind::Disparity; // the recorded view would be empty
    }
    views
}

/// Returns whether the pointer in a view refers to the left image's pixel at its position.
fn reads_left(kind: ViewKind) -> bool {
    !matches!(kind, ViewKind::Right | ViewKind::Rows)
}

fn take_title(view: &mut ViewSettings, kind: ViewKind, click: Option<TitleClick>) {
    match click {
        Some(TitleClick::Once) => view.large = Some(kind),
        Some(TitleClick::Twice) => view.alone = if view.alone.is_some() { None } else { Some(kind) },
        None => {}
    }
}

/// Returns whether a click in any image holds or measures a pixel for the open page.
fn takes_pixels(core: &Core) -> bool {
    [Action::Measure, Action::Explain, Action::Rig].iter().any(|&page| core.is_open(page))
}

fn instead(ui: &mut Ui, picture: Rect, content: impl FnOnce(&mut Ui)) {
    let layout = Layout::top_down(Align::Center);
    ui.scope_builder(UiBuilder::new().max_rect(picture.shrink(8.0)).layout(layout), |ui| {
        ui.add_space(0.2 * picture.height());
        content(ui);
    });
}

/// Offers an estimate in the depth view where the rows differ, because lens and baseline cannot correct wrong disparities.
fn offer_estimate(
    ui: &mut Ui,
    picture: Rect,
    rows: &RowOffset,
    choice: &CalibrationChoice,
    commands: &mut Vec<Command>,
) {
    instead(ui, picture, |ui| {
        ui.add(Label::new(format!("{NO_CALIBRATION} The images are not rectified either: {rows}.")).wrap());
        ui.add_space(4.0);
        super::estimate(ui, "Estimate from the images", choice, commands);
    });
}

/// Shows fields for lens and baseline, which convert disparities of rectified images to metres.
fn lens(
    ui: &mut Ui,
    picture: Rect,
    (fov_deg, baseline_m): &mut (Option<f64>, Option<f64>),
    choice: &CalibrationChoice,
    commands: &mut Vec<Command>,
) {
    instead(ui, picture, |ui| {
        ui.add(Label::new(NO_DEPTH).wrap());
        ui.horizontal_wrapped(|ui| {
            ui.add_space((0.5 * ui.available_width() - LENS_WIDTH / 2.0).max(0.0));
            let help = "Field of view of the lens of each camera, horizontal, in degrees: data sheets say it.";
            typed(ui, "Field of view of the lens", help, fov_deg, (ASSUMED_FOV_DEG, 0.5, "°"), 1.0..=170.0);
            let help = "Distance between the lenses, metres.";
            typed(ui, "Baseline", help, baseline_m, (ASSUMED_BASELINE_M, 0.001, " m"), 0.005..=10.0);
            let both = fov_deg.zip(*baseline_m);
            let show = ui.add_enabled(both.is_some(), egui::Button::new("Show depth"));
            if let Some((fov_deg, baseline_m)) = both.filter(|_| show.clicked()) {
                let mut choice = CalibrationChoice { baseline_m: Some(baseline_m), ..choice.clone() };
                choice.set_focal(Some(FocalLength::FovDeg(fov_deg)));
                commands.push(Command::Calibrate(Box::new(choice)));
            }
        });
    });
}

/// Shows a number field, empty before the first input; a drag starts at a usual value.
fn typed(
    ui: &mut Ui,
    name: &str,
    help: &str,
    number: &mut Option<f64>,
    (usual, speed, unit): (f64, f64, &str),
    range: std::ops::RangeInclusive<f64>,
) {
    let (mut value, is_known) = (number.unwrap_or(usual), number.is_some());
    let text = move |value: f64| if is_known { value.to_string() } else { "?".to_owned() };
    let field = DragValue::new(&mut value).range(range).speed(speed).suffix(unit).max_decimals(4);
    let field = field.custom_formatter(move |value, _| text((value * 1e4).round() / 1e4)).update_while_editing(false);
    let response = ui.add(field).on_hover_text(help);
    widgets::name(&response, Role::SpinButton, name, value);
    if response.changed() || response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
        *number = Some(value);
    }
}

impl Panel for Pictures {
    fn is_open(&self, core: &Core) -> bool {
        !core.shows_guide()
    }

    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let Some(output) = core.output() else {
            let text = match core.unreadable() {
                Some(why) => foreign(&why),
                None if core.status().capture.captured == 0 => format!("opening {} …", core.source.spec),
                None => match &core.status().engine.error {
                    Some(why) => console::shown(why),
                    None => "the engine starts …".to_owned(),
                },
            };
            ui.centered_and_justified(|ui| ui.add(Label::new(text).wrap()));
            return;
        };
        let views = &shown_views(core, output)[..];
        let ViewData { displays, recorded } = self.ready(core, output, views);
        let frame = &output.job.frame;
        let size = frame.size();
        let large = core.view.large_among(views, frame.geometry.is_some());
        let (room, aspect) = (ui.available_rect_before_wrap(), size.0 as f32 / size.1 as f32);
        let rects = match large {
            Some(large) => arrange_around(views, large, room, aspect),
            None => arrange(views, room, aspect),
        };
        let crosshair = pixel::pointed(core).map(|(output, at)| pixel::crosshair(output, at));
        let beside_pointer = pixel::beside_pointer(core);
        let lost = core.source.lost_text();
        let length = length(core);
        let mut view = core.view.clone();
        let mut pointer = core.pointer;
        pointer.hovered = None;
        for (number, (&kind, rects)) in views.iter().zip(rects).enumerate() {
            let is_small = large.is_some_and(|large| large != number);
            if kind == ViewKind::Space {
                let (result, place) = ((output, &self.screens), (rects, is_small));
                let title = self.space.show(ui, core, result, place, &displays, commands);
                take_title(&mut view, kind, title);
                continue;
            }
            let remark = remark(core, kind, display_of(kind, &displays).is_some(), recorded.as_deref());
            let remark = lost.as_ref().map_or(remark, |lost| format!(" · {lost}"));
            let marks = marks(core, size, length.as_deref());
            let tile = self.tile(core, kind, rects, &displays, is_small);
            let tile = Tile {
                crosshair,
                beside_pointer: beside_pointer.as_deref().filter(|_| reads_left(kind)),
                remark: &remark,
                is_stale: lost.is_some(),
                marks,
                ..tile
            };
            let pointed = tile.show(ui, &mut pointer.zoom);
            if kind == ViewKind::Depth && displays.depth.is_none() && !is_small {
                match core.status().health.misaligned() {
                    Some(rows) => offer_estimate(ui, rects.picture, rows, &core.rig.choice, commands),
                    None => lens(ui, rects.picture, &mut self.lens, &core.rig.choice, commands),
                }
            }
            // in the right image the pointer refers to that image's own pixel
            if reads_left(kind) {
                pointer.hovered = pointer.hovered.or(pointed.at);
            }
            if let Some(share) = pointed.wiper {
                commands.push(CompareStep::SetWiper(share).into());
            }
            take_title(&mut view, kind, pointed.title);
            if kind == ViewKind::Depth && pointed.bar {
                commands.push(Action::FitDepth.into());
            }
            if let Some(region) = pointed.region {
                commands.push(Command::Mark(Marked { region: Some(region), ..core.marked.clone() }));
            }
            if is_small && pointed.pressed && !takes_pixels(core) {
                view.large = Some(kind);
            } else if let (Some(at), true) = (pointed.clicked, core.is_open(Action::Measure)) {
                commands.push(Command::Mark(core.marked.with_point(at)));
            } else if let Some(at) = pointed.clicked {
                pointer.pinned = if pointer.pinned.is_some() { None } else { Some(at) };
            }
        }
        if view != core.view {
            commands.push(Command::SetView(view));
        }
        if pointer != core.pointer {
            commands.push(Command::SetPointer(pointer));
        }
    }
}
