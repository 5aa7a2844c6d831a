//! Button for an estimate of the rig.

use crate::core::command::Command;
use egui::Ui;
use stereopsis_calibration::RowsChoice;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice};

/// Shows a button that estimates the rig from the images.
pub(crate) fn estimate(ui: &mut Ui, label: &str, before: &CalibrationChoice, commands: &mut Vec<Command>) {
    let help = "Rectifies by what both images show: no board, no file. Point the cameras at something with texture, near and \
                far. Depth is then an estimate.";
    if ui.button(label).on_hover_text(help).clicked() {
        let mut estimate = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..without_files(before) };
        estimate.set_focal(before.focal());
        commands.push(Command::Calibrate(Box::new(estimate)));
    }
}

/// Returns the choice without its files, estimate and fit.
pub(crate) fn without_files(choice: &CalibrationChoice) -> CalibrationChoice {
    let CalibrationChoice { baseline_m, alpha, rectified_fov_deg, rows, scale, swap_pictures, vertical, .. } = *choice;
    CalibrationChoice {
        // a stored field corrects only the calibration for which it was found
        rows: rows.filter(|rows| *rows != RowsChoice::Field),
        swap_pictures,
        vertical,
        alpha,
        rectified_fov_deg,
        baseline_m,
        scale,
        mask: choice.mask.clone(),
        ..CalibrationChoice::default()
    }
}
