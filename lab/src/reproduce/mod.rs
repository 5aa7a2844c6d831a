//! `reproduce`: tables and figures of five papers, reproduced on this machine beside the papers' figures.
//! Each paper has a module, with an [`exhibit::Exhibit`] for each table or figure with numbers.

mod banz2011;
mod ernst2008;
mod exhibit;
pub(super) mod fang2012;
mod frommholz2020;
mod leu2010;
mod page;
#[cfg(test)]
mod tests;
mod resources;

use resources::{ExhibitResources, Plan};
use std::io::Write;
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_base::files::{Outputs, WriteError, folder_of, make_folder};
use stereopsis_base::parameter::choices;
use stereopsis_figures::{check_figure_name, write_figure};

choices! {
    /// Reproduced paper.
    pub enum Paper {
        /// Banz, Blume & Pirsch 2011: rank transform and semi-global matching on a GPU.
        Banz = "banz",
        /// Ernst & Hirschmüller 2008: semi-global matching with mutual information on a GPU.
        Ernst = "ernst",
        /// Frommholz 2020: any number of path directions, threads without locks.
        Frommholz = "frommholz",
        /// Fang et al. 2012: local aggregation and a model of its speed.
        Fang = "fang",
        /// Leu, Bacăra & Jivet 2010: block matching on CPU, GPU and FPGA.
        Leu = "leu",
    }
}

/// Options of `reproduce`.
#[derive(Clone, Debug)]
pub struct Options {
    /// Papers in the order of the page.
    pub papers: Vec<Paper>,
    /// Whether to use smaller and fewer images, for less than two minutes in total.
    pub quick: bool,
    /// Folder of pairs with truth; without one the built-in scene is used.
    pub data: Option<PathBuf>,
    /// Whether to print JSON instead of a page.
    pub json: bool,
    /// Folder of the figures (SVG).
    pub svg: Option<PathBuf>,
    /// File of the page, which links the figures, or `None` for standard output.
    pub output: Option<PathBuf>,
    /// Whether existing files may be replaced.
    pub overwrite: bool,
}

impl Paper {
    fn title(self) -> &'static str {
        match self {
            Self::Banz => banz2011::TITLE,
            Self::Ernst => ernst2008::TITLE,
            Self::Frommholz => frommholz2020::TITLE,
            Self::Fang => fang2012::TITLE,
            Self::Leu => leu2010::TITLE,
        }
    }

    fn plans(self) -> &'static [Plan] {
        match self {
            Self::Banz => banz2011::PLANS,
            Self::Ernst => ernst2008::PLANS,
            Self::Frommholz => frommholz2020::PLANS,
            Self::Fang => fang2012::PLANS,
            Self::Leu => leu2010::PLANS,
        }
    }
}

fn figure_name(paper: Paper, name: &str) -> String {
    format!("{paper}-{}.svg", name.to_lowercase().replace(['.', ','], "").replace(' ', "-"))
}

/// Makes all exhibits of the papers, reports progress on standard error, and prints or writes the page.
///
/// # Errors
/// The data cannot be read, an engine fails, a file exists or cannot be written, or `out` cannot be written.
pub fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    // checked before minutes of work
    let mut outputs = Outputs::new::<PathBuf>([], options.overwrite);
    if let Some(page) = &options.output {
        outputs.add(page)?;
        std::fs::metadata(folder_of(page)).map_err(|err| WriteError::new(page, err))?;
    }
    let figure = |paper: Paper, name: &str| options.svg.as_ref().map(|folder| folder.join(figure_name(paper, name)));
    let all: Vec<(Paper, Plan)> =
        options.papers.iter().flat_map(|&paper| paper.plans().iter().map(move |&plan| (paper, plan))).collect();
    for path in all.iter().filter_map(|(paper, (name, _))| figure(*paper, name)) {
        check_figure_name(&path)?;
        outputs.add(&path)?;
    }
    if let Some(folder) = &options.svg {
        make_folder(folder)?;
    }
    let mut resources = ExhibitResources::open(options.quick, options.data.as_deref())?;
    let mut made: Vec<page::FinishedExhibit> = Vec::new();
    for (n, (paper, (name, make))) in all.iter().enumerate() {
        console::say(format_args!("{paper} {name} ({} of {})", n + 1, all.len()));
        let exhibit = make(&mut resources)?;
        let path = figure(*paper, name).filter(|_| exhibit.curves.is_some());
        if let Some((path, curves)) = path.as_ref().zip(exhibit.curves.as_ref()) {
            write_figure(path, curves)?;
        }
        made.push(page::FinishedExhibit { paper: *paper, exhibit, figure: path });
    }
    let text = if options.json {
        console::json(&page::report(&resources, &made))? + "\n"
    } else {
        page::page(&resources, options, &made)
    };
    match &options.output {
        Some(path) => stereopsis_base::files::write(path, text.as_bytes())?,
        None => out.write_all(text.as_bytes())?,
    }
    Ok(())
}
