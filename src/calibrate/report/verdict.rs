//! What the user must know first: whether the calibration may be used, and how wrong its depth will be.

use super::markup::{escaped, list, paragraph, section, table};
use crate::calibrate::Outcome;
use crate::calibrate::judge::{DepthError, MATCHING_PX};

/// Error of depth that counts as good, per cent.
const GOOD_PERCENT: f64 = 1.0;
/// Distance beyond which [`crate::calibrate::Judgement::good_to_m`] does not look, m.
const FARTHEST_M: f64 = 20.0;

/// The first section.
pub(super) fn verdict(outcome: &Outcome) -> String {
    let (class, words) = sentence(outcome);
    let mut body = format!(
        "<div class=\"verdict {class}\">\n<p><strong>{}</strong></p>\n{}</div>\n",
        escaped(&words),
        list(&outcome.refusals)
    );
    if !outcome.advice.is_empty() {
        body += &paragraph("What would make it better:");
        body += &list(&outcome.advice);
    }
    body += &paragraph(&format!(
        "Metres stand or fall with the {} mm that were typed for the side of a square: measure one known distance to check.",
        millimetres(outcome.board.square_mm)
    ));
    section("Verdict", &body)
}

/// The class of the box and its sentence.
fn sentence(outcome: &Outcome) -> (&'static str, String) {
    if !outcome.refusals.is_empty() {
        return ("bad", "Not to be used:".to_owned());
    }
    let Some(judgement) = &outcome.judgement else {
        return ("fair", "Not judged: too few views to leave some out.".to_owned());
    };
    match judgement.good_to_m(GOOD_PERCENT) {
        Some(distance) if distance >= FARTHEST_M => {
            ("good", format!("Good enough for {FARTHEST_M:.0} m and more within {GOOD_PERCENT} %."))
        }
        Some(distance) => ("good", format!("Good enough for {distance:.1} m within {GOOD_PERCENT} %.")),
        None => (
            "fair",
            format!(
                "Nothing speaks against this calibration, but depth within {GOOD_PERCENT} % is not to be expected at any distance."
            ),
        ),
    }
}

/// A length with at least one decimal.
fn millimetres(length: f64) -> String {
    let text = length.to_string();
    if text.contains('.') { text } else { format!("{text}.0") }
}

/// The section of expected errors.
pub(super) fn depth(outcome: &Outcome) -> String {
    let Some(judgement) = &outcome.judgement else {
        return section(
            "Expected error of depth",
            &paragraph("There are too few views to leave some out, so the error is not known."),
        );
    };
    let rows: Vec<Vec<String>> = judgement.depth.iter().map(row).collect();
    let head =
        ["Distance", "By the calibration", &format!("By {MATCHING_PX} px of matching"), "Together", "Together, in mm"];
    let mut body = table(&head, &rows);
    body += &paragraph(
        "95 of 100 calibrations of this quality are nearer to the truth than the second column says. It is found by leaving views out, \
         solving again, and comparing the depth over the inner four fifths of the picture. The error by matching does not depend on the \
         calibration: it grows with the distance, and shrinks with a longer baseline and more pixels.",
    );
    section("Expected error of depth", &body)
}

fn row(depth: &DepthError) -> Vec<String> {
    let unseen = "not seen by both cameras";
    let shown = |number: f64, decimals: usize, unit: &str| {
        if number.is_finite() { format!("{number:.decimals$} {unit}") } else { unseen.to_owned() }
    };
    // hundredths matter only where there is nothing before the point
    let percent = |number: f64| shown(number, if number < 10.0 { 2 } else { 0 }, "%");
    let together_mm = 1e3 * depth.error_m();
    vec![
        format!("{} m", depth.distance_m),
        percent(depth.calibration_percent),
        percent(depth.matching_percent),
        format!("<strong>{}</strong>", percent(depth.percent())),
        shown(together_mm, usize::from(together_mm < 10.0), "mm"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_that_one_camera_misses_is_said_in_words() {
        let depth = DepthError { distance_m: 1.0, calibration_percent: f64::INFINITY, matching_percent: 0.5 };
        let cells = row(&depth);
        assert_eq!(cells[1], "not seen by both cameras");
        assert_eq!((cells[2].as_str(), cells[4].as_str()), ("0.50 %", "not seen by both cameras"));
        let cells = row(&DepthError { distance_m: 2.0, calibration_percent: 3.0, matching_percent: 4.0 });
        assert_eq!(cells[1..], ["3.00 %", "4.00 %", "<strong>5.00 %</strong>", "100 mm"]);
    }

    #[test]
    fn a_side_has_at_least_one_decimal() {
        assert_eq!([26.0, 49.33].map(millimetres), ["26.0", "49.33"]);
    }
}
