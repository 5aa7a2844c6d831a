//! All output to the terminal. Standard error may be closed or full: messages that cannot be written are dropped. Foreign text (names in
//! files, of devices, from a network) cannot send control characters to the terminal.

use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};
use std::path::Path;

/// Limit of a foreign name, characters.
const MAX_NAME: usize = 120;
/// Limit of a path, characters; no system has longer ones.
const MAX_PATH: usize = 4096;
/// Limit of a message, characters, far above those of this program.
const MAX_MESSAGE: usize = 8_000;
/// Longest part of a misspelt word that is compared, characters.
const MAX_COMPARED: usize = 100;
/// Smallest likeness of a misspelt word to a known one; 1 is the same word.
const MIN_LIKENESS: f64 = 0.5;
/// Smallest likeness of names, where many are known.
const MIN_NAME_LIKENESS: f64 = 0.75;

/// End of a sentence about a feature that needs other machines, in a build without the network.
pub const NO_NETWORK: &str = "needs the network, and this program was built without it: `make run NETWORK=1`, \
    `cargo build --features full` and the packages have it";

/// Writes `stereopsis: text` to standard error. Never fails.
pub fn say(text: impl Display) {
    line(format_args!("stereopsis: {text}"));
}

/// Writes a line to standard error without the name of the program.
pub fn line(text: impl Display) {
    // a failure of standard error cannot be reported anywhere
    let _ = writeln!(io::stderr().lock(), "{}", shown(&text.to_string()));
}

/// Returns the width of the terminal behind standard error, characters; `None` if there is none.
pub fn columns() -> Option<usize> {
    #[cfg(any(unix, windows))]
    let columns = terminal_size::terminal_size_of(io::stderr()).map(|(columns, _)| columns.0.into());
    #[cfg(not(any(unix, windows)))] // a browser
    let columns = None;
    columns
}

/// Writes a result to standard output as plain text.
///
/// # Errors
/// The output is closed or full. A closed pipe ends the program quietly (see `cli::is_closed_pipe`).
pub fn print(text: &str) -> io::Result<()> {
    Out.write_all(text.as_bytes())?;
    Out.flush()
}

/// Standard output as a writer. Each write must consist of whole characters, which are escaped as by [`shown`] and never cut.
pub struct Out;

impl io::Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = escaped(&String::from_utf8_lossy(bytes), usize::MAX, is_layout);
        io::stdout().lock().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

/// Returns text for a terminal or window: control characters except newlines and tabs are escaped, text above the limit is cut.
pub fn shown(text: &str) -> String {
    escaped(text, MAX_MESSAGE, is_layout)
}

/// Returns a foreign name as one short line: control characters are escaped, long names are cut.
pub fn foreign(name: &str) -> String {
    escaped(name, MAX_NAME, |_| false)
}

/// Returns a path as one line: control characters are escaped, nothing is cut.
pub fn path(path: &Path) -> String {
    escaped(&path.to_string_lossy(), MAX_PATH, |_| false)
}

/// Quotes a word of a command line for a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the known word that a misspelt one most resembles, if one is like it.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    likest(word, known, MIN_LIKENESS)
}

/// Returns the known name that a misspelt one most resembles, if one is very like it; for long lists of names.
pub fn closest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    likest(name, known, MIN_NAME_LIKENESS)
}

fn likest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, min: f64) -> Option<&'a str> {
    let short: String = word.chars().take(MAX_COMPARED).collect(); // comparing takes the product of both lengths
    let likeness = |known| strsim::normalized_damerau_levenshtein(known, &short);
    let scored = known.into_iter().map(|known| (likeness(known), known));
    scored.filter(|(likeness, _)| *likeness >= min).max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, known)| known)
}

/// Returns a number with its noun, given in the singular: `1 pair`, `2 pairs`, `3 matches`.
pub fn counted(count: u64, noun: &str) -> String {
    let stem = noun.strip_suffix('y');
    match count {
        1 => format!("1 {noun}"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => stem.map_or_else(|| format!("{count} {noun}s"), |stem| format!("{count} {stem}ies")),
    }
}

/// Formats a size: `812 bytes`, `3.4 kB`, `12.0 MB`, `5.1 GB`.
pub fn bytes(bytes: u64) -> String {
    let number = bytes as f64;
    match bytes {
        0..1_000 => counted(bytes, "byte"),
        1_000..1_000_000 => format!("{:.1} kB", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number / 1e6),
        _ => format!("{:.1} GB", number / 1e9),
    }
}

/// Formats a value as JSON over several lines. Control characters in strings are escaped in JSON's notation, so that programs read the
/// same strings back.
///
/// # Errors
/// The value cannot be JSON.
pub fn json(value: &impl serde::Serialize) -> serde_json::Result<String> {
    let mut out = String::new();
    for c in serde_json::to_string_pretty(value)?.chars() {
        if steers(c) && !is_layout(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c)); // into a string
        } else {
            out.push(c);
        }
    }
    Ok(out)
}

fn escaped(text: &str, longest: usize, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len().min(longest.saturating_mul(4)));
    for (n, c) in text.chars().enumerate() {
        if n == longest {
            out.push('…');
            break;
        }
        if steers(c) && !stays(c) {
            let _ = write!(out, "{}", c.escape_default()); // into a string
        } else {
            out.push(c);
        }
    }
    out
}

fn is_layout(c: char) -> bool {
    matches!(c, '\n' | '\t')
}

/// Whether a character moves the cursor, changes colours, or changes the order in which others are shown.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_steer_a_terminal() {
        assert_eq!(foreign("left\u{1b}[2J\r\n\u{9b}31m\u{202e}gnp"), "left\\u{1b}[2J\\r\\n\\u{9b}31m\\u{202e}gnp");
        assert_eq!(shown("one\n\ttwo\u{7}"), "one\n\ttwo\\u{7}");
        assert_eq!(foreign("Kamera größer 深度"), "Kamera größer 深度");
    }

    #[test]
    fn odd_names_survive_a_shell() {
        assert_eq!(quoted("a/im0.png,a/im1.png"), "a/im0.png,a/im1.png");
        if !cfg!(windows) {
            assert_eq!(quoted("it's mine"), r"'it'\''s mine'");
        }
    }

    #[test]
    fn json_escapes_control_characters_without_loss() {
        let name: String = (0..0x3000).filter_map(char::from_u32).collect();
        let text = json(&serde_json::json!({ "name": name })).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["name"], name.as_str());
        assert_eq!(escaped(&text, usize::MAX, is_layout), text, "nothing is left to escape");
    }

    #[test]
    fn counts_have_singular_and_plural() {
        let counted = |noun| [0, 1, 2].map(|count| counted(count, noun));
        assert_eq!(counted("pair"), ["0 pairs", "1 pair", "2 pairs"]);
        assert_eq!(counted("match"), ["0 matches", "1 match", "2 matches"]);
        assert_eq!(counted("disparity"), ["0 disparities", "1 disparity", "2 disparities"]);
    }

    #[test]
    fn sizes_have_their_unit() {
        assert_eq!(
            [1, 812, 3_400, 12_000_000, 5_100_000_000].map(bytes),
            ["1 byte", "812 bytes", "3.4 kB", "12.0 MB", "5.1 GB"]
        );
    }

    #[test]
    fn closest_finds_misspelt_words_only() {
        let known = ["record", "recompute", "compute", "bench"];
        for (word, meant) in [("recrod", "record"), ("comptue", "compute"), ("bnech", "bench")] {
            assert_eq!(closest(word, known), Some(meant));
        }
        assert_eq!(closest("foo", known), None);
        assert_eq!(closest(&"record".repeat(100_000), known), None);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(foreign(&"x".repeat(5_000)).chars().count(), MAX_NAME + 1);
        assert_eq!(foreign(&"x".repeat(MAX_NAME)), "x".repeat(MAX_NAME));
    }
}
