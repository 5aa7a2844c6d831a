//! Agreement of the two cameras: rows, time, brightness, and the state of each camera.

use super::{Action, Command, Core, style, widgets};
use egui::{RichText, Ui};
use stereopsis_base::console::foreign;
use stereopsis_calibration::{Drift, MIN_DRIFT_VIEWS, Verdict};
use stereopsis_frame::CameraState;

const EXCHANGED: &str = "Left and right look exchanged: nearly all matches lie on the wrong side.";

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    widgets::heading(ui, "Rig");
    let status = core.status();
    let rows = status.health.row_offset.as_ref();
    // without this the sign of a value near zero would flicker
    let offset = |px: f64| if px.abs() < 0.05 { "0.0".to_owned() } else { format!("{px:+.1}") };
    let exchanged = status.health.exchanged.is_some();
    let text = match rows {
        _ if exchanged => "exchanged?".to_owned(),
        Some(rows) => format!("{} px {}", offset(rows.median_px), rows.verdict()),
        None => "–".to_owned(),
    };
    let color = rows.map(|rows| match rows.verdict() {
        _ if exchanged => ui.visuals().warn_fg_color,
        Verdict::Good => style::good(ui.visuals()),
        Verdict::Fair | Verdict::Bad => ui.visuals().warn_fg_color,
    });
    let lines = rows.map_or("rows", |rows| rows.axis.lines());
    let help = rows.map_or(format!("By how much {lines} of left and right differ; too little matches to say."), |rows| {
        format!(
            "By how much {lines} of left and right differ: half of {} matches by less than {:.2} px, 95 of 100 by less than \
             {:.2} px. Good below 0.25 px, bad above 0.5: calibrate again.",
            rows.matches, rows.median_abs_px, rows.p95_abs_px
        )
    });
    let help = if exchanged { format!("{EXCHANGED}\n{help}") } else { help };
    widgets::named_value(ui, lines, &text, color).on_hover_text(help);
    if let Some(drift) = &status.health.drift {
        let (text, color) = match drift {
            _ if drift.is_offered || (drift.lens.is_some() && !drift.is_enough) => {
                ("has changed".to_owned(), Some(ui.visuals().warn_fg_color))
            }
            _ if !drift.is_enough => (format!("{} of {MIN_DRIFT_VIEWS} views", drift.views.min(MIN_DRIFT_VIEWS)), None),
            Drift { in_force: Some(_), .. } => ("corrected".to_owned(), Some(style::good(ui.visuals()))),
            _ => ("as calibrated".to_owned(), Some(style::good(ui.visuals()))),
        };
        let lens = drift.lens.map_or_else(String::new, |lens| format!("\n{}", lens.words()));
        let help = format!("{}\n{}{lens}", drift.words(), drift.depth_words());
        widgets::named_value(ui, "calibration", &text, color).on_hover_text(help);
    }
    if status.source.is_camera {
        let skew = status.cameras.skew;
        let text = skew.map_or("–".into(), |s| format!("{:+.1} ± {:.1} ms", 1e3 * s.mean_s, 5e2 * s.spread_s));
        let help = "How much later the right image is taken than the left one, and how that varies.";
        widgets::named_value(ui, "skew", &text, None).on_hover_text(help);
    }
    if let Some(luma) = status.health.luma {
        let text = if luma.levels.abs() < 0.5 {
            "0 grey levels".to_owned()
        } else {
            format!("{:+.0} grey levels", luma.levels)
        };
        let help = "How much brighter the right image is, on the mean.";
        widgets::named_value(ui, "light", &text, None).on_hover_text(help);
    }
    if status.cameras.cameras.len() == 2 {
        let text = format!("{}", status.cameras.unpaired);
        let help = "Frames of one camera that found no partner.";
        widgets::named_value(ui, "unpaired", &text, None).on_hover_text(help);
        let resyncing = status.cameras.resyncing;
        let label = if resyncing { "re-syncing …" } else { "Re-sync" };
        let help = "Starts one camera again until both take their images at nearly the same time.";
        if ui.add_enabled(!resyncing, egui::Button::new(label).small()).on_hover_text(help).clicked() {
            commands.push(Command::Resync);
        }
    }
    for camera in &status.cameras.cameras {
        self::camera(ui, camera);
    }
    if !status.cameras.cameras.is_empty() || core.rig.note.is_some() {
        let open = ui.small_button("Calibration, controls …").on_hover_text("Open the page of the rig.");
        if open.clicked() && !core.is_open(Action::Rig) {
            commands.push(Action::Rig.into());
        }
    }
}

fn camera(ui: &mut Ui, camera: &CameraState) {
    if camera.lost.is_some() {
        let text = RichText::new(format!("camera {} is lost; waiting for it", camera.index)).small();
        ui.add(egui::Label::new(text.color(ui.visuals().error_fg_color)).wrap());
        return;
    }
    let total = camera.damaged.total();
    let damaged = if total > 0 { format!(", {total} damaged") } else { String::new() };
    let text = format!("camera {}: {:.1}/s{damaged}", camera.index, camera.rate_hz);
    let CameraState { mode, damaged, missed, late, .. } = camera;
    let name = foreign(&camera.name);
    let help = format!("{name}\n{mode}\n{damaged}\n{missed} missing in the driver's count, {late} not taken in time");
    ui.add(egui::Label::new(RichText::new(text).small().weak()).truncate()).on_hover_text(help);
}
