//! Summary of the pairs of a range, for people and as JSON.

use super::rows::{Measurement, Part, Row, Setting};
use serde_json::{Value, json};
use std::fmt::Write as _;
use stereopsis_base::console;
use stereopsis_base::geometry::Geometry;
use stereopsis_metrics::{Better, Missing, Trend, trend};

/// Number over the pairs of a range.
#[derive(Debug)]
struct Line {
    title: &'static str,
    name: &'static str,
    unit: &'static str,
    /// Values; `None` if the number was never available.
    values: Option<Values>,
    /// Reason from the last pair without the number.
    missing: Option<Missing>,
}

/// Summary of several values of a number.
#[derive(Debug)]
struct Values {
    count: usize,
    mean: f64,
    deviation: f64,
    last: f64,
    trend: Option<Trend>,
}

impl Values {
    fn of(values: &[f64], better: Better) -> Option<Self> {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count as f64;
        let last = *values.last()?;
        Some(Self { count, mean, deviation: variance.sqrt(), last, trend: trend(values, better) })
    }
}

/// Summarizes the numbers of the rows, in their order.
fn lines(rows: &[Row]) -> Vec<Line> {
    let Some(first) = rows.first() else { return Vec::new() };
    let of = |name: &'static str| rows.iter().filter_map(move |row| row.quantities.iter().find(|q| q.name == name));
    let line = |quantity: &stereopsis_metrics::Quantity| {
        let name = quantity.name;
        let values: Vec<f64> = of(name).filter_map(|q| q.value.ok()).collect();
        Line {
            title: quantity.title,
            name,
            unit: quantity.unit,
            values: Values::of(&values, quantity.better),
            missing: of(name).filter_map(|q| q.value.err()).next_back(),
        }
    };
    first.quantities.iter().map(line).collect()
}

/// Returns a sentence about what is missing, with the flag that helps.
fn sentence(why: Missing) -> String {
    let remedy = match why {
        Missing::Calibration => ": give --calibration, --rectify auto, or the lens (--fov-deg) and --baseline-m",
        Missing::FarBound => ": give a --known-distance",
        Missing::TrueDistance => ": give --distance-m",
        Missing::LeftRightCheck => " with --left-right 1",
        Missing::Nothing | Missing::Pixels { .. } => "; is the search range right, and the region textured?",
        _ => "",
    };
    format!("{why}{remedy}")
}

/// Formats the table for people.
pub(super) fn text(found: &Measurement) -> String {
    let mut text = found.setting.as_ref().map_or_else(String::new, |setting| heading(found, setting));
    for part in &found.parts {
        if !part.span.name.is_empty() {
            let _ = writeln!(text, "\n{} ({})", part.span, console::counted(part.rows.len() as u64, "pair"));
        }
        text.push_str(&table(part));
    }
    text
}

fn heading(found: &Measurement, setting: &Setting) -> String {
    let Setting { size: (width, height), subject, engine, geometry, .. } = setting;
    let mut text = format!(
        "{}: {}, region {} of {width}x{height} px, on {} ({})\n",
        console::foreign(&found.source),
        console::counted(found.pairs, "pair"),
        subject.region,
        engine.kind,
        engine.adapter
    );
    match geometry.filter(|geometry| geometry.estimated) {
        Some(Geometry { spread: Some(_), .. }) => {
            text.push_str("the calibration is an estimate: its lengths have bounds, which 95 of 100 such rigs keep\n");
        }
        Some(_) => text.push_str("the calibration is an estimate: lengths may be off by a factor\n"),
        None => {}
    }
    text
}

fn table(part: &Part) -> String {
    let pairs = part.rows.len();
    let mut text = String::new();
    if pairs > 1 {
        let _ = writeln!(text, "{:<24} {:>12} {:>12} {:>12}  trend", "", "mean", "deviation", "last");
    }
    for Line { title, unit, values, missing, .. } in lines(&part.rows) {
        let _ = match (values, missing) {
            (Some(values), missing) => {
                let Values { count, mean, deviation, last, trend } = values;
                let trend = trend.map_or("", Trend::word);
                let lacking = missing.filter(|_| count < pairs).map_or_else(String::new, |why| {
                    format!("  (in {count} of {pairs} pairs; else: {})", sentence(why))
                });
                if pairs > 1 {
                    writeln!(
                        text,
                        "{title:<24} {mean:>12.3} {deviation:>12.3} {last:>12.3}  {trend:<6} {unit}{lacking}"
                    )
                } else {
                    writeln!(text, "{title:<24} {last:>12.3} {unit}")
                }
            }
            (None, Some(why)) => writeln!(text, "{title:<24} {:>12} {}", "-", sentence(why)),
            (None, None) => Ok(()),
        };
    }
    text
}

/// Returns everything as JSON: `results` has each pair, `ranges` the sums.
pub(super) fn json(found: &Measurement) -> Value {
    let rows = found.parts.iter().flat_map(|part| part.rows.iter().map(|row| of_row(&part.span.name, row)));
    let ranges = found.parts.iter().map(|part| {
        let numbers: serde_json::Map<_, _> =
            lines(&part.rows).iter().map(|line| (line.name.to_owned(), of_line(line))).collect();
        json!({
            "range": part.span.name,
            "first": part.span.first,
            "last": part.rows.last().map(|row| row.pair),
            "pairs": part.rows.len(),
            "numbers": numbers,
        })
    });
    let setting = found.setting.as_ref();
    json!({
        "source": found.source,
        "pairs": found.pairs,
        "engine": setting.map(|s| &*s.engine),
        "parameters": setting.map(|s| &*s.params),
        "geometry": setting.and_then(|s| s.geometry),
        "size": setting.map(|s| [s.size.0, s.size.1]),
        "region": setting.map(|s| s.subject.region),
        "distance_m": setting.and_then(|s| s.subject.true_distance_m),
        "points": setting.and_then(|s| s.subject.points),
        "results": rows.collect::<Vec<_>>(),
        "ranges": ranges.collect::<Vec<_>>(),
    })
}

/// Returns one pair: its numbers, null where they are unavailable, and the sentences why.
fn of_row(range: &str, row: &Row) -> Value {
    let mut object = serde_json::Map::new();
    object.insert("range".into(), range.into());
    object.insert("pair".into(), row.pair.into());
    object.insert("name".into(), row.name.clone().into());
    let mut missing = serde_json::Map::new();
    for quantity in &row.quantities {
        object.insert(quantity.name.into(), json!(quantity.value.ok()));
        if let Err(why) = quantity.value {
            missing.insert(quantity.name.into(), sentence(why).into());
        }
    }
    object.insert("missing".into(), missing.into());
    object.into()
}

fn of_line(line: &Line) -> Value {
    let values = line.values.as_ref();
    json!({
        "unit": line.unit,
        "pairs": values.map_or(0, |v| v.count),
        "mean": values.map(|v| v.mean),
        "deviation": values.map(|v| v.deviation),
        "last": values.map(|v| v.last),
        "trend": values.and_then(|v| v.trend),
        "missing": line.missing.map(sentence),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::measure::span::{Span, parse};
    use stereopsis_metrics::Quantity;

    fn measurement(span: Span, values: &[Result<f64, Missing>]) -> Measurement {
        let quantity =
            |value| Quantity { title: "fill rate", name: "fill_percent", unit: "%", better: Better::Higher, value };
        let row = |(pair, &value): (u64, _)| Row { pair, name: "n".into(), quantities: vec![quantity(value)] };
        let rows = (0..).zip(values).map(row).collect();
        Measurement { source: "s".into(), pairs: values.len() as u64, setting: None, parts: vec![Part { span, rows }] }
    }

    #[test]
    fn several_pairs_have_a_mean_and_one_its_value() {
        let two = text(&measurement(parse("wall=0-").unwrap(), &[Ok(90.0), Ok(80.0)]));
        assert!(two.contains("wall=0- (2 pairs)") && two.contains("85.000") && two.contains("5.000"), "{two}");
        let one = text(&measurement(Span::all(), &[Ok(90.0)]));
        assert!(one.contains("fill rate") && one.contains("90.000 %") && !one.contains("mean"), "{one}");
    }

    #[test]
    fn missing_numbers_have_a_sentence_with_the_flag_that_helps() {
        let none = measurement(Span::all(), &[Err(Missing::Calibration)]);
        assert!(text(&none).contains("no calibration") && text(&none).contains("--baseline-m"), "{}", text(&none));
        let value = json(&none);
        assert!(value["results"][0]["fill_percent"].is_null(), "{value}");
        assert!(value["results"][0]["missing"]["fill_percent"].as_str().unwrap().contains("--calibration"), "{value}");
        let some = measurement(Span::all(), &[Ok(1.0), Err(Missing::TrueDistance)]);
        assert!(text(&some).contains("in 1 of 2 pairs") && text(&some).contains("--distance-m"), "{}", text(&some));
        assert_eq!(json(&some)["ranges"][0]["numbers"]["fill_percent"]["pairs"], 1);
    }
}
