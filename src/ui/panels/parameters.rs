//! Matching and filters: made from the table of parameters, so that a new one appears here by itself.

use super::{Command, State, widgets};
use crate::geometry::Geometry;
use crate::parameter::{Domain, Group, Parameter, Value};
use crate::stereo::{Preset, StereoParams};
use crate::ui::state::ViewSettings;
use crate::ui::view::metres;
use crate::ui::widgets::NumberRow;
use egui::Ui;
use std::ops::RangeInclusive;

pub(super) fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let mut params = state.matching.params.clone();
    for (title, group) in [("Matching", Group::Matching), ("Filters", Group::Filters)] {
        widgets::heading(ui, title);
        rows(ui, group, &mut params, state);
    }
    if params != state.matching.params {
        commands.push(Command::SetParams(params));
    }
    ui.add_space(4.0);
    let unfolded = state.view.unfolded;
    let more = if unfolded { "fewer ▴" } else { "more ▾" };
    if ui.small_button(more).on_hover_text("Show all parameters, or only those that matter most").clicked() {
        commands.push(Command::SetView(ViewSettings { unfolded: !unfolded, ..state.view.clone() }));
    }
}

/// The parameters of `group`; only the basic ones unless all are unfolded.
fn rows(ui: &mut Ui, group: Group, params: &mut StereoParams, state: &State) {
    let defaults = defaults(params, state.matching.preset);
    for parameter in StereoParams::table().iter().filter(|p| p.group == group) {
        let reason = parameter.inapplicable(params);
        let is_dependent = parameter.properties.belongs.is_some();
        let is_basic = parameter.basic || is_dependent;
        if (is_dependent && reason.is_some()) || !(is_basic || state.view.unfolded) {
            continue;
        }
        one(ui, parameter, params, &defaults, reason);
        match parameter.name {
            "num-disparities" => range_line(ui, params, state.geometry()),
            "p1" | "p2" if params.paths != 0 => relative_line(ui, (parameter.get)(params), params),
            _ => {}
        }
    }
}

/// One row.
fn one(
    ui: &mut Ui,
    parameter: &Parameter<StereoParams>,
    params: &mut StereoParams,
    defaults: &StereoParams,
    reason: Option<&str>,
) {
    let why = reason.map(str::to_owned).or_else(|| parameter.range(params).and_then(|(_, why)| why));
    let help = why.map_or_else(|| parameter.help.to_owned(), |why| format!("{}\n{why}", parameter.help));
    let before = (parameter.get)(params);
    let value = ui.add_enabled_ui(reason.is_none(), |ui| {
        widgets::row(ui, parameter.label, &help, |ui| edit(ui, parameter, params, defaults, &help))
    });
    if value.inner != before {
        params.set(parameter, value.inner);
        params.repair(|name| name == parameter.name);
    }
}

/// The control that suits the domain; gives the value.
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
    let response = ui.checkbox(on, ());
    let enabled = response.enabled();
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, enabled, *on, label));
    widgets::explain(response, help);
}

/// The preset's values, with penalties that suit the cost in use.
fn defaults(params: &StereoParams, preset: Preset) -> StereoParams {
    let mut defaults = StereoParams::default();
    preset.apply(&mut defaults);
    if defaults.cost != params.cost {
        defaults.set_cost(params.cost);
    }
    defaults
}

/// The search range in metres: `= 0.42 m … ∞`.
fn range_line(ui: &mut Ui, params: &StereoParams, geometry: Option<&Geometry>) {
    widgets::row(ui, "", "", |ui| widgets::note(ui, range_text(params, geometry)));
}

fn range_text(params: &StereoParams, geometry: Option<&Geometry>) -> String {
    let (first, last) =
        (f64::from(params.min_disparity), f64::from(params.min_disparity) + f64::from(params.num_disparities) - 1.0);
    let Some(geometry) = geometry else { return format!("{first} … {last} px") };
    let far = |d| geometry.depth_m(d).map_or("∞".to_owned(), |z| format!("{} m", metres(z as f32)));
    format!("= {} … {}", far(last), far(first))
}

/// `1.7 × max cost`: a penalty's scale depends on the cost.
fn relative_line(ui: &mut Ui, value: Value, params: &StereoParams) {
    if let Value::Integer(v) = value {
        let ratio = v as f64 / f64::from(params.largest_cost());
        let help = "The penalty relative to the largest cost of a pixel: comparable between costs.";
        widgets::row(ui, "", help, |ui| widgets::note(ui, format!("{ratio:.2} × max cost")));
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
        let geometry =
            Geometry { focal_px: 500.0, baseline_m: 0.1, doffs_px: 0.0, cx_px: 0.0, cy_px: 0.0, estimated: false };
        let params = StereoParams { num_disparities: 101, ..StereoParams::default() };
        assert_eq!(range_text(&params, Some(&geometry)), "= 0.500 m … ∞");
        assert_eq!(range_text(&params, None), "0 … 100 px");
    }
}
