//! A table or a figure of a paper, made again: the paper's numbers, those that came out here, and what to think of each row.

use stereopsis_figures::Curves;

/// One table or figure.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Exhibit {
    /// As the paper calls it: `Table 2`, `Fig. 3`, `Section 5`.
    pub(super) name: &'static str,
    /// What the paper shows there.
    pub(super) shows: &'static str,
    /// What was computed here, on which data: a sentence or two.
    pub(super) here: String,
    /// What the numbers of a row are.
    pub(super) quantities: Vec<Quantity>,
    /// The rows.
    pub(super) rows: Vec<Row>,
    /// The figure, of exhibits that have one.
    #[serde(skip)]
    pub(super) curves: Option<Curves>,
}

/// What the numbers of a column are.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Quantity {
    /// With its unit: `64 disparities, ms`.
    pub(super) name: String,
    /// Decimals that are shown.
    pub(super) decimals: usize,
}

/// One row.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Row {
    /// What it is about.
    pub(super) what: String,
    /// One for each quantity.
    pub(super) cells: Vec<Cell>,
    /// What came of it.
    pub(super) verdict: Verdict,
}

/// A number of the paper and the one that came out here.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(super) struct Cell {
    /// `None` where the paper has none, or only a curve without numbers.
    pub(super) paper: Option<f64>,
    /// `None` where it could not be measured.
    pub(super) here: Option<f64>,
}

/// What came of a row.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "why")]
pub(super) enum Verdict {
    /// It comes out as in the paper, by the measure that is named.
    Reproduced(String),
    /// It comes out differently, because of what is named.
    Differs(String),
    /// It cannot be measured here, and needs what is named.
    NotMeasurable(String),
}

impl Exhibit {
    /// Without rows and without a figure.
    pub(super) fn new(name: &'static str, shows: &'static str, here: impl Into<String>) -> Self {
        Self { name, shows, here: here.into(), quantities: Vec::new(), rows: Vec::new(), curves: None }
    }

    /// Adds a column with this many decimals.
    pub(super) fn with_quantity(mut self, name: impl Into<String>, decimals: usize) -> Self {
        self.quantities.push(Quantity { name: name.into(), decimals });
        self
    }

    /// Adds a row; cells that are missing at its end are empty.
    pub(super) fn row(&mut self, what: impl Into<String>, cells: impl Into<Vec<Cell>>, verdict: Verdict) {
        let mut cells = cells.into();
        cells.resize(self.quantities.len(), Cell::default());
        self.rows.push(Row { what: what.into(), cells, verdict });
    }
}

impl Cell {
    /// Both numbers.
    pub(super) fn both(paper: f64, here: f64) -> Self {
        Self { paper: Some(paper), here: Some(here) }
    }

    /// A number of the paper alone.
    pub(super) fn paper(paper: f64) -> Self {
        Self { paper: Some(paper), here: None }
    }

    /// A number that the paper does not have.
    pub(super) fn here(here: f64) -> Self {
        Self { paper: None, here: Some(here) }
    }
}

impl Verdict {
    /// Reproduced by this measure if it holds, else different because of what is named.
    pub(super) fn of(holds: bool, measure: impl Into<String>, because: impl Into<String>) -> Self {
        if holds { Self::Reproduced(measure.into()) } else { Self::Differs(because.into()) }
    }

    /// Of a row that the paper shows in a drawing alone, without its number; what the text says of the drawing has a row of its own.
    pub(super) fn no_points() -> Self {
        Self::NotMeasurable("the numbers of the paper's drawing, which its text does not tell".to_owned())
    }

    /// Of times, which other hardware never has again: how many times as long it took here as on the paper's device.
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

    /// `reproduced`, `differs`, `not measurable here`.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Reproduced(_) => "reproduced",
            Self::Differs(_) => "differs",
            Self::NotMeasurable(_) => "not measurable here",
        }
    }

    /// Word and reason in a sentence.
    pub(super) fn sentence(&self) -> String {
        let word = self.word();
        match self {
            Self::Reproduced(by) => format!("{word}: {by}"),
            Self::Differs(because) => format!("{word} because of {because}"),
            Self::NotMeasurable(needs) => format!("{word}: needs {needs}"),
        }
    }
}
