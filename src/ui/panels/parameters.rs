//! Matching and filters: made from the table of parameters, so that a new one appears here by itself.

use crate::geometry::Geometry;
use crate::parameter::{Domain, Group, Parameter, ParameterType, Value};
use crate::stereo::{AdaptiveP2, CostKind, Preset, StereoParams};
use crate::ui::view::metres;
use crate::ui::widgets::{self, NumberRow};
use egui::Ui;
use std::ops::RangeInclusive;

/// What the panel starts from and refers to.
pub(crate) struct Context<'a> {
    /// A double-click goes back to this preset's value.
    pub(crate) preset: Preset,
    /// Turns the range into metres.
    pub(crate) geometry: Option<&'a Geometry>,
    /// All parameters, or the basic ones.
    pub(crate) unfolded: bool,
}

/// What belongs to one cost, aggregation or filter: shown where that is chosen, and only there.
const BELONGING: [&str; 14] = [
    "rank-window",
    "sad-window",
    "mi-levels",
    "mi-start",
    "window",
    "gamma-color",
    "gamma-space",
    "tau",
    "arms",
    "spatial-alpha",
    "spatial-delta",
    "temporal-alpha",
    "temporal-delta",
    "persistence",
];

/// Shows the parameters of `group`; true if `params` has changed.
pub(crate) fn show(ui: &mut Ui, group: Group, params: &mut StereoParams, context: &Context<'_>) -> bool {
    let defaults = defaults(params, context.preset);
    let mut changed = false;
    for parameter in StereoParams::table().iter().filter(|p| p.group == group) {
        let reason = inapplicable(parameter.name, params);
        let belongs = BELONGING.contains(&parameter.name);
        let is_basic = parameter.basic || belongs;
        if (belongs && reason.is_some()) || !(is_basic || context.unfolded) {
            continue;
        }
        changed |= one(ui, parameter, params, &defaults, reason);
        match parameter.name {
            "num-disparities" => range_line(ui, params, context.geometry),
            "p1" | "p2" if params.paths != 0 => relative_line(ui, (parameter.get)(params), params),
            _ => {}
        }
    }
    changed
}

/// One row.
fn one(
    ui: &mut Ui,
    parameter: &Parameter<StereoParams>,
    params: &mut StereoParams,
    defaults: &StereoParams,
    reason: Option<&str>,
) -> bool {
    let why = reason.map(str::to_owned).or_else(|| limit(parameter, params).map(|(_, why)| why));
    let help = why.map_or_else(|| parameter.help.to_owned(), |why| format!("{}\n{why}", parameter.help));
    let before = (parameter.get)(params);
    let value = ui.add_enabled_ui(reason.is_none(), |ui| {
        widgets::row(ui, parameter.label, &help, |ui| edit(ui, parameter, params, defaults, &help))
    });
    let value = value.inner;
    if value == before {
        return false;
    }
    apply(parameter, params, value);
    true
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
        let largest = limit(parameter, params).map_or(*range.end(), |(largest, _)| largest);
        let handy = handy(parameter.name, params).unwrap_or_else(|| range.clone());
        NumberRow {
            label: parameter.label,
            help,
            unit: if parameter.unit == "deg" { "°" } else { parameter.unit },
            range: *range.start()..=largest,
            handy: *handy.start()..=largest.min(*handy.end()),
            step: if parameter.name.ends_with("-window") { 2 } else { 1 },
            default,
            quick: if parameter.name == "paths" { &[4, 8, 16] } else { &[] },
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

/// Writes a value and lets what depends on it follow: penalties the cost, P2 P1.
fn apply(parameter: &Parameter<StereoParams>, params: &mut StereoParams, value: Value) {
    if let (Some(cost), "cost") = (CostKind::from_value(value), parameter.name) {
        params.set_cost(cost);
        return;
    }
    (parameter.set)(params, value);
    match parameter.name {
        "p1" => {
            params.p2 = params.p2.max(params.p1 + 1);
            params.p2_min = params.p2_min.max(params.p1 + 1);
        }
        "p2" => params.p2 = params.p2.max(params.p1 + 1),
        "p2-min" => params.p2_min = params.p2_min.max(params.p1 + 1),
        _ => {}
    }
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

/// What a slider spans, where the whole domain would be too coarse to drag through.
fn handy(name: &str, params: &StereoParams) -> Option<RangeInclusive<i64>> {
    let largest = i64::from(params.largest_cost());
    Some(match name {
        "min-disparity" => -64..=64,
        "num-disparities" => 1..=256,
        "p1" => 0..=largest * 2,
        "p2" | "p2-min" => 1..=largest * 6,
        "p2-alpha" => 0..=largest * 4,
        "uniqueness" => 0..=30,
        "gamma-color" | "gamma-space" => 1..=1000,
        "left-right" | "speckle-range" => 0..=8,
        "speckle-size" => 0..=1000,
        _ => return None,
    })
}

/// The largest value that the sum over all paths takes at the moment, and why, where that is within a slider's reach.
fn limit(parameter: &Parameter<StereoParams>, params: &StereoParams) -> Option<(i64, String)> {
    let adapts = params.adaptive_p2 != AdaptiveP2::Off;
    let with_paths = || format!("With {} paths", params.paths);
    let (largest, with) = match parameter.name {
        "paths" => (params.most_paths(), "With this P2".to_owned()),
        "p1" if params.paths > 0 => (params.most_p2().saturating_sub(1), with_paths()),
        "p2" if params.paths > 0 => (params.most_p2(), with_paths()),
        "p2-min" if params.paths > 0 && adapts => (params.most_p2(), with_paths()),
        _ => return None,
    };
    let largest = i64::from(largest);
    let Domain::Integer(range) = &parameter.domain else { return None };
    let reach = handy(parameter.name, params).map_or(*range.end(), |handy| *handy.end());
    (largest < reach).then(|| (largest, format!("{with} at most {largest}: a sum has 16 bits.")))
}

/// Why a parameter changes nothing at the moment.
fn inapplicable(name: &str, params: &StereoParams) -> Option<&'static str> {
    let reason = match name {
        "rank-window" => (params.cost != CostKind::Rank, "Only the cost rank has this window."),
        "sad-window" => (params.cost != CostKind::Sad, "Only the cost sad has this window."),
        "mi-levels" | "mi-start" => {
            (params.cost != CostKind::MutualInformation, "Only the cost mutual-information is learned.")
        }
        "window" => {
            (!params.aggregation.has_window(), "Only the aggregations window and adaptive-weight have a window.")
        }
        "gamma-color" | "gamma-space" => (
            !params.aggregation.has_weights(),
            "Only the aggregations adaptive-weight and weighted-cross have weights.",
        ),
        "tau" | "arms" => (!params.aggregation.has_arms(), "Only the aggregations cross and weighted-cross have arms."),
        "p1" | "p2" | "adaptive-p2" => (params.paths == 0, "Without paths there are no penalties."),
        "start-angle-deg" => (params.paths == 0, "Without paths there are no directions."),
        "p2-min" => {
            (params.paths == 0 || params.adaptive_p2 == AdaptiveP2::Off, "Only an adaptive P2 has a smallest value.")
        }
        "p2-alpha" => {
            (params.paths == 0 || params.adaptive_p2 != AdaptiveP2::Linear, "Only a linear adaptive P2 has this slope.")
        }
        "right-matching" => {
            (params.left_right.is_none(), "Only the left-right check looks at the right picture's disparities.")
        }
        "speckle-range" => (params.speckle_size == 0, "No speckle is removed: its size is 0."),
        "spatial-alpha" | "spatial-delta" => (params.spatial.is_none(), "The spatial filter is off."),
        "temporal-alpha" | "temporal-delta" | "persistence" => (!params.temporal, "The temporal filter is off."),
        _ => return None,
    };
    reason.0.then_some(reason.1)
}

/// `= 0.42 m … ∞`: what the search range means in space.
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
    fn p2_follows_p1_up_and_stays_valid() {
        let mut params = StereoParams::default();
        let p1 = StereoParams::parameter("p1").unwrap();
        apply(p1, &mut params, Value::Integer(90));
        assert_eq!((params.p1, params.p2, params.p2_min), (90, 91, 91));
        params.validate().unwrap();
        let p2 = StereoParams::parameter("p2").unwrap();
        apply(p2, &mut params, Value::Integer(3));
        assert_eq!(params.p2, 91, "P2 cannot fall below P1");
    }

    #[test]
    fn every_parameter_has_a_control_that_can_be_dragged() {
        let params = StereoParams::default();
        for parameter in StereoParams::table() {
            if let Domain::Integer(range) | Domain::OptionalInteger(range) = &parameter.domain {
                let span = handy(parameter.name, &params).unwrap_or_else(|| range.clone());
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
