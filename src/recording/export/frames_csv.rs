//! `frames.csv`: one line for each pair.

use crate::recording::{ResultNote, time};
use std::fmt::Write as _;

/// One exported pair.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Its number in the recording, from 0, by which its files are named.
    pub(super) number: u64,
    /// Its sequence number at the source.
    pub(super) sequence: u64,
    /// Time of the right picture minus that of the left one, s.
    pub(super) skew_s: f64,
    /// Its name.
    pub(super) name: String,
    /// Time of capture of the left picture, ns since 1970.
    pub(super) capture_time_ns: u64,
    /// The note of its result, where there is one.
    pub(super) result: Option<ResultNote>,
    /// Index of its parameters in `recording.json`.
    pub(super) parameters: Option<usize>,
}

/// The columns, each with its description.
pub(super) const COLUMNS: &[(&str, &str)] = &[
    ("number", "place in the recording, from 0; the files' names begin with it"),
    ("sequence", "number that the pair had at its source"),
    ("capture_time_ns", "when the left picture was taken, ns since 1970 by the wall clock"),
    ("capture_time", "the same in words, UTC"),
    ("skew_s", "how much later the right picture was taken, s"),
    ("name", "the pair's name at its source"),
    ("engine", "what computed the result"),
    ("compute_ms", "how long that took, ms"),
    ("measured", "share of the pixels that were measured, 0 to 1"),
    ("parameters", "which of the parameter sets of recording.json it was matched with, from 0"),
];

/// The table, in the order of the recording.
pub(super) fn table(rows: &[Row]) -> String {
    let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut text = names.join(",") + "\n";
    for Row { number, sequence, skew_s, name, capture_time_ns, result, parameters } in rows {
        let time = time::rfc3339(time::from_ns(*capture_time_ns));
        let (engine, compute_ms, measured) = result.as_ref().map_or_else(Default::default, |result| {
            (cell(&result.engine), format!("{:.3}", result.compute_ms), format!("{:.6}", result.measured))
        });
        let parameters = parameters.map(|index| index.to_string()).unwrap_or_default();
        let _ = writeln!(
            text,
            "{number},{sequence},{capture_time_ns},{time},{skew_s},{},{engine},{compute_ms},{measured},{parameters}",
            cell(name)
        );
    }
    text
}

/// A cell, quoted where its text contains separators.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_every_column_whatever_names_hold() {
        let result = ResultNote { sequence: 17, engine: "cpu".into(), compute_ms: 1.5, measured: 0.75, doffs_px: 0.0 };
        let bare = Row {
            number: 3,
            sequence: 17,
            skew_s: 0.002,
            name: "a, \"b\"".into(),
            capture_time_ns: 1_700_000_000_500_000_000,
            result: None,
            parameters: None,
        };
        let whole = Row { number: 4, result: Some(result), parameters: Some(1), ..bare.clone() };
        let text = table(&[bare, whole]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].split(',').count(), COLUMNS.len());
        let name = "\"a, \"\"b\"\"\"";
        assert_eq!(lines[1], format!("3,17,1700000000500000000,2023-11-14T22:13:20.500Z,0.002,{name},,,,"));
        assert!(lines[2].ends_with(&format!("{name},cpu,1.500,0.750000,1")), "{}", lines[2]);
    }
}
