//! The table of all pairs, as CSV.

use super::rows::{Measurement, Row};
use crate::cli::values::csv_cell;

/// Formats one line for each pair of each range; an unavailable number is an empty cell.
pub(super) fn csv(found: &Measurement) -> String {
    let columns = columns(found);
    let mut lines = vec![[&["range", "pair", "name"], &columns[..]].concat().join(",")];
    for part in &found.parts {
        lines.extend(part.rows.iter().map(|row| {
            let cells = columns.iter().map(|name| cell_of(row, name));
            let fixed = [csv_cell(&part.span.name), row.pair.to_string(), csv_cell(&row.name)];
            fixed.into_iter().chain(cells).collect::<Vec<_>>().join(",")
        }));
    }
    lines.join("\n") + "\n"
}

/// Returns the names of the numbers, in their order; pairs without truth lack some.
fn columns(found: &Measurement) -> Vec<&'static str> {
    let mut names = Vec::new();
    for quantity in found.parts.iter().flat_map(|part| &part.rows).flat_map(|row| &row.quantities) {
        if !names.contains(&quantity.name) {
            names.push(quantity.name);
        }
    }
    names
}

fn cell_of(row: &Row, name: &str) -> String {
    let value = row.quantities.iter().find(|quantity| quantity.name == name).map(|quantity| quantity.value);
    value.and_then(Result::ok).map_or_else(String::new, |value| format!("{value:.6}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::measure::rows::Part;
    use crate::cli::measure::span::parse;
    use stereopsis_metrics::{Better, Missing, Quantity};

    fn quantity(name: &'static str, value: Result<f64, Missing>) -> Quantity {
        Quantity { title: "t", name, unit: "px", better: Better::Lower, value }
    }

    #[test]
    fn every_line_has_every_column_and_missing_cells_are_empty() {
        let row = |pair, quantities| Row { pair, name: format!("a, {pair}"), quantities };
        let rows = vec![
            row(0, vec![quantity("one_px", Ok(0.5)), quantity("two_px", Err(Missing::Line))]),
            row(1, vec![quantity("one_px", Ok(1.0)), quantity("three_px", Ok(2.0))]),
        ];
        let found = Measurement {
            source: "s".into(),
            pairs: 2,
            setting: None,
            parts: vec![Part { span: parse("wall=0-1").unwrap(), rows }],
        };
        let text = csv(&found);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "range,pair,name,one_px,two_px,three_px");
        assert_eq!(lines[1], "wall,0,\"a, 0\",0.500000,,");
        assert_eq!(lines[2], "wall,1,\"a, 1\",1.000000,,2.000000");
    }
}
