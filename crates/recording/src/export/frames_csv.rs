//! Table `frames.csv` of an export: one line for each pair.

use crate::{ResultNote, time};
use stereopsis_frame::RawPair;

pub(super) const COLUMNS: &[(&str, &str)] = &[
    ("number", "place in the recording, from 0; the files' names begin with it"),
    ("sequence", "number that the pair had at its source"),
    ("capture_time_ns", "when the left image was taken, ns since 1970 by the wall clock"),
    ("capture_time", "the same in words, UTC"),
    ("skew_s", "how much later the right image was taken, s"),
    ("name", "the pair's name at its source"),
    ("engine", "what computed the result"),
    ("compute_ms", "how long that took, ms"),
    ("measured", "share of the pixels that were measured, 0 to 1"),
    ("parameters", "which of the parameter sets of recording.json it was matched with, from 0"),
];

pub(super) fn table(lines: &[String]) -> String {
    let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    format!("{}\n{}", names.join(","), lines.concat())
}

/// Returns the line of pair `number`, with the note of the result and the index of the parameters in `recording.json`.
pub(super) fn line(number: u64, pair: &RawPair, result: Option<&ResultNote>, parameters: Option<usize>) -> String {
    let RawPair { sequence, skew_s, name, capture_time, .. } = pair;
    let (capture_time_ns, capture_time) = (time::to_ns(*capture_time), time::rfc3339(*capture_time));
    let (engine, compute_ms, measured) = result.map_or_else(Default::default, |result| {
        (cell(&result.engine), format!("{:.3}", result.compute_ms), format!("{:.6}", result.measured))
    });
    let parameters = parameters.map(|index| index.to_string()).unwrap_or_default();
    let name = cell(name);
    format!(
        "{number},{sequence},{capture_time_ns},{capture_time},{skew_s},{name},{engine},{compute_ms},{measured},{parameters}\n"
    )
}

/// Returns a cell, quoted where its text contains separators.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::{Image, Luma, Picture};

    #[test]
    fn quotes_names_that_contain_separators() {
        let result = ResultNote {
            sequence: 17,
            engine: "cpu".into(),
            compute_ms: 1.5,
            measured: 0.75,
            doffs_px: 0.0,
            beyond: 0.0,
        };
        let picture = Picture { luma: Luma::U8(Image::filled(2, 2, 0)), rgb: None };
        let taken = time::from_ns(1_700_000_000_500_000_000);
        let pair = RawPair::new("a, \"b\"", 17, taken, picture.clone(), picture);
        let pair = RawPair { skew_s: 0.002, ..pair };
        let text = table(&[line(3, &pair, None, None), line(4, &pair, Some(&result), Some(1))]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].split(',').count(), COLUMNS.len());
        let name = "\"a, \"\"b\"\"\"";
        assert_eq!(lines[1], format!("3,17,1700000000500000000,2023-11-14T22:13:20.500Z,0.002,{name},,,,"));
        assert!(lines[2].ends_with(&format!("{name},cpu,1.500,0.750000,1")), "{}", lines[2]);
    }
}
