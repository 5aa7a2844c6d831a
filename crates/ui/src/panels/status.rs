//! The status line: rates, latency, dropped pairs with their causes, stage times, jobs, engine.

use super::{Command, State};
use crate::live::Status;
use crate::rate::LatencySince;
use egui::{Label, RichText, Role, Ui, WidgetInfo};

/// Windows of at least this width, points, have one row.
const ONE_ROW_WIDTH: f32 = 1700.0;

pub(super) fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let status = state.status();
    // two rows, always, where one may be too short: nothing jumps when a number grows
    let rows = if ui.available_width() < ONE_ROW_WIDTH { 2.0 } else { 1.0 };
    let height = rows * ui.spacing().interact_size.y;
    ui.set_min_height(height);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        readings(ui, state);
        if let Some(remote) = &state.pipeline.remote {
            let help = "Clients elsewhere, and the messages that were not sent because newer ones had come.";
            cell(ui, &remote.standing(), &format!("{}\n{help}", remote.invitation()));
        }
        // one elsewhere names its machine with each result
        let elsewhere = state.output().filter(|output| output.job.frame.raw.matched.is_some());
        let elsewhere = elsewhere.map(|output| &output.engine);
        let engine = match elsewhere.or(status.engine.engine.as_ref()) {
            _ if status.engine.opening => "engine starts …".to_owned(),
            Some(engine) => format!("{} · {}", engine.kind, engine.adapter),
            None => "no engine".to_owned(),
        };
        let why = status.engine.why.clone().unwrap_or_else(|| "What computes the disparities.".into());
        ui.add(Label::new(RichText::new(engine).small()).extend()).on_hover_text(why);
        jobs(ui, state, commands);
    });
}

fn readings(ui: &mut Ui, state: &State) {
    let status = state.status();
    let shown_hz = state.pipeline.shown_hz;
    let rates = if status.paused {
        "held".to_owned()
    } else {
        format!("in {:4.1} · computed {:4.1} · shown {shown_hz:4.1}/s", status.capture.rate_hz, status.computed_hz)
    };
    cell(
        ui,
        &rates,
        "Pairs per second: from the source, matched, and drawn here. A held pair is matched after each change.",
    );
    let latency_ms = status.engine.latency_ms();
    let since = status.engine.latency_since;
    let latency = latency_ms.map_or("–".to_owned(), |(median, _)| format!("{median:.0} ms{since}"));
    let p99 = latency_ms.map_or(String::new(), |(_, p99)| format!(" 99 of 100 take less than {p99:.0} ms."));
    let begin = match since {
        LatencySince::Arrival => "From the arrival of a pair",
        LatencySince::NetworkArrival => {
            "The clock of the other machine cannot be compared: from the arrival of a pair here"
        }
        LatencySince::Capture => "From the capture of a pair on the other machine, by the offset of the two clocks,",
    };
    let help = format!("{begin} to its result, half of them.{p99}");
    cell(ui, &format!("latency {latency}"), &help);
    cell(ui, &format!("dropped {}", status.dropped.missed()), &drops(status));
    if !status.engine.stages.is_empty() {
        let stages: Vec<_> = status.engine.stages.iter().map(|s| format!("{} {:.1}", s.name, s.ms)).collect();
        let help = format!(
            "Time of each stage; {:.1} ms in all, rectification {:.1} ms.",
            status.engine.compute_ms, status.capture.rectify_ms
        );
        cell(ui, &format!("{} ms", stages.join(" · ")), &help);
    } else if status.engine.computed > 0 {
        let help = "From the submission of a pair to its result, with the work before it on the device. This adapter measures \
                    no times of stages, or none that are right while it draws.";
        cell(ui, &format!("matching {:.1} ms", status.engine.compute_ms), help);
    }
    if let Some(figures) = status.engine.figures {
        let help = "Pixels that have a disparity. What was filled from neighbours or held from earlier pairs was not measured, and is \
                    hatched in the pictures.";
        cell(ui, &figures.shares.to_string(), help);
    }
    if let Some(truth) = status.engine.figures.and_then(|figures| figures.truth) {
        let help = format!(
            "Pixels whose disparity is off by more than 1 px, or that have none: of all with truth, as in the other pages. Of those that are \
             visible in both pictures (bad-1 nonocc): {:.1} %.",
            truth.nonocc.bad_1_percent
        );
        cell(ui, &truth.to_string(), &help);
    }
}

/// The running jobs, each with a button to stop it where that is possible.
fn jobs(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    for &job in &state.jobs {
        if job.can_stop {
            let button = ui.small_button("×").on_hover_text("Stop");
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Stop {}", job.name)));
            if button.clicked() {
                commands.push(Command::StopJob(job));
            }
        }
        ui.label(RichText::new(format!("{} …", job.name)).small());
        ui.spinner();
    }
}

fn cell(ui: &mut Ui, text: &str, help: &str) {
    ui.add(Label::new(RichText::new(text).monospace().size(11.0)).extend()).on_hover_text(help);
    ui.separator();
}

/// The number of pairs dropped for each cause.
fn drops(status: &Status) -> String {
    let dropped = &status.dropped;
    format!(
        "Pairs not matched\n{} left out by the source\n{} replaced by newer ones before the engine was free\n{} failed\n{} while paused, not counted",
        dropped.source, dropped.late, dropped.failed, dropped.while_paused
    )
}
