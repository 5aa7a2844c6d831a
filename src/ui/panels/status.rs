//! The status line: rates, latency, what was dropped and why, stage times, engine.

use crate::live::Status;
use crate::ui::session::{FORECAST, Session};
use egui::{Align, Layout, RichText, Role, Ui, WidgetInfo};

/// Shows the line.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) {
    let shown_hz = session.shown_hz();
    let mut stopped = None;
    let status = &session.status;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let rates =
            format!("in {:4.1} · computed {:4.1} · shown {shown_hz:4.1}/s", status.captured_hz, status.computed_hz);
        cell(ui, &rates, "Pairs per second: from the source, matched, and drawn here.");
        let latency = status.latency.map_or("–".to_owned(), |l| format!("{:.0} ms", l.median_ms));
        let p99 = status.latency.map_or(String::new(), |l| format!(" 99 of 100 take less than {:.0} ms.", l.p99_ms));
        let help = format!("From the arrival of a pair to its result, half of them.{p99}");
        cell(ui, &format!("latency {latency}"), &help);
        cell(ui, &format!("dropped {}", status.dropped.missed()), &drops(status));
        if !status.stages.is_empty() {
            let stages: Vec<_> = status.stages.iter().map(|s| format!("{} {:.1}", s.name, s.ms)).collect();
            let help = format!(
                "Time of each stage; {:.1} ms in all, rectification {:.1} ms.",
                status.compute_ms, status.rectify_ms
            );
            cell(ui, &format!("{} ms", stages.join(" · ")), &help);
        } else if status.computed > 0 {
            let help = "From handing a pair over to its result, with what lies before it on the device. This adapter does not \
                        tell times of stages, or none that are true while it draws.";
            cell(ui, &format!("matching {:.1} ms", status.compute_ms), help);
        }
        if let Some(share) = status.valid_share {
            cell(ui, &format!("valid {:4.1} %", share * 100.0), "Pixels that have a disparity.");
        }
        if let Some(truth) = &status.truth {
            let text = format!("off > 1 px {:4.1} %", truth.nonocc.bad_1_percent);
            cell(
                ui,
                &text,
                "Pixels seen by both eyes whose disparity is off by more than 1 px, against the source's exact truth.",
            );
        }
        if let Some(remote) = session.live.remote() {
            let help = "Who watches elsewhere, and what was not sent because something newer had come before the last was packed.";
            cell(ui, &remote.standing(), &format!("{}\n{help}", remote.invitation()));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let engine = match &status.engine {
                _ if status.engine_opening => "engine starts …".to_owned(),
                Some(engine) => format!("{} · {}", engine.kind, engine.adapter),
                None => "no engine".to_owned(),
            };
            let why = status.engine_why.clone().unwrap_or_else(|| "What computes the disparities.".into());
            ui.add(egui::Label::new(RichText::new(engine).small()).truncate()).on_hover_text(why);
            for job in session.jobs.running().filter(|job| *job != FORECAST).collect::<Vec<_>>() {
                let stop = |ui: &mut Ui| {
                    let button = ui.small_button("×").on_hover_text("Stop");
                    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Stop {}", job.name)));
                    button.clicked()
                };
                if job.can_stop && stop(ui) {
                    stopped = Some(job);
                }
                ui.label(RichText::new(format!("{} …", job.name)).small());
                ui.spinner();
            }
        });
    });
    if let Some(job) = stopped {
        session.stop_job(job);
    }
    // always there, so that nothing jumps when it has something to say
    let line = match (session.status.warnings.first(), &session.status.engine_why) {
        (Some(cause), _) => RichText::new(cause).color(ui.visuals().warn_fg_color),
        (None, Some(why)) => RichText::new(why).weak(),
        (None, None) => RichText::new(" "),
    };
    ui.add(egui::Label::new(line.small()).truncate());
}

fn cell(ui: &mut Ui, text: &str, help: &str) {
    ui.label(RichText::new(text).monospace().size(11.0)).on_hover_text(help);
    ui.separator();
}

/// Every cause, with its number.
fn drops(status: &Status) -> String {
    let dropped = &status.dropped;
    format!(
        "Pairs not matched\n{} left out by the source\n{} replaced by newer ones before the engine was free\n{} failed\n{} while paused, not counted",
        dropped.source, dropped.late, dropped.failed, dropped.while_paused
    )
}
