//! Checks the form of the glossary.

use super::pages;

#[test]
fn glossary_has_a_sorted_meaning_and_source_for_each_term() {
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
