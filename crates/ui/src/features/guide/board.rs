//! Board: its description, the side of a square, a page to print.

use super::commands::GuideStep;
use crate::core::{Command, Core};
use crate::panels::steps::StepState;
use crate::widgets;
use egui::{DragValue, Role, TextEdit, Ui, WidgetInfo};
use stereopsis_calibrate::Paper;

const PAPERS: [(Paper, &str); 2] = [(Paper::A4, "PDF, A4 …"), (Paper::Letter, "PDF, Letter …")];

pub(crate) fn done(core: &Core) -> (StepState, String) {
    match &core.guide.board {
        Ok(board) => (
            StepState::Good,
            format!(
                "{} {}s across, {} down, of {} mm",
                board.columns,
                board.square_word(),
                board.rows,
                board.square_mm
            ),
        ),
        Err(why) => (StepState::Doubtful, why.to_string()),
    }
}

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let guide = &core.guide;
    let is_free = guide.running.is_none();
    ui.add_enabled_ui(is_free, |ui| {
        let mut words = guide.words.clone();
        let help = "charuco:COLUMNSxROWS:SQUARE:MARKER:DICTIONARY counts squares, chessboard:9x6:25mm inner corners, \
                    aprilgrid:6x6:88mm:26.4mm tags with the gap between them. Parts of a ChArUco board or an AprilGrid suffice; \
                    of a chessboard each image must show all.";
        let response = ui.add(TextEdit::singleline(&mut words).desired_width(f32::INFINITY));
        let enabled = response.enabled();
        response.widget_info(|| WidgetInfo { label: Some("Board".into()), ..WidgetInfo::text_edit(enabled, "", &words, "") });
        let response = if is_free { response.on_hover_text(help) } else { response };
        if response.on_disabled_hover_text("It is in use: discard the views to take another board.").changed() {
            commands.push(GuideStep::SetBoard(words).into());
        }
        if let Ok(board) = &guide.board {
            let help = match board.square_word() {
                "tag" => "Side of a tag as it is printed, to its outer black edge. All metres follow it.",
                _ => "Side of a square as it is printed: measure ten in a row with a ruler, and divide by ten. All metres follow it.",
            };
            widgets::row(ui, board.square_word(), help, |ui| {
                let mut mm = board.square_mm;
                let field = DragValue::new(&mut mm).range(1.0..=1000.0).speed(0.05).suffix(" mm").max_decimals(2);
                let response = ui.add(field.update_while_editing(false)).on_hover_text(help);
                widgets::name(&response, Role::SpinButton, "Side of a square", mm);
                if response.changed() {
                    commands.push(GuideStep::SetSquare(mm).into());
                }
            });
        }
    });
    if guide.board.is_ok() {
        let help =
            "Writes the board to print: at 100 %, without fitting to the page. Glue it on something flat and stiff.";
        widgets::row(ui, "to print", help, |ui| {
            for (paper, label) in PAPERS {
                if ui.button(label).on_hover_text(help).clicked() {
                    commands.push(GuideStep::Print(paper).into());
                }
            }
        });
    }
}
