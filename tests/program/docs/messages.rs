//! Checks that the messages on the troubleshooting page are those of the program.

use super::pages::{self, root};
use std::fs;
use std::path::Path;

/// Collects the texts of all sources, with broken strings joined.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let mut parts = source.split("\\\n");
            text.push_str(parts.next().unwrap());
            parts.for_each(|part| text.push_str(part.trim_start()));
            text.push('\n');
        }
    }
}

/// Returns a message with `…` in place of each flag, which only the command line writes.
fn facts(message: &str) -> String {
    let mut flags = message.split("--");
    let first = flags.next().unwrap_or_default().to_owned();
    flags.fold(first, |text, rest| text + "…" + rest.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '-'))
}

/// Smallest number of letters between two placeholders: shorter pieces prove nothing.
const MIN_LETTERS: usize = 4;

#[test]
fn troubleshooting_quotes_existing_messages() {
    let mut text = String::new();
    for folder in ["src", "crates"] {
        sources(&root().join(folder), &mut text);
    }
    let page = pages::book().into_iter().find(|page| page.path.ends_with("troubleshooting.md")).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (index, line) in page.text.lines().enumerate().filter(|(_, line)| line.starts_with("| `")) {
        let messages = line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2);
        for message in messages {
            count += 1;
            let pieces = facts(message);
            let pieces = pieces.split('…').map(|piece| piece.trim_matches([' ', '(', ')', ';']));
            let missing = pieces.filter(|piece| piece.len() >= MIN_LETTERS).find(|piece| !text.contains(piece));
            wrong.extend(missing.map(|piece| format!("line {}: '{piece}' of '{message}'", index + 1)));
        }
    }
    assert!(count > 40, "the page has its messages in the first column: {count}");
    assert!(wrong.is_empty(), "the program says nothing like this:\n{}", wrong.join("\n"));
}
