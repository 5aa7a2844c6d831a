//! Sections on the solved parameters and on the data of the calibration.

use super::markup::{escaped, paragraph, section, table};
use crate::session::TakenView;
use crate::solve::rms;
use crate::{Judgement, LensKind, Outcome};
use stereopsis_base::console::counted;
use stereopsis_frame::Side;

pub(super) fn solved(outcome: &Outcome) -> String {
    let told = outcome.solution.rig.describe(0.0);
    let mut body = cameras(outcome);
    let bound = |of: &dyn Fn(&Judgement) -> f64| outcome.judgement.as_ref().map(of);
    let mut rows = vec![
        pair("Baseline", &bounded(1e3 * told.baseline_m, 2, "mm", bound(&|judgement| judgement.baseline_percent))),
        pair(
            "Focal length of the left camera",
            &bounded(told.left.fx_px, 2, "px", bound(&|judgement| judgement.focal_percent)),
        ),
    ];
    let angles = [
        ("Toe-in", told.toe_in_deg),
        ("Pitch of the right camera", told.pitch_deg),
        ("Roll of the right camera", told.roll_deg),
    ];
    // avoids a negative zero
    rows.extend(angles.map(|(name, angle)| pair(name, &format!("{:.2}°", (angle * 100.0).round() / 100.0 + 0.0))));
    if let Some(problem) = &told.problem {
        rows.push(pair("Rectification", &format!("not possible: {problem}")));
    }
    body += "<h3>Both together</h3>\n";
    body += &table(&["Quantity", "Value"], &rows);
    body += &paragraph("Behind ± stands the bound that 95 of 100 calibrations of this quality keep.");
    body += "<h3>How well views and solution agree</h3>\n";
    body += &table(&["Quantity", "Value"], &agreement(outcome));
    body += "<h3>Lens models</h3>\n";
    body += &lenses(outcome);
    section("What was solved", &body)
}

fn pair(name: &str, value: &str) -> Vec<String> {
    vec![escaped(name), escaped(value)]
}

/// Formats a number with its error bound if known.
fn bounded(number: f64, decimals: usize, unit: &str, bound_percent: Option<f64>) -> String {
    match bound_percent {
        Some(bound) if bound > 0.0 && bound.is_finite() => format!("{number:.decimals$} {unit} ± {bound:.2} %"),
        _ => format!("{number:.decimals$} {unit}"),
    }
}

fn coefficient_names(kind: LensKind) -> &'static [&'static str] {
    match kind {
        LensKind::Radtan | LensKind::Pinhole | LensKind::Rational => &["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"],
        LensKind::Fisheye => &["k1", "k2", "k3", "k4"],
    }
}

fn cameras(outcome: &Outcome) -> String {
    let solution = &outcome.solution;
    let rig = solution.rig.describe(0.0);
    let told = [&rig.left, &rig.right];
    let row = |name: &str, value: &dyn Fn(usize) -> String| vec![escaped(name), escaped(&value(0)), escaped(&value(1))];
    let mut rows = vec![
        row("Lens model", &|_| solution.kind.to_string()),
        row("Focal length along rows", &|side| format!("{:.2} px", told[side].fx_px)),
        row("Focal length along columns", &|side| format!("{:.2} px", told[side].fy_px)),
        row("Principal point", &|side| format!("({:.2}, {:.2}) px", told[side].cx_px, told[side].cy_px)),
    ];
    let angle = |angle: Option<f64>| angle.map_or("–".to_owned(), |angle| format!("{angle:.1}°"));
    rows.push(row("Field of view", &|side| {
        format!("{} x {}", angle(told[side].horizontal_deg), angle(told[side].vertical_deg))
    }));
    for (i, name) in
        coefficient_names(solution.kind).iter().enumerate().take(told[0].distortion.len().max(told[1].distortion.len()))
    {
        rows.push(row(name, &|side| format!("{:.5}", told[side].distortion.get(i).copied().unwrap_or(0.0))));
    }
    let error = |side: usize| rms(solution.views.iter().flat_map(|fit| fit.errors[side].iter().copied()));
    rows.push(row("Re-projection error, RMS", &|side| {
        error(side).map_or("–".to_owned(), |px| format!("{px:.3} px"))
    }));
    rows.push(row("Corners", &|side| {
        solution.views.iter().map(|fit| fit.errors[side].len()).sum::<usize>().to_string()
    }));
    let note = if solution.free.cameras {
        String::new()
    } else {
        paragraph("Both cameras were kept as they were given: only their pose relative to each other was solved.")
    };
    format!("<h3>Cameras</h3>\n{note}{}", table(&["Quantity", "Left", "Right"], &rows))
}

fn agreement(outcome: &Outcome) -> Vec<Vec<String>> {
    let solution = &outcome.solution;
    let mut rows =
        vec![pair("Standard deviation of a corner, along x and along y", &format!("{:.3} px", solution.sigma_px))];
    if let Some(judgement) = &outcome.judgement {
        rows.push(pair(
            "Re-projection error in views that were left out, RMS",
            &format!("{:.3} px", judgement.left_out_px),
        ));
        rows.push(pair(
            &format!("Difference of {} in views that were left out, RMS", outcome.solution.rig.axis().lines()),
            &format!("{:.3} px", judgement.left_out_rows_px),
        ));
        rows.push(pair(
            "Board as measured in views that were left out",
            &format!("{:.2} % of its size", 100.0 * judgement.board_size),
        ));
    }
    rows.push(pair("Height of the squares relative to their width", &format!("{:.4}", outcome.squares_aspect)));
    rows.push(pair("Re-projection error of both cameras together, RMS", &format!("{:.3} px", outcome.stereo_px)));
    rows.push(pair("Re-projection error of each camera alone, RMS", &format!("{:.3} px", outcome.mono_px)));
    rows
}

fn lenses(outcome: &Outcome) -> String {
    let rows: Vec<Vec<String>> = outcome
        .tried
        .iter()
        .map(|(kind, error)| {
            let chosen = if *kind == outcome.solution.kind { "chosen" } else { "" };
            vec![escaped(kind.word()), kind.count().to_string(), format!("{error:.3} px"), chosen.to_owned()]
        })
        .collect();
    let mut body = table(&["Lens model", "Numbers of a camera", "Error in views left out", ""], &rows);
    if rows.len() > 1 {
        body +=
            &paragraph("A model with more numbers is chosen only if it describes views better that it has not seen.");
    }
    body
}

/// Returns the section on the data of the calibration with reading instructions.
pub(super) fn used(outcome: &Outcome, taken: &[TakenView]) -> String {
    let (width, height) = outcome.size;
    let split = outcome.solution.views.iter().filter(|fit| fit.is_split).count() / 2;
    let count = outcome.solution.views.len() - split;
    let both =
        outcome.solution.views.iter().filter(|fit| Side::ALL.iter().all(|&side| !fit.view.of(side).is_empty())).count();
    let unused = if taken.len() > count { format!("; {} taken", taken.len()) } else { String::new() };
    let views = format!("{} used, {both} of them in both images{unused}", counted(count as u64, "view"));
    let rows = [
        pair("Board", &outcome.board.to_string()),
        pair("Image size", &format!("{width} x {height} px")),
        pair("Views", &views),
        pair("Program", &format!("stereopsis {}", env!("CARGO_PKG_VERSION"))),
    ];
    let mut body = table(&["Quantity", "Value"], &rows);
    body += &paragraph(
        "How to read this page: the verdict and the expected errors are what counts. A small re-projection error alone says little, as few \
         views, or views that are all alike, are easily explained by wrong cameras too. Darts in the residuals that all point the same way \
         in a part of the image show that the lens model does not fit there, or that the board is bent. In the rectified pair the same \
         detail must lie on the same line in both images.",
    );
    body += &paragraph(
        "The calibration holds as long as cameras, lenses and focus stay as they are: calibrate again after they were moved. Where the \
         views were kept, they lie in the folder views beside this page, and stereopsis calibrate solves them again.",
    );
    section("What was used", &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_given_where_they_are_known() {
        assert_eq!(bounded(500.0, 1, "px", Some(0.25)), "500.0 px ± 0.25 %");
        assert_eq!([Some(f64::INFINITY), Some(0.0), None].map(|bound| bounded(500.0, 1, "px", bound)), ["500.0 px"; 3]);
    }
}
