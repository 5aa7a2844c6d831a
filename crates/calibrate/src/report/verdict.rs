//! Verdict: whether the calibration may be used, and its expected depth errors.

use super::markup::{escaped, list, paragraph, section, table};
use crate::Outcome;
use crate::judge::{DepthError, GOOD_PERCENT, MATCHING_PX};

pub(super) fn verdict(outcome: &Outcome) -> String {
    let class = match &outcome.judgement {
        _ if !outcome.refusals.is_empty() => "bad",
        Some(judgement) if outcome.doubts.is_empty() && judgement.good_to_m(GOOD_PERCENT).is_some() => "good",
        _ => "fair",
    };
    let mut body = format!(
        "<div class=\"verdict {class}\">\n<p><strong>{}</strong></p>\n{}{}</div>\n",
        escaped(&sentence(&outcome.verdict())),
        list(&outcome.refusals),
        list(&outcome.doubts)
    );
    if !outcome.advice.is_empty() {
        body += &paragraph("What would make it better:");
        body += &list(&outcome.advice);
    }
    body += &paragraph(&sentence(&outcome.scale_note()));
    section("Verdict", &body)
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    format!("{}.", first.into_iter().chain(letters).collect::<String>())
}

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
         solving again, and comparing the depth over the inner four fifths of the image. The error by matching does not depend on the \
         calibration: it grows with the distance, and shrinks with a longer baseline and more pixels.",
    );
    section("Expected error of depth", &body)
}

fn row(depth: &DepthError) -> Vec<String> {
    let unseen = "not seen by both cameras";
    let shown = |number: f64, decimals: usize, unit: &str| {
        if number.is_finite() { format!("{number:.decimals$} {unit}") } else { unseen.to_owned() }
    };
    // hundredths matter only below 10 %
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
}
