//! Page that explains a pixel: sentence and remedy, curves, tests, directions, and the compared windows.

use super::pictures::ExplanationPictures;
use super::{curves, directions};
use crate::core::{Command, Core};
use crate::panels::Panel;
use crate::widgets;
use egui::{Button, RichText, Role, Ui, WidgetInfo};
use std::sync::Arc;
use stereopsis_base::geometry::Axis;
use stereopsis_stereo::Explanation;
use stereopsis_stereo::explain::{Partner, Verdict};

const NO_PIXEL: &str = "Rest the pointer on an image to have its pixel explained; a click holds the place.";

/// Page with its drawn images.
#[derive(Default)]
pub(crate) struct ExplainPage {
    pictures: Option<(Arc<Explanation>, ExplanationPictures)>,
}

impl Panel for ExplainPage {
    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let Some(explained) = &core.pipeline.explained else {
            self.pictures = None;
            widgets::note(ui, if core.pointer.pixel().is_some() { "explaining …" } else { NO_PIXEL });
            return;
        };
        let (explanation, verdict) = match &explained.found {
            Ok(found) => (&found.0, &found.1),
            Err(why) => {
                ui.add(egui::Label::new(why.to_string()).wrap());
                return;
            }
        };
        let is_drawn = self.pictures.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, explanation));
        if !is_drawn {
            self.pictures = Some((Arc::clone(explanation), ExplanationPictures::new(ui.ctx(), &explanation.windows)));
        }
        sentence(ui, core, verdict, commands);
        let axis = curves::show(ui, explanation);
        if let Some((_, pictures)) = &self.pictures {
            pictures.line(ui, axis);
        }
        numbers(ui, explanation);
        curves::refinement(ui, explanation);
        if let Some((_, pictures)) = &self.pictures {
            widgets::heading(ui, "Windows");
            pictures.windows(ui, explanation);
        }
        if !explanation.directions.is_empty() {
            widgets::heading(ui, "Directions");
            directions::show(ui, explanation);
        }
        let (x, y) = explained.wish.pixel;
        let sequence = explained.wish.job.frame.raw.sequence;
        let ms = 1e3 * explained.took.as_secs_f64();
        widgets::note(
            ui,
            format!("Pixel {x}, {y} of pair {sequence}, before the filters; computed by the reference in {ms:.0} ms."),
        );
        if explained.wish.job.frame.axis == Axis::Vertical {
            let turned = "Images of cameras one above the other are matched turned counterclockwise, as shown here: a column in these \
                          words is a row of the images.";
            widgets::note(ui, turned);
        }
    }
}

/// Shows why the pixel is valid or not, and the button with the remedy.
fn sentence(ui: &mut Ui, core: &Core, verdict: &Verdict, commands: &mut Vec<Command>) {
    let text = RichText::new(&verdict.sentence).strong();
    let label = ui.add(egui::Label::new(text).wrap());
    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &verdict.sentence));
    let Some(remedy) = verdict.remedy else { return };
    let changed = remedy.apply(&core.matching.params);
    let has_changed = changed == core.matching.params;
    let button = ui.add_enabled(!has_changed && changed.validate().is_ok(), Button::new(remedy.label()));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, !has_changed, remedy.label()));
    if button.on_hover_text("The reason is then gone at this pixel; another one may take its place.").clicked() {
        commands.push(Command::SetParams(changed));
    }
}

/// Shows the numbers behind the marks.
fn numbers(ui: &mut Ui, explanation: &Explanation) {
    let sum_at = |index: usize| format!("{} px, sum {}", explanation.disparity_px(index), explanation.sums[index]);
    let mut line = |name: &str, value: String, color| {
        widgets::named_value(ui, name, &value, color);
    };
    line("winner", sum_at(explanation.winner), Some(curves::WINNER_COLOR));
    let second = explanation.second.map_or("–".to_owned(), sum_at);
    line("second", second, Some(curves::SECOND_COLOR));
    let ratio = explanation.second.zip(explanation.lead_percent()).map(|(second, lead)| {
        let (best, second) = (f64::from(explanation.sums[explanation.winner]), f64::from(explanation.sums[second]));
        let ratio = if second > 0.0 { best / second } else { 1.0 };
        format!("{ratio:.3}, {lead:.1} % apart")
    });
    line("ratio", ratio.unwrap_or_else(|| "–".to_owned()), None);
    let sub_pixel = explanation.refinement.map_or("–".to_owned(), |refinement| {
        let [below, best, above] = refinement.sums;
        format!("{below}, {best}, {above} → {:+.4} px", f64::from(refinement.offset_16th) / 16.0)
    });
    line("sub-pixel", sub_pixel, Some(curves::REFINEMENT_COLOR));
    let right = match &explanation.partner {
        None => "not checked".to_owned(),
        Some(Partner { column, right: None }) => format!("column {column}, outside"),
        Some(Partner { column, right: Some(right) }) => match right.disparity_16th {
            Some(d) => format!("column {column}, matches {:.2} px", f64::from(d) / 16.0),
            None => format!("column {column}, no match"),
        },
    };
    line("right", right, Some(curves::RIGHT_COLOR));
}
