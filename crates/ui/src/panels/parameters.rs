//! Matching and filters, built from the table of parameters, so that a new one appears without further code.

use super::{Command, Core, widgets};
use crate::core::ViewSettings;
use crate::view::metres;
use crate::widgets::NumberRow;
use egui::{Align, Button, Rect, RichText, Role, StrokeKind, Ui, WidgetInfo};
use std::ops::RangeInclusive;
use std::time::Duration;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::parameter::{Domain, Group, Parameter, Value};
use stereopsis_stereo::StereoParams;

/// Time for which the panel scrolls to a found row while its group unfolds.
const SCROLLING: Duration = Duration::from_millis(400);
const MARKED: Duration = Duration::from_secs(4);
/// Reason why a parameter has no effect on a model.
const NOT_OF_MODELS: &str = "The engine is a model, which has no costs and sums of semi-global matching.";

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let mut params = core.matching.params.clone();
    let mut unfolded = core.view.unfolded.clone();
    let defaults = defaults(&params, core.matching.base());
    for &group in Group::ALL {
        rows(ui, group, &mut params, &defaults, &mut unfolded, core);
    }
    if params != core.matching.params {
        commands.push(Command::SetParams(params));
    }
    ui.add_space(4.0);
    let all = Group::ALL.iter().all(|group| unfolded.contains(group));
    if ui
        .small_button(if all { "fewer ▴" } else { "more ▾" })
        .on_hover_text("Unfold all groups, or fold them")
        .clicked()
    {
        unfolded = if all { Vec::new() } else { Group::ALL.to_vec() };
    }
    if unfolded != core.view.unfolded {
        commands.push(Command::SetView(ViewSettings { unfolded, ..core.view.clone() }));
    }
}

/// Shows a group with its title, which folds it; a folded group shows only its basic and its changed parameters.
fn rows(
    ui: &mut Ui,
    group: Group,
    params: &mut StereoParams,
    defaults: &StereoParams,
    unfolded: &mut Vec<Group>,
    core: &Core,
) {
    let is_open = unfolded.contains(&group);
    let has_model = core.has_model();
    let is_changed = |p: &Parameter<StereoParams>| (p.get)(params) != (p.get)(defaults);
    let of_group = || StereoParams::table().iter().filter(|p| p.group == group);
    let applicable = of_group().filter(|p| p.properties.belongs.is_none() || p.inapplicable(params).is_none());
    let (shown, hidden): (Vec<_>, Vec<_>) =
        applicable.partition(|p| is_open || p.basic || p.properties.belongs.is_some() || is_changed(p));
    ui.add_space(6.0);
    let title = group.word().to_uppercase();
    let text = match (is_open, hidden.len()) {
        (true, _) => format!("▾ {title}"),
        (false, 0) => format!("▸ {title}"),
        (false, count) => format!("▸ {title} · {count} more"),
    };
    let text = RichText::new(text).small().strong().color(ui.visuals().weak_text_color());
    let button = ui.add(Button::new(text).frame(false));
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, is_open, format!("{} parameters", group.word())));
    if widgets::explain(button, &format!("{} Click to fold or unfold.", group.help())).clicked() {
        if is_open {
            unfolded.retain(|open| *open != group);
        } else {
            unfolded.push(group);
        }
    }
    for parameter in shown {
        let row = ui.scope(|ui| one(ui, parameter, params, defaults, has_model)).response.rect;
        if let Some((_, since)) = core.revealed.filter(|(name, _)| *name == parameter.name) {
            mark(ui, row, since.elapsed());
        }
        match parameter.name {
            "num-disparities" => range_line(ui, params, core.geometry()),
            "p1" | "p2" if params.paths != 0 => relative_line(ui, (parameter.get)(params), params),
            _ => {}
        }
    }
}

fn mark(ui: &mut Ui, row: Rect, since: Duration) {
    if since < SCROLLING {
        ui.scroll_to_rect(row, Some(Align::Center));
        ui.ctx().request_repaint();
    }
    if since < MARKED {
        let stroke = ui.visuals().selection.stroke;
        ui.painter().rect_stroke(row.expand(2.0), 3.0, stroke, StrokeKind::Outside);
    }
}

/// Shows one row, with a mark and a button for restoring a value that differs from the preset's.
fn one(
    ui: &mut Ui,
    parameter: &Parameter<StereoParams>,
    params: &mut StereoParams,
    defaults: &StereoParams,
    has_model: bool,
) {
    let of_sums = (has_model && !StereoParams::acts_on_any_matcher(parameter.name)).then_some(NOT_OF_MODELS);
    let reason = parameter.inapplicable(params).or(of_sums);
    let why = reason.map(str::to_owned).or_else(|| parameter.range(params).and_then(|(_, why)| why));
    let extremes = parameter.properties.less_more.map(|(less, more)| format!("less: {less}; more: {more}"));
    let help = [Some(parameter.help.to_owned()), extremes, why, Some(parameter.properties.time.sentence().to_owned())];
    let help = help.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    let (before, default) = ((parameter.get)(params), (parameter.get)(defaults));
    let back = (before != default).then(|| default.to_string());
    let mut value = before;
    let row = widgets::changed_row(ui, parameter.label, &help, back.as_deref(), reason.is_none(), |ui| {
        edit(ui, parameter, params, defaults, &help)
    });
    match row {
        (_, true) => value = default,
        (Some(edited), false) => value = edited,
        (None, false) => {}
    }
    if value != before {
        params.set(parameter, value);
        params.repair(|name| name == parameter.name);
    }
}

/// Shows the control for the parameter's domain and returns the value.
fn edit(
    ui: &mut Ui,
    parameter: &Parameter<StereoParams>,
    params: &StereoParams,
    defaults: &StereoParams,
    help: &str,
) -> Value {
    let value = (parameter.get)(params);
    let number_row = |range: &RangeInclusive<i64>, default: i64| {
        let range = parameter.range(params).map_or_else(|| range.clone(), |(range, _)| range);
        let span = parameter.slider_span(params).unwrap_or_else(|| range.clone());
        let first = *span.start().max(range.start());
        NumberRow {
            label: parameter.label,
            help,
            unit: if parameter.unit == "deg" { "°" } else { parameter.unit },
            handy: first..=*span.end().min(range.end()).max(&first),
            range,
            step: if parameter.properties.is_odd { 2 } else { 1 },
            default,
            quick: parameter.properties.shortcuts,
        }
    };
    let integer = |value: Value| if let Value::Integer(v) = value { Some(v) } else { None };
    match &parameter.domain {
        Domain::Integer(range) => {
            let mut v = integer(value).unwrap_or(*range.start());
            number_row(range, integer((parameter.get)(defaults)).unwrap_or(v)).show(ui, &mut v);
            Value::Integer(v)
        }
        Domain::OptionalInteger(range) => {
            let default = integer((parameter.get)(defaults)).unwrap_or(1);
            let mut on = value != Value::Off;
            let mut v = integer(value).unwrap_or(default);
            switch(ui, parameter.label, help, &mut on);
            if on {
                number_row(range, default).show(ui, &mut v);
            }
            if on { Value::Integer(v) } else { Value::Off }
        }
        Domain::Switch => {
            let mut on = value == Value::Switch(true);
            switch(ui, parameter.label, help, &mut on);
            Value::Switch(on)
        }
        Domain::Choice(words) => {
            let Value::Choice(mut word) = value else { return value };
            let options: Vec<_> = words.iter().map(|&(word, help)| (word, word, help)).collect();
            widgets::choice(ui, parameter.label, help, &options, &mut word);
            Value::Choice(word)
        }
    }
}

fn switch(ui: &mut Ui, label: &str, help: &str, on: &mut bool) {
    let response = widgets::checkbox(ui, on, ());
    let enabled = response.enabled();
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, enabled, *on, label));
    widgets::explain(response, help);
}

/// Returns the preset's values with penalties that suit the present cost.
fn defaults(params: &StereoParams, base: StereoParams) -> StereoParams {
    let StereoParams { min_disparity, num_disparities, .. } = StereoParams::default();
    let mut defaults = StereoParams { min_disparity, num_disparities, ..base };
    if defaults.cost != params.cost {
        defaults.set_cost(params.cost);
    }
    defaults
}

/// Shows the search range in metres, as `= 0.42 m … ∞`.
fn range_line(ui: &mut Ui, params: &StereoParams, geometry: Option<&Geometry>) {
    widgets::below_value(ui, "", range_text(params, geometry));
}

fn range_text(params: &StereoParams, geometry: Option<&Geometry>) -> String {
    let (first, last) =
        (f64::from(params.min_disparity), f64::from(params.min_disparity) + f64::from(params.num_disparities) - 1.0);
    let Some(geometry) = geometry else { return format!("{first} … {last} px") };
    let far = |d| geometry.depth_m(d).map_or("∞".to_owned(), |z| format!("{} m", metres(z as f32)));
    let sign = if geometry.estimated { "≈" } else { "=" };
    format!("{sign} {} … {}", far(last), far(first))
}

/// Shows `1.7 × max cost`, since the scale of a penalty depends on the cost.
fn relative_line(ui: &mut Ui, value: Value, params: &StereoParams) {
    if let Value::Integer(v) = value {
        let ratio = v as f64 / f64::from(params.largest_cost());
        let help = "The penalty relative to the largest cost of a pixel: comparable between costs.";
        widgets::below_value(ui, help, format!("{ratio:.2} × max cost"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_a_control_that_can_be_dragged() {
        let params = StereoParams::default();
        for parameter in StereoParams::table() {
            if let Some(span) = parameter.slider_span(&params) {
                assert!(span.end() - span.start() <= 1000, "{}: {span:?}", parameter.name);
            }
        }
    }

    #[test]
    fn the_range_is_said_in_metres() {
        let geometry = Geometry::new(500.0, 0.1, 0.0, [0.0, 0.0]);
        let params = StereoParams { num_disparities: 101, ..StereoParams::default() };
        assert_eq!(range_text(&params, Some(&geometry)), "= 0.500 m … ∞");
        assert_eq!(range_text(&params, None), "0 … 100 px");
    }
}
