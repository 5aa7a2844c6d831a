//! Widgets: rows of label, slider and number, operated by wheel, keys, typing and double-click.

use crate::style;
use egui::{Align, Event, IntoAtoms, Layout, RectAlign, Response, RichText, Role, Tooltip, Ui, WidgetInfo, vec2};
use std::ops::RangeInclusive;

/// Width of the labels at the left, points.
const LABEL_WIDTH: f32 = 104.0;
/// Width of the labels of parameters with their buttons that restore the default, points.
pub(crate) const PARAMETER_WIDTH: f32 = 116.0;
const NUMBER_WIDTH: f32 = 42.0;
const UNIT_WIDTH: f32 = 22.0;

/// Row for an integer, with label, unit and ranges.
pub(crate) struct NumberRow<'a> {
    pub(crate) label: &'a str,
    pub(crate) help: &'a str,
    pub(crate) unit: &'a str,
    /// Accepted values of the number field.
    pub(crate) range: RangeInclusive<i64>,
    /// Range of the slider, extended to include the value.
    pub(crate) handy: RangeInclusive<i64>,
    /// Distance between neighbouring values.
    pub(crate) step: i64,
    /// Value after a double-click on the slider.
    pub(crate) default: i64,
    /// Values with a button each in place of the slider; the number is then dragged.
    pub(crate) quick: &'a [i64],
}

impl NumberRow<'_> {
    /// Shows slider or buttons, and number, and returns whether `value` has changed.
    pub(crate) fn show(&self, ui: &mut Ui, value: &mut i64) -> bool {
        let before = *value;
        let numbers = NUMBER_WIDTH + UNIT_WIDTH + 2.0 * ui.spacing().item_spacing.x;
        let width = (ui.available_width() - numbers).max(40.0);
        let is_dragged = !self.quick.is_empty();
        if is_dragged {
            self.buttons(ui, width, value);
        } else {
            self.slider(ui, width, value);
        }
        let speed = if is_dragged { self.step as f64 / 4.0 } else { 0.0 };
        let number = egui::DragValue::new(value).range(self.range.clone()).speed(speed).update_while_editing(false);
        let number = ui.add_sized(vec2(NUMBER_WIDTH, ui.spacing().interact_size.y), number);
        let of_slider = if is_dragged { "" } else { " value" };
        name(&number, Role::SpinButton, &format!("{}{of_slider}", self.label), *value as f64);
        if is_dragged && ui.is_enabled() {
            *value += self.step * wheel_steps(ui, &number);
        }
        explain(number, &self.tooltip());
        ui.add_sized(
            vec2(UNIT_WIDTH, ui.spacing().interact_size.y),
            egui::Label::new(RichText::new(self.unit).weak()).truncate(),
        );
        let off_grid = (*value - self.handy.start()).rem_euclid(self.step);
        *value = (*value - off_grid).clamp(*self.range.start(), *self.range.end());
        *value != before
    }

    fn slider(&self, ui: &mut Ui, width: f32, value: &mut i64) {
        let before = *value;
        let handy = (*self.handy.start()).min(*value)..=(*self.handy.end()).max(*value);
        ui.spacing_mut().slider_width = width;
        style::show_tracks(ui);
        let slider = egui::Slider::new(value, handy)
            .step_by(self.step as f64)
            .clamping(egui::SliderClamping::Always)
            .show_value(false);
        let slider = ui.add(slider);
        name(&slider, Role::Slider, self.label, before as f64);
        let slider = explain(slider, &self.tooltip());
        if slider.clicked() || slider.drag_stopped() {
            slider.request_focus(); // the arrow keys continue where the pointer stopped, while it is there
            ui.data_mut(|data| data.insert_temp(pointed_slider(), slider.id));
        }
        let is_left = !slider.contains_pointer() && !slider.dragged();
        if is_left && ui.data(|data| data.get_temp(pointed_slider())) == Some(slider.id) {
            slider.surrender_focus(); // the arrow keys step through pairs again
            ui.data_mut(|data| data.remove::<egui::Id>(pointed_slider()));
        }
        if slider.has_focus() {
            ui.data_mut(|data| data.insert_temp(focused_slider(), slider.id));
        }
        if ui.is_enabled() {
            *value += self.step * wheel_steps(ui, &slider);
            if slider.contains_pointer() && ui.input(|i| i.pointer.button_double_clicked(egui::PointerButton::Primary))
            {
                *value = self.default;
            }
        }
    }

    fn buttons(&self, ui: &mut Ui, width: f32, value: &mut i64) {
        let gap = 2.0;
        let each = (width - gap * (self.quick.len() - 1) as f32) / self.quick.len() as f32;
        let height = ui.spacing().interact_size.y;
        ui.allocate_ui_with_layout(vec2(width, height), Layout::left_to_right(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = gap;
            ui.spacing_mut().button_padding.x = 2.0; // leaves room for two digits
            for &quick in self.quick {
                let is_chosen = *value == quick;
                let button = egui::Button::selectable(is_chosen, quick.to_string()).frame_when_inactive(true);
                let is_allowed = self.range.contains(&quick);
                let button = ui.add_enabled_ui(is_allowed, |ui| ui.add_sized(vec2(each, height), button)).inner;
                let enabled = button.enabled();
                let label = format!("{quick} {}", self.label.to_lowercase());
                button.widget_info(|| WidgetInfo::selected(Role::RadioButton, enabled, is_chosen, &label));
                if explain(button, &self.tooltip()).clicked() {
                    *value = quick;
                }
            }
        });
    }

    fn tooltip(&self) -> String {
        let Self { help, range, default, unit, .. } = self;
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let how = if self.quick.is_empty() {
            format!("double-click: {default}{unit}")
        } else {
            "drag the number or type it".to_owned()
        };
        format!("{help}\n{} to {}{unit}; {how}", range.start(), range.end())
    }
}

/// Returns the key of the slider that received the focus from the pointer.
fn pointed_slider() -> egui::Id {
    egui::Id::unique("pointed slider")
}

/// Returns the key of the last focused slider, which receives the arrow keys and leaves other keys to actions.
pub(crate) fn focused_slider() -> egui::Id {
    egui::Id::unique("slider with the focus")
}

/// Sets the accessible name and value of a control.
pub(crate) fn name(response: &Response, kind: Role, label: &str, value: f64) {
    let enabled = response.enabled();
    response.widget_info(|| WidgetInfo { value: Some(value), ..WidgetInfo::labeled(kind, enabled, label) });
}

/// Sets the accessible name of a control whose value is a text.
pub(crate) fn name_text(response: &Response, kind: Role, label: &str, value: &str) {
    let enabled = response.enabled();
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(kind, enabled, label);
        info.current_text_value = Some(value.to_owned());
        info
    });
}

/// Time in s for which the pointer must rest on a control before the wheel changes its value instead of scrolling.
const REST_S: f64 = 0.4;

/// Consumes and returns notches of the wheel over `response`, up positive, if it is focused or the pointer has rested on it.
pub(crate) fn wheel_steps(ui: &Ui, response: &Response) -> i64 {
    let since = response.id.with("pointer rests since");
    if !response.hovered() {
        ui.data_mut(|data| data.remove::<f64>(since));
        return 0;
    }
    let now = ui.input(|i| i.time);
    let turns = ui.input(|i| i.events.iter().any(|event| matches!(event, Event::MouseWheel { .. })));
    let began = ui.data_mut(|data| *data.get_temp_mut_or_insert_with(since, || now));
    if !response.has_focus() && now - began < REST_S {
        if turns {
            ui.data_mut(|data| data.insert_temp(since, now));
        }
        return 0;
    }
    ui.input_mut(|i| {
        let notch = |event: &Event| match event {
            Event::MouseWheel { delta, modifiers, .. } if modifiers.is_none() && delta.y != 0.0 => {
                delta.y.signum() as i64
            }
            _ => 0,
        };
        i.smooth_scroll_delta = egui::Vec2::ZERO;
        i.events.iter().map(notch).sum()
    })
}

/// Shows `text` beside a control, even a disabled one, without covering the next control.
pub(crate) fn explain(response: Response, text: &str) -> Response {
    let aside = [RectAlign::RIGHT, RectAlign::LEFT, RectAlign::BOTTOM_START];
    for mut tooltip in [Tooltip::for_enabled(&response), Tooltip::for_disabled(&response)] {
        tooltip.popup = tooltip.popup.align(RectAlign::RIGHT).align_alternatives(&aside).gap(12.0);
        tooltip.show(|ui| {
            ui.set_max_width(ui.spacing().tooltip_width);
            ui.label(text);
        });
    }
    response
}

/// Shows a row like [`row`] for a value, with a mark and a restoring button (help `back`) if it differs from its default.
/// Returns the result of `content`, and whether the button was pressed.
pub(crate) fn changed_row<R>(
    ui: &mut Ui,
    label: &str,
    help: &str,
    back: Option<&str>,
    enabled: bool,
    content: impl FnOnce(&mut Ui) -> R,
) -> (Option<R>, bool) {
    let mut takes_back = false;
    let mut given = None;
    ui.horizontal(|ui| {
        let height = ui.spacing().interact_size.y;
        ui.allocate_ui_with_layout(vec2(PARAMETER_WIDTH, height), Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_width(PARAMETER_WIDTH);
            ui.spacing_mut().item_spacing.x = 2.0;
            if let Some(back) = back {
                ui.spacing_mut().button_padding.x = 0.0;
                let button = ui.add(egui::Button::new("↺").small().frame(false));
                button.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{label} back to {back}")));
                takes_back = button.on_hover_text(format!("Back to {back}")).clicked();
            }
            let text = RichText::new(label);
            let text = if back.is_some() { text.strong() } else { text };
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let label = ui.add_enabled(enabled, egui::Label::new(text).truncate());
                explain(label, help);
            });
        });
        given = Some(ui.add_enabled_ui(enabled, content).inner);
    });
    (given, takes_back)
}

/// Shows a row with its label at the left and `content` in the rest.
pub(crate) fn row<R>(ui: &mut Ui, label: &str, help: &str, content: impl FnOnce(&mut Ui) -> R) -> R {
    labelled(ui, LABEL_WIDTH, label, help, content)
}

pub(crate) fn below_value(ui: &mut Ui, help: &str, text: String) {
    labelled(ui, PARAMETER_WIDTH, "", help, |ui| note(ui, text));
}

fn labelled<R>(ui: &mut Ui, width: f32, label: &str, help: &str, content: impl FnOnce(&mut Ui) -> R) -> R {
    ui.horizontal(|ui| {
        let height = ui.spacing().interact_size.y;
        ui.allocate_ui_with_layout(vec2(width, height), Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(width);
            explain(ui.add(egui::Label::new(label).truncate()), help);
        });
        content(ui)
    })
    .inner
}

/// Shows a choice from a list and returns whether it has changed.
pub(crate) fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    label: &str,
    help: &str,
    options: &[(T, &str, &str)],
    chosen: &mut T,
) -> bool {
    let before = *chosen;
    choice_again(ui, label, help, options, chosen);
    *chosen != before
}

/// Shows a choice from a list and returns true even for a repeated choice of the present one.
pub(crate) fn choice_again<T: Copy + PartialEq>(
    ui: &mut Ui,
    label: &str,
    help: &str,
    options: &[(T, &str, &str)],
    chosen: &mut T,
) -> bool {
    let before = *chosen;
    let mut picked = false;
    let text = options.iter().find(|(option, ..)| *option == before).map_or("", |(_, word, _)| *word);
    let combo = egui::ComboBox::from_id_salt(label).selected_text(text).width(ui.available_width().min(150.0));
    let response = combo
        .show_ui(ui, |ui| {
            for (option, word, help) in options {
                picked |= ui.selectable_value(chosen, *option, *word).on_hover_text(*help).clicked();
            }
        })
        .response;
    name_text(&response, Role::ComboBox, label, text);
    explain(response, help);
    picked
}

pub(crate) fn checkbox<'a>(ui: &mut Ui, on: &'a mut bool, text: impl IntoAtoms<'a>) -> Response {
    let show = |ui: &mut Ui| {
        style::show_boxes(ui);
        ui.checkbox(on, text)
    };
    ui.scope(show).inner
}

pub(crate) fn radio<'a, T: PartialEq>(ui: &mut Ui, chosen: &mut T, option: T, text: impl IntoAtoms<'a>) -> Response {
    let show = |ui: &mut Ui| {
        style::show_boxes(ui);
        ui.radio_value(chosen, option, text)
    };
    ui.scope(show).inner
}

pub(crate) fn heading(ui: &mut Ui, text: &str) {
    ui.add_space(6.0);
    ui.label(RichText::new(text.to_uppercase()).small().strong().color(ui.visuals().weak_text_color()));
}

pub(crate) fn note(ui: &mut Ui, text: impl Into<String>) {
    ui.add(egui::Label::new(RichText::new(text).small().weak()).wrap());
}

/// Shows a text in the colour of warnings.
pub(crate) fn warning(ui: &mut Ui, text: impl Into<String>) {
    let text = RichText::new(text.into()).color(ui.visuals().warn_fg_color);
    ui.add(egui::Label::new(text).wrap());
}

/// Shows a value with its name at the left as one phrase for a screen reader.
pub(crate) fn named_value(ui: &mut Ui, name: &str, value: &str, color: Option<egui::Color32>) -> Response {
    ui.horizontal(|ui| {
        let height = ui.text_style_height(&egui::TextStyle::Monospace);
        let named = ui.allocate_ui_with_layout(vec2(62.0, height), Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(62.0);
            ui.label(RichText::new(name).weak())
        });
        let text = RichText::new(value).monospace();
        let text = color.map_or(text.clone(), |color| text.color(color));
        let response = ui.add(egui::Label::new(text).wrap()); // a long text widens no panel
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name} {value}")));
        named.inner.union(response) // both parts show the text on hover
    })
    .inner
}
