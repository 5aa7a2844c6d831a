//! The pages of the documentation as files: blocks of code, links, and their place in the book.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) struct Page {
    /// File, relative to the project.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Fenced block of code, without its indentation.
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) lines: Vec<(usize, String)>,
}

impl Page {
    fn read(path: &str) -> Self {
        Self { path: path.into(), text: fs::read_to_string(root().join(path)).unwrap() }
    }

    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<(usize, Block)> = None;
        for (index, line) in self.text.lines().enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            open = match (open, fence) {
                (None, Some(language)) => {
                    let indent = line.len() - line.trim_start().len();
                    Some((indent, Block { language: language.trim().to_owned(), lines: Vec::new() }))
                }
                (Some((_, block)), Some(_)) => {
                    blocks.push(block);
                    None
                }
                (Some((indent, mut block)), None) => {
                    block.lines.push((index + 1, line.get(indent..).unwrap_or_default().to_owned()));
                    Some((indent, block))
                }
                (None, None) => None,
            };
        }
        assert!(open.is_none(), "{}: a block of code has no end", self.path.display());
        blocks
    }

    /// Number and text of each line outside of fenced blocks.
    fn prose(&self) -> Vec<(usize, &str)> {
        let mut inside = false;
        let mut lines = Vec::new();
        for (index, line) in self.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                inside = !inside;
            } else if !inside {
                lines.push((index + 1, line));
            }
        }
        lines
    }

    /// Returns line number and text of each code span in the prose.
    pub(crate) fn spans(&self) -> Vec<(usize, &str)> {
        self.prose()
            .into_iter()
            .flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |span| (number, span)))
            .collect()
    }

    /// Returns line number and target of each link and image in the prose.
    fn links(&self) -> Vec<(usize, String)> {
        let mut links = Vec::new();
        for (number, line) in self.prose() {
            let without_code: String = line.split('`').step_by(2).collect();
            for after in without_code.split("](").skip(1) {
                links.extend(after.split_once(')').map(|(target, _)| (number, target.to_owned())));
            }
        }
        links
    }

    /// Returns the anchors of its headings, as forges and mdBook make them.
    fn anchors(&self) -> BTreeSet<String> {
        let headings = self.prose().into_iter().filter_map(|(_, line)| line.strip_prefix('#'));
        headings.map(|heading| anchor(heading.trim_start_matches('#').trim())).collect()
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the pages of the book, without its summary.
pub(crate) fn book() -> Vec<Page> {
    let files = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let is_page =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("SUMMARY.md");
    let mut paths: Vec<_> = files.filter(is_page).collect();
    paths.sort();
    paths.iter().map(|path| Page::read(path.strip_prefix(root()).unwrap().to_str().unwrap())).collect()
}

/// Returns every page with commands.
pub(crate) fn all() -> Vec<Page> {
    let others = [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
        "calibration/README.md",
        "assets/README.md",
        "fuzz/README.md",
    ];
    others.into_iter().map(Page::read).chain(book()).collect()
}

/// Resolves `.` and `..` in a path.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
        whole
    })
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    for page in all().into_iter().chain([Page::read("docs/SUMMARY.md"), Page::read("CHANGELOG.md")]) {
        for (number, link) in page.links() {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let target = if file.is_empty() { page.path.clone() } else { normal(&page.path.with_file_name(file)) };
            let place = format!("{}:{number}: {link}", page.path.display());
            if !root().join(&target).exists() {
                broken.push(format!("{place}: there is no such file"));
            } else if !anchor.is_empty() && !Page::read(target.to_str().unwrap()).anchors().contains(anchor) {
                broken.push(format!("{place}: there is no such heading"));
            } else if page.path.parent() == Some(Path::new("docs"))
                && !target.starts_with("docs")
                && !target.starts_with("assets")
            {
                broken.push(format!("{place}: leads out of the book"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_summary_names_each_page_of_the_book_once() {
    let mut named: Vec<_> = Page::read("docs/SUMMARY.md").links().into_iter().map(|(_, link)| link).collect();
    named.sort();
    let pages: Vec<_> = book().iter().map(|page| page.path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(named, pages);
}

#[test]
fn package_names_have_this_version() {
    for page in all() {
        for (number, line) in page.text.lines().enumerate() {
            for name in ["stereopsis_", "stereopsis-"] {
                for rest in line.split(name).skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
                    let place = format!("{}:{}: {name}{rest}", page.path.display(), number + 1);
                    assert!(rest.starts_with(env!("CARGO_PKG_VERSION")), "{place}");
                }
            }
        }
    }
}

/// Whether a code span names a file or folder of this project: with its top folder, below `src`, or in a crate.
fn is_path(span: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c);
    let first = span.split('/').next().unwrap_or_default();
    let tops = ["src", "shaders", "tests", "tools", "docs", "calibration", "fuzz", "lab"];
    !first.is_empty()
        && span.contains('/')
        && span.chars().all(is_plain)
        && (tops.contains(&first) || ["src", "crates"].iter().any(|rooms| root().join(rooms).join(first).is_dir()))
}

#[test]
fn every_path_in_the_prose_exists() {
    let mut missing = Vec::new();
    for page in all() {
        for (number, span) in page.spans().into_iter().filter(|(_, span)| is_path(span)) {
            let exists = |path: PathBuf| path.exists() || path.with_extension("rs").exists();
            // a page may name a crate's source without its src folder
            let in_crate = span.replacen('/', "/src/", 1);
            let places = ["", "src/", "docs/"].map(|folder| format!("{folder}{span}"));
            if !places.iter().chain([&format!("crates/{in_crate}")]).any(|place| exists(root().join(place))) {
                missing.push(format!("{}:{number}: {span}", page.path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
