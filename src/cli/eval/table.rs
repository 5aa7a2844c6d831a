//! The figures as a table for people.

use super::means::{Means, Values, minus, values};
use super::run::{Evaluation, SceneRows};
use std::fmt::Write as _;
use stereopsis_base::console;
use stereopsis_metrics::COLUMNS;

/// Formats every scene with every setting, and the means of several scenes. From the second setting on, the second line of each region is
/// the difference from the first setting.
pub(super) fn text(found: &Evaluation, means: &[Means], names: &[&str]) -> String {
    let mut text = format!(
        "{} with truth, on {}; bad, D1 and density in %, the others in px (docs/evaluate.md)\n",
        console::counted(found.rows.len() as u64, "pair"),
        found.engine
    );
    text.push_str(&heading());
    for scene in &found.rows {
        let SceneRows { name, layout, size: (width, height), rows } = scene;
        let _ = writeln!(text, "\n{} ({layout}), {width}x{height} px", console::foreign(name));
        let blocks = rows.iter().map(|row| Block {
            name: names[row.variant],
            lines: row.regions.iter().map(|(region, figures)| (region.to_string(), values(figures))).collect(),
            time_ms: row.time_ms,
        });
        text.push_str(&blocks_text(&blocks.collect::<Vec<_>>()));
    }
    if found.rows.len() > 1 {
        text.push_str(&means_text(means, names));
    }
    text
}

fn means_text(means: &[Means], names: &[&str]) -> String {
    let blocks = means.iter().zip(names).map(|(means, name)| {
        let of_regions = means.regions.iter().map(|(region, _, values)| (region.to_string(), *values));
        let every = (means.regions.len() > 1).then(|| ("regions".to_owned(), means.all_regions));
        Block { name, lines: of_regions.chain(every).collect(), time_ms: means.time_ms }
    });
    let scenes = means.first().map_or(0, |means| means.scenes) as u64;
    let blocks = blocks_text(&blocks.collect::<Vec<_>>());
    format!("\nmean of {}\n{blocks}", console::counted(scenes, "pair"))
}

/// Block of one setting: a line for each region.
struct Block<'a> {
    name: &'a str,
    lines: Vec<(String, Values)>,
    time_ms: f64,
}

fn blocks_text(blocks: &[Block<'_>]) -> String {
    let mut text = String::new();
    for (number, block) in blocks.iter().enumerate() {
        for (k, (region, values)) in block.lines.iter().enumerate() {
            let name = if k == 0 { block.name } else { "" };
            let time = if k == 0 { format!("{:>9.1}", block.time_ms) } else { String::new() };
            let _ = writeln!(text, "  {name:<14} {region:<7}{}{time}", cells(values, false));
            let first = blocks[0].lines.iter().find(|(of_first, _)| of_first == region).filter(|_| number > 0);
            if let Some((_, first)) = first {
                let _ = writeln!(text, "  {:<22}{}", "", cells(&minus(values, first), true));
            }
        }
    }
    text
}

/// Whether the table has a column: figures over valid pixels alone are only in the files.
fn is_shown(title: &str) -> bool {
    !title.starts_with("badv")
}

fn heading() -> String {
    let titles = COLUMNS.iter().filter(|column| is_shown(column.title));
    let titles = titles.fold(String::new(), |titles, column| titles + &format!("{:>8}", column.title));
    format!("  {:<22}{titles}{:>9}\n", "", "ms")
}

/// Formats the numbers of a line; `-` where there is none.
fn cells(values: &Values, is_difference: bool) -> String {
    let shown = COLUMNS.iter().zip(values).filter(|(column, _)| is_shown(column.title));
    let cell = |(column, value): (&stereopsis_metrics::Column, &f64)| {
        let decimals = if column.name.ends_with("_percent") { 2 } else { 3 };
        match (value.is_finite(), is_difference) {
            (false, _) => format!("{:>8}", "-"),
            (true, false) => format!("{value:>8.decimals$}"),
            (true, true) => format!("{value:>+8.decimals$}"),
        }
    };
    shown.map(cell).collect()
}
