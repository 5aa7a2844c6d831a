//! Reproduced table or figure of a paper: the paper's numbers, the measured ones, and a verdict per row.

use crate::curves::Curves;

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Exhibit {
    /// Name in the paper, as `Table 2`, `Fig. 3` or `Section 5`.
    pub(super) name: &'static str,
    /// Content in the paper.
    pub(super) shows: &'static str,
    /// Method and data here, in a sentence or two.
    pub(super) here: String,
    pub(super) quantities: Vec<Quantity>,
    pub(super) rows: Vec<Row>,
    #[serde(skip)]
    pub(super) curves: Option<Curves>,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Quantity {
    /// Name with unit, as `64 disparities, ms`.
    pub(super) name: String,
    /// Decimals shown.
    pub(super) decimals: usize,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Row {
    pub(super) what: String,
    /// Cells, one per quantity.
    pub(super) cells: Vec<Cell>,
    pub(super) verdict: Verdict,
}

/// Number of the paper beside the measured one.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(super) struct Cell {
    /// Number of the paper; `None` for none, or a curve without numbers.
    pub(super) paper: Option<f64>,
    /// Measured number; `None` if it could not be measured.
    pub(super) here: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "why")]
pub(super) enum Verdict {
    /// Agreement, with the measure.
    Reproduced(String),
    /// Difference, with its cause.
    Differs(String),
    /// Missing measurement, with its requirement.
    NotMeasurable(String),
}

impl Exhibit {
    pub(super) fn new(name: &'static str, shows: &'static str, here: impl Into<String>) -> Self {
        Self { name, shows, here: here.into(), quantities: Vec::new(), rows: Vec::new(), curves: None }
    }

    pub(super) fn with_quantity(mut self, name: impl Into<String>, decimals: usize) -> Self {
        self.quantities.push(Quantity { name: name.into(), decimals });
        self
    }

    /// Adds a row, with empty cells at its end where they are missing.
    pub(super) fn row(&mut self, what: impl Into<String>, cells: impl Into<Vec<Cell>>, verdict: Verdict) {
        let mut cells = cells.into();
        cells.resize(self.quantities.len(), Cell::default());
        self.rows.push(Row { what: what.into(), cells, verdict });
    }
}

impl Cell {
    pub(super) fn both(paper: f64, here: f64) -> Self {
        Self { paper: Some(paper), here: Some(here) }
    }

    pub(super) fn paper(paper: f64) -> Self {
        Self { paper: Some(paper), here: None }
    }

    pub(super) fn here(here: f64) -> Self {
        Self { paper: None, here: Some(here) }
    }
}

impl Verdict {
    /// Returns `Reproduced` by this measure if it holds, otherwise `Differs` with the cause.
    pub(super) fn of(holds: bool, measure: impl Into<String>, because: impl Into<String>) -> Self {
        if holds { Self::Reproduced(measure.into()) } else { Self::Differs(because.into()) }
    }

    /// Returns the verdict on curves without numbers; statements of the text have their own rows.
    pub(super) fn no_points() -> Self {
        Self::NotMeasurable("the numbers of the paper's drawing, which its text does not tell".to_owned())
    }

    /// Returns the verdict on times, as the ratio to the paper's device because times depend on hardware.
    pub(super) fn of_times(cells: &[Cell], device: &str) -> Self {
        let ratios: Vec<f64> = cells.iter().filter_map(|cell| Some(cell.here? / cell.paper?)).collect();
        let (least, most) =
            ratios.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &ratio| (least.min(ratio), most.max(ratio)));
        if ratios.is_empty() {
            return Self::Differs(format!("other hardware: the paper has no number, of {device}"));
        }
        let times = if most - least < 0.05 * most { format!("{most:.2}") } else { format!("{least:.2} to {most:.2}") };
        Self::Differs(format!("other hardware: {times} times the time of {device}"))
    }

    /// Returns `reproduced`, `differs` or `not measurable here`.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Reproduced(_) => "reproduced",
            Self::Differs(_) => "differs",
            Self::NotMeasurable(_) => "not measurable here",
        }
    }

    /// Formats verdict and reason as a sentence.
    pub(super) fn sentence(&self) -> String {
        let word = self.word();
        match self {
            Self::Reproduced(by) => format!("{word}: {by}"),
            Self::Differs(because) => format!("{word} because of {because}"),
            Self::NotMeasurable(needs) => format!("{word}: needs {needs}"),
        }
    }
}
