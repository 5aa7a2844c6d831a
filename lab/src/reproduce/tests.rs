//! Tests that every exhibit is made on small images without data, and that the page contains all.

use super::exhibit::{Cell, Verdict};
use super::page::{FinishedExhibit, page, report};
use super::*;
use std::collections::HashSet;

#[test]
fn every_exhibit_is_made_without_data_with_a_verdict_per_row() {
    let mut resources = ExhibitResources::small().unwrap();
    let mut made = Vec::new();
    for &paper in Paper::ALL {
        for (name, make) in paper.plans() {
            let exhibit = make(&mut resources).unwrap_or_else(|err| panic!("{paper} {name}: {err:#}"));
            assert_eq!(exhibit.name, *name, "{paper}");
            assert!(!exhibit.rows.is_empty() && !exhibit.here.is_empty(), "{paper} {name}");
            for row in &exhibit.rows {
                assert_eq!(row.cells.len(), exhibit.quantities.len(), "{paper} {name}: {}", row.what);
                // a row without numbers is judged by the count in its verdict
                let has = |of: fn(&Cell) -> Option<f64>| row.cells.iter().any(|cell| of(cell).is_some());
                let is_compared = has(|cell| cell.paper) && !matches!(row.verdict, Verdict::NotMeasurable(_));
                assert!(
                    !is_compared || has(|cell| cell.here),
                    "{paper} {name}: {} is judged without a number",
                    row.what
                );
            }
            made.push(FinishedExhibit { paper, exhibit, figure: None });
        }
    }
    let options = options(None);
    let text = page(&resources, &options, &made);
    for FinishedExhibit { exhibit, .. } in &made {
        assert!(text.contains(&format!("### {}: ", exhibit.name)), "{}", exhibit.name);
    }
    // each line of a table has as many cells as its heading
    for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
        let cells: HashSet<_> = table.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(cells.len(), 1, "{table}");
    }
    assert!(text.contains("stereopsis-lab reproduce all --quick"), "{text}");
    let json = report(&resources, &made);
    assert_eq!(json["exhibits"].as_array().unwrap().len(), made.len());
}

#[test]
fn every_figure_has_a_name_of_its_own() {
    let plans =
        Paper::ALL.iter().flat_map(|&paper| paper.plans().iter().map(move |(name, _)| figure_name(paper, name)));
    let mut names = HashSet::new();
    for name in plans {
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c)), "{name}");
        assert!(names.insert(name.clone()), "two exhibits are called {name}");
    }
}

#[test]
fn nothing_is_made_where_a_file_is_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join(figure_name(Paper::Leu, "Fig. 5"));
    std::fs::write(&there, "mine").unwrap();
    let mut out = Vec::new();
    let why = run(&options(Some(folder.path().to_owned())), &mut out).unwrap_err().to_string();
    assert!(why.contains("leu-fig-5.svg") && why.contains("exists"), "{why}");
    assert_eq!((out.len(), std::fs::read_to_string(&there).unwrap().as_str()), (0, "mine"));
}

fn options(svg: Option<PathBuf>) -> Options {
    Options { papers: Paper::ALL.to_vec(), quick: true, data: None, json: false, svg, output: None, overwrite: false }
}
