//! Page of all exhibits in Markdown or JSON.

use super::exhibit::{Cell, Exhibit, Quantity, Verdict};
use super::resources::ExhibitResources;
use super::{Options, Paper};
use jiff::Zoned;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stereopsis_bench::PROGRAM;

pub(super) struct FinishedExhibit {
    pub(super) paper: Paper,
    pub(super) exhibit: Exhibit,
    /// Path of the exhibit's figure.
    pub(super) figure: Option<PathBuf>,
}

/// Words of verdicts in the order of the summary.
const WORDS: [&str; 3] = ["reproduced", "differs", "not measurable here"];

pub(super) fn report(resources: &ExhibitResources, made: &[FinishedExhibit]) -> serde_json::Value {
    let exhibits: Vec<_> = made
        .iter()
        .map(|FinishedExhibit { paper, exhibit, .. }| serde_json::json!({ "paper": paper.word(), "exhibit": exhibit }))
        .collect();
    serde_json::json!({ "program": PROGRAM, "machine": resources.machine(), "exhibits": exhibits })
}

pub(super) fn page(resources: &ExhibitResources, options: &Options, made: &[FinishedExhibit]) -> String {
    let mut text = String::from("# Five papers, table by table\n\n");
    let date = Zoned::now().strftime("%-d %B %Y");
    let size = if options.quick { ", with small images (`--quick`)" } else { "" };
    let _ = write!(
        text,
        "Every table and every figure with numbers of the five papers that Stereopsis stands on, made again by one command{size}:\n\n\
         ```sh\n{}\n```\n\nMachine: {}. {date}. {PROGRAM}. Pairs with truth: {}.\n\n",
        command(options),
        resources.machine(),
        resources.data(),
    );
    text += "A row is *reproduced* if it comes out as in the paper by the measure that it names; it *differs* because of what it \
             names; or it is *not measurable here* and names what it would need. A number of the paper stands left of ours; a dash \
             means that there is none. Times are medians of warm pairs.\n\n";
    text += &summary(options, made);
    for &paper in &options.papers {
        let _ = write!(text, "## {}\n\n", paper.title());
        for FinishedExhibit { exhibit, figure, .. } in made.iter().filter(|made| made.paper == paper) {
            text += &section(exhibit, figure.as_deref(), options.output.as_deref());
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// Returns the command line that makes this page.
fn command(options: &Options) -> String {
    let papers: Vec<_> = options.papers.iter().map(|paper| paper.word()).collect();
    let papers = if papers.len() == Paper::ALL.len() { "all".to_owned() } else { papers.join(" ") };
    let mut command = format!("stereopsis-lab reproduce {papers}");
    if options.quick {
        command += " --quick";
    }
    // readers keep the data in their own folders
    let data = options.data.as_deref().map(|path| path.file_name().map_or(path, Path::new));
    for (flag, path) in [("--data", data), ("--svg", options.svg.as_deref()), ("-o", options.output.as_deref())] {
        if let Some(path) = path {
            let _ = write!(command, " {flag} {}", path.display());
        }
    }
    command
}

fn summary(options: &Options, made: &[FinishedExhibit]) -> String {
    let mut text = format!("| paper | {} |\n|---|---|---|---|\n", WORDS.join(" | "));
    for &paper in &options.papers {
        let rows = || made.iter().filter(|made| made.paper == paper).flat_map(|made| &made.exhibit.rows);
        let counts = WORDS.map(|word| rows().filter(|row| row.verdict.word() == word).count().to_string());
        let _ = writeln!(text, "| `{paper}` | {} |", counts.join(" | "));
    }
    text + "\n"
}

fn section(exhibit: &Exhibit, figure: Option<&Path>, page: Option<&Path>) -> String {
    let Exhibit { name, shows, here, quantities, rows, .. } = exhibit;
    let mut text = format!("### {name}: {shows}\n\n{here}\n\n");
    let heads = quantities.iter().map(|quantity| format!(" {}, paper | here |", quantity.name));
    let _ = writeln!(text, "| |{} result |", heads.collect::<String>());
    let _ = writeln!(text, "|---|{}---|", "---|---|".repeat(quantities.len()));
    for row in rows {
        let cells = row.cells.iter().zip(quantities).map(|(cell, quantity)| cells(cell, quantity));
        let _ = writeln!(text, "| {} |{} {} |", row.what, cells.collect::<String>(), sentence(&row.verdict));
    }
    if let Some(figure) = figure {
        let _ = write!(text, "\n![{name}: {shows}]({})\n", link(figure, page));
    }
    text + "\n"
}

fn cells(cell: &Cell, quantity: &Quantity) -> String {
    let number = |value: Option<f64>| match value {
        Some(value) if value.is_finite() => format!("{value:.*}", quantity.decimals),
        _ => "-".to_owned(),
    };
    format!(" {} | {} |", number(cell.paper), number(cell.here))
}

fn sentence(verdict: &Verdict) -> String {
    let sentence = verdict.sentence();
    let word = verdict.word();
    sentence.replacen(word, &format!("**{word}**"), 1)
}

/// Returns the path from the page's folder to a figure.
fn link(figure: &Path, page: Option<&Path>) -> String {
    let folder = page.and_then(Path::parent);
    let up = folder.map_or(0, |folder| folder.components().count());
    let is_relative = figure.is_relative() && folder.is_none_or(Path::is_relative);
    let up = if is_relative { "../".repeat(up) } else { String::new() };
    up + &figure.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_page_to_the_figure() {
        let link = |figure: &str, page: Option<&str>| super::link(Path::new(figure), page.map(Path::new));
        assert_eq!(link("assets/r/a.svg", Some("docs/r.md")), "../assets/r/a.svg");
        assert_eq!(link("a.svg", Some("r.md")), "a.svg");
        assert_eq!(link("assets/a.svg", None), "assets/a.svg");
        assert_eq!(link("/tmp/a.svg", Some("docs/r.md")), "/tmp/a.svg");
    }
}
