//! The glossary is well formed.

use super::pages;

#[test]
fn the_glossary_has_a_meaning_and_a_source_for_each_term_in_order() {
    let page = pages::book().into_iter().find(|page| page.path.ends_with("glossary.md")).unwrap();
    let sections = page.text.split("\n## ").skip(1);
    for section in sections {
        let rows: Vec<Vec<_>> = section
            .lines()
            .filter(|line| line.starts_with("| ") && !line.starts_with("| term"))
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        assert!(rows.len() > 2, "{section}");
        assert!(rows.iter().all(|row| row.len() == 3 && row.iter().all(|cell| !cell.is_empty())), "{rows:?}");
        let terms: Vec<_> = rows.iter().map(|row| row[0].to_lowercase()).collect();
        assert!(terms.is_sorted(), "{terms:?}");
    }
}
