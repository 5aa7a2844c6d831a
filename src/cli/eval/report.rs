//! The figures for other programs: CSV and JSON.

use super::means::{Means, Values, minus, values};
use super::run::{Evaluation, Row, SceneRows};
use super::variants::Variant;
use crate::cli::values::csv_cell;
use serde_json::{Map, Value, json};
use stereopsis_metrics::{COLUMNS, Figures, TruthRegion};

/// Formats one line for each pair, setting and region, and the means of several pairs; an unavailable figure is empty.
pub(super) fn csv(found: &Evaluation, means: &[Means], names: &[&str]) -> String {
    let columns = COLUMNS.iter().map(|column| column.name);
    let heading: Vec<_> = ["scene", "layout", "setting", "region", "pixels"].into_iter().chain(columns).collect();
    let mut lines = vec![format!("{},time_ms", heading.join(","))];
    let mut line =
        |scene: &str, layout: &str, setting: usize, region: &str, pixels: String, values: &Values, ms: f64| {
            let fixed = [scene, layout, names[setting], region].map(csv_cell).into_iter().chain([pixels]);
            let cells: Vec<_> = fixed.chain(values.iter().chain([&ms]).map(|value| number(*value))).collect();
            lines.push(cells.join(","));
        };
    for SceneRows { name, layout, rows, .. } in &found.rows {
        for row in rows {
            for (region, figures) in &row.regions {
                let pixels = figures.pixels().to_string();
                line(name, layout, row.variant, region.word(), pixels, &values(figures), row.time_ms);
            }
        }
    }
    for (variant, means) in means.iter().enumerate().filter(|_| found.rows.len() > 1) {
        for (region, _, values) in &means.regions {
            line("mean", "", variant, region.word(), String::new(), values, means.time_ms);
        }
    }
    lines.join("\n") + "\n"
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.6}") } else { String::new() }
}

/// Returns everything as JSON: `results` has each pair with each setting, `means` each setting.
pub(super) fn json(found: &Evaluation, means: &[Means], variants: &[Variant]) -> Value {
    let results = found.rows.iter().flat_map(|scene| scene.rows.iter().map(|row| result(scene, row, variants)));
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let means = means.iter().zip(&names).map(|(means, name)| {
        let regions: Map<_, _> = means
            .regions
            .iter()
            .map(|(region, scenes, values)| (region.to_string(), with_pairs(*scenes, values)))
            .collect();
        json!({
            "setting": name,
            "pairs": means.scenes,
            "regions": regions,
            "all_regions": numbers(&means.all_regions),
            "time_ms": means.time_ms,
        })
    });
    let (results, means) = (results.collect::<Vec<_>>(), means.collect::<Vec<_>>());
    json!({ "settings": names, "results": results, "means": means, "remarks": found.remarks })
}

fn result(scene: &SceneRows, row: &Row, variants: &[Variant]) -> Value {
    let mut about = row.about.clone();
    about["scene"] = json!(scene.name);
    about["layout"] = json!(scene.layout);
    about["setting"] = json!(variants[row.variant].name);
    about["time_ms"] = json!(row.time_ms);
    about["regions"] = row.regions.iter().map(|(region, figures)| (region.to_string(), with_pixels(figures))).collect();
    if row.variant > 0 {
        let first = |wanted: TruthRegion| scene.rows[0].regions.iter().find(|(region, _)| *region == wanted);
        let difference = |(region, figures): &(TruthRegion, Figures)| {
            let difference = minus(&values(figures), &values(&first(*region)?.1));
            Some((region.to_string(), Value::from(numbers(&difference))))
        };
        about["differences"] = row.regions.iter().filter_map(difference).collect();
    }
    for (name, path) in [("errors_picture", &row.errors), ("map", &row.map)] {
        if let Some(path) = path {
            about[name] = json!(path);
        }
    }
    about
}

fn with_pixels(figures: &Figures) -> Value {
    let mut object = numbers(&values(figures));
    object.insert("pixels".to_owned(), json!(figures.pixels()));
    object.into()
}

fn with_pairs(pairs: usize, values: &Values) -> Value {
    let mut object = numbers(values);
    object.insert("pairs".to_owned(), json!(pairs));
    object.into()
}

/// Returns the figures by name; null where one is unavailable.
fn numbers(values: &Values) -> Map<String, Value> {
    COLUMNS.iter().zip(values).map(|(column, value)| (column.name.to_owned(), json!(value))).collect()
}
