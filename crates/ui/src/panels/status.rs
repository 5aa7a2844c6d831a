//! Status line: rates, latency, dropped pairs with their causes, stage times, jobs, engine; cells without room appear on hover.

use super::{Command, Core};
use egui::{Align, Color32, FontId, Label, Layout, RichText, Role, Ui, WidgetInfo, vec2};
use stereopsis_base::rate::LatencySince;
use stereopsis_frame::engine::EngineKind;
use stereopsis_live::Status;

/// Smallest width of windows with one row, points.
const ONE_ROW_WIDTH: f32 = 1700.0;
/// Space between two cells, a separator with its margins, points.
const GAP: f32 = 21.0;
const SEPARATOR_WIDTH: f32 = 6.0;
const LETTER_SIZE: f32 = 11.0;
/// Help of the time of a pair.
const WITHOUT_STAGES: &str = "From the submission of a pair to its result, with the work before it on the device. This adapter measures \
                              no times of stages, or none that are right while it draws.";
/// Mark for the cells without room.
const MORE: &str = "…";
/// Smallest width of the engine's name, points.
const MIN_ENGINE_WIDTH: f32 = 90.0;
/// Largest share of a row's width for running jobs.
const JOBS_SHARE: f32 = 0.5;

struct StatusCell {
    text: String,
    help: String,
}

impl StatusCell {
    fn new(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { text: text.into(), help: help.into() }
    }

    fn width(&self, ui: &Ui) -> f32 {
        ui.painter().layout_no_wrap(self.text.clone(), letters(), Color32::WHITE).size().x + GAP
    }

    fn show(&self, ui: &mut Ui) {
        ui.add(Label::new(RichText::new(&self.text).font(letters())).extend()).on_hover_text(&self.help);
        ui.separator();
    }
}

fn letters() -> FontId {
    FontId::monospace(LETTER_SIZE)
}

/// Draws the line in one row or two, depending on the width alone so that nothing moves; the last cell lists those without room.
pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let num_rows = if ui.available_width() < ONE_ROW_WIDTH { 2 } else { 1 };
    let cells = cells(core);
    let engine = engine(core);
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    let widths: Vec<_> = cells.iter().map(|cell| cell.width(ui)).collect();
    let of_jobs = if core.jobs.shown().next().is_none() { 0.0 } else { JOBS_SHARE * size.x };
    let more_width = StatusCell::new(MORE, "").width(ui);
    let last_row = size.x - of_jobs - MIN_ENGINE_WIDTH - more_width;
    ui.spacing_mut().item_spacing.y = 0.0;
    let rooms = if num_rows == 1 { vec![last_row] } else { vec![size.x, last_row] };
    let (rows, hidden) = packed(&widths, &rooms);
    for (number, row) in rows.iter().enumerate() {
        ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_size(size);
            let is_last = number + 1 == num_rows;
            if is_last {
                jobs(ui, core, of_jobs, commands);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = (GAP - SEPARATOR_WIDTH) / 2.0;
                for &cell in row {
                    cells[cell].show(ui);
                }
                if is_last && !hidden.is_empty() {
                    let told = |&cell: &usize| format!("{}\n{}", cells[cell].text, cells[cell].help);
                    let told = hidden.iter().map(told).collect::<Vec<_>>().join("\n\n");
                    let more = ui.label(RichText::new(MORE).font(letters()));
                    more.widget_info(|| WidgetInfo::labeled(Role::Label, true, &told));
                    more.on_hover_text(&told);
                    ui.separator();
                }
                if is_last {
                    let text = RichText::new(&engine.text).small();
                    ui.add(Label::new(text).truncate()).on_hover_text(format!("{}\n{}", engine.text, engine.help));
                }
            });
        });
    }
}

/// Assigns cells of these widths in order to rows with this room, and returns the cells of each row and those without room.
fn packed(widths: &[f32], rooms: &[f32]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut rooms = rooms.to_vec();
    let mut rows = vec![Vec::new(); rooms.len()];
    let mut hidden = Vec::new();
    let mut first = 0;
    for (cell, &width) in widths.iter().enumerate() {
        match (first..rooms.len()).find(|&row| width <= rooms[row]) {
            Some(row) => {
                first = row;
                rooms[row] -= width;
                rows[row].push(cell);
            }
            None => hidden.push(cell),
        }
    }
    (rows, hidden)
}

fn engine(core: &Core) -> StatusCell {
    let engine = &core.status().engine;
    // a remote engine names its machine with each result, and a model the change of the images
    let changes = core.output().map(|output| &output.engine);
    let changes = changes.filter(|engine| matches!(engine.kind, EngineKind::Network | EngineKind::Model));
    let changes = changes.filter(|changes| engine.engine.as_ref().is_some_and(|open| open.kind == changes.kind));
    let text = match changes.or(engine.engine.as_ref()) {
        _ if engine.opening => "engine starts …".to_owned(),
        Some(engine) => format!("{} · {}", engine.kind, engine.adapter),
        None => "no engine".to_owned(),
    };
    StatusCell::new(text, engine.why.clone().unwrap_or_else(|| "Engine that computes the disparities.".into()))
}

/// Returns all cells, the most important ones first.
fn cells(core: &Core) -> Vec<StatusCell> {
    let status = core.status();
    let mut cells = if status.source.is_still { still(status) } else { rates(core) };
    if let Some(figures) = status.engine.figures {
        let help = "Pixels that have a disparity. What was filled from neighbours or held from earlier pairs was not measured, and is \
                    hatched in the images.";
        cells.push(StatusCell::new(figures.shares.to_string(), help));
    }
    if let Some(truth) = status.engine.figures.and_then(|figures| figures.truth) {
        let help = format!(
            "Pixels whose disparity is off by more than 1 px, or that have none: of all with truth, as in the other pages. Of those that are \
             visible in both images (bad-1 nonocc): {:.1} %.",
            truth.nonocc.bad_1_percent
        );
        cells.push(match truth.other_scale {
            Some(found) => StatusCell::new(format!("{truth}: another scale?"), format!("{found}. {help}")),
            None => StatusCell::new(truth.to_string(), help),
        });
    }
    if !status.engine.stages.is_empty() {
        let stages: Vec<_> = status.engine.stages.iter().map(|s| format!("{} {:.1}", s.name, s.ms)).collect();
        let help = format!(
            "Time of each stage; {:.1} ms in all, rectification {:.1} ms.",
            status.engine.compute_ms, status.capture.rectify_ms
        );
        cells.push(StatusCell::new(format!("{} ms", stages.join(" · ")), help));
    } else if status.engine.computed > 0 && !status.source.is_still {
        cells.push(StatusCell::new(format!("matching {:.1} ms", status.engine.compute_ms), WITHOUT_STAGES));
    }
    if !core.live.remotes().is_empty() {
        let invitations: Vec<_> = core.live.remotes().iter().map(|remote| remote.invitation() + "\n").collect();
        let help = "Clients elsewhere, and the messages that were not sent because newer ones had come.";
        cells.push(StatusCell::new(core.live.standing(), invitations.concat() + help));
    }
    cells
}

/// Returns the time of a single pair, which has no rate.
fn still(status: &Status) -> Vec<StatusCell> {
    let (text, help) = if status.engine.computed == 0 {
        ("one pair, being matched".to_owned(), "The source is one pair.")
    } else {
        (format!("one pair, matched in {:.0} ms", status.engine.compute_ms), WITHOUT_STAGES)
    };
    vec![StatusCell::new(text, help)]
}

/// Returns rates, latency and losses of a source of many pairs.
fn rates(core: &Core) -> Vec<StatusCell> {
    let status = core.status();
    let shown_hz = core.pipeline.shown_hz;
    let rates = if status.paused {
        "held".to_owned()
    } else {
        format!("in {:4.1} · computed {:4.1} · shown {shown_hz:4.1}/s", status.capture.rate_hz, status.computed_hz)
    };
    let help = "Pairs per second: from the source, matched, and drawn here. A held pair is matched after each change.";
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
    vec![
        StatusCell::new(rates, help),
        StatusCell::new(format!("latency {latency}"), format!("{begin} to its result, half of them.{p99}")),
        StatusCell::new(format!("dropped {}", status.dropped.missed()), drops(status)),
    ]
}

/// Shows the running jobs in at most `width`, each with a button that cancels it where possible.
fn jobs(ui: &mut Ui, core: &Core, width: f32, commands: &mut Vec<Command>) {
    let each = width / core.jobs.shown().count().max(1) as f32;
    for job in core.jobs.shown() {
        ui.spinner();
        let button_width = if job.can_stop { 2.0 * ui.spacing().interact_size.y } else { 0.0 };
        let room = (each - ui.spacing().interact_size.y - 3.0 * ui.spacing().item_spacing.x - button_width).max(0.0);
        ui.scope(|ui| {
            ui.set_max_width(room);
            ui.add(Label::new(RichText::new(format!("{} …", job.name)).small()).truncate()).on_hover_text(job.name);
        });
        if job.can_stop {
            let button = ui.small_button("×").on_hover_text("Stop");
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Stop {}", job.name)));
            if button.clicked() {
                commands.push(Command::StopJob(job));
            }
        }
    }
}

/// Describes the number of dropped pairs by cause.
fn drops(status: &Status) -> String {
    let dropped = &status.dropped;
    format!(
        "Pairs not matched\n{} left out by the source\n{} replaced by newer ones before the engine was free\n{} failed\n{} while paused, not counted",
        dropped.source, dropped.late, dropped.failed, dropped.while_paused
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_cells_get_room_by_importance() {
        let widths = [40.0, 20.0, 30.0, 10.0, 90.0];
        assert_eq!(packed(&widths, &[200.0]), (vec![vec![0, 1, 2, 3, 4]], vec![]));
        assert_eq!(packed(&widths, &[70.0, 50.0]), (vec![vec![0, 1], vec![2, 3]], vec![4]));
        assert_eq!(packed(&widths, &[30.0]), (vec![vec![1, 3]], vec![0, 2, 4]), "what is short, where there is little");
        assert_eq!(packed(&widths, &[-5.0]).1, [0, 1, 2, 3, 4]);
    }
}
