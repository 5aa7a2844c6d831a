//! Calibration report as one self-contained HTML page without scripts, whose drawings are SVG.
//! The page must stay well-formed XML, because programs read it.

mod charts;
mod markup;
mod numbers;
mod pictures;
mod verdict;

use super::Outcome;
use super::session::TakenView;

const STYLE: &str = include_str!("style.css");

/// Returns the page with the images of `taken`.
pub fn html(outcome: &Outcome, taken: &[TakenView]) -> String {
    let sections = [
        verdict::verdict(outcome),
        verdict::depth(outcome),
        numbers::solved(outcome),
        charts::coverage(outcome),
        charts::errors(outcome),
        pictures::views(outcome, taken),
        pictures::rectified(outcome, taken),
        numbers::used(outcome, taken),
    ];
    format!(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width\"/>\n<title>Calibration of two cameras</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Calibration of two cameras</h1>\n{}</body>\n</html>\n",
        sections.concat()
    )
}

#[cfg(test)]
mod tests;
