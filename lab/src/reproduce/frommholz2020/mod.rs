//! Frommholz 2020: semi-global matching with any number of path directions. The paper's rendered aerial images are not published, so
//! its quality tables are repeated on other rendered pairs, and only the trend over directions is compared.

mod quality;
mod setup;
mod speed;

use super::exhibit::{Cell, Exhibit, Verdict};
use super::resources::{ExhibitResources, Plan};
use quality::{detailed_objects, weak_texture, whole_scene};
use setup::{REFERENCE_DIRECTIONS, method};
use speed::{times_over_directions, times_over_threads};
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::engine::{Engine as _, Job};
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_stereo::StereoParams;

pub(super) const TITLE: &str =
    "Frommholz 2020: Lock-free multithreaded semi-global matching with an arbitrary number of path directions";

pub(super) const PLANS: &[Plan] = &[
    ("Section 4", most_directions),
    ("Section 4.1", gating),
    ("Table 1", whole_scene),
    ("Table 2", detailed_objects),
    ("Table 3", weak_texture),
    ("Table 4", times_over_directions),
    ("Table 5", times_over_threads),
];

/// Section 4: census bits and penalty.
const CENSUS_BITS: u32 = 7 * 7;
const P2: u32 = 100;
const MAX_DIRECTIONS: f64 = 439.0;

fn most_directions(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let params = method(REFERENCE_DIRECTIONS);
    let (largest_cost, most) = (params.largest_cost(), params.max_paths());
    let here = "Computed by the paper's formula, and asked of the program with the paper's preset.";
    let mut exhibit = Exhibit::new("Section 4", "the most directions before a sum of 16 bits overflows", here)
        .with_quantity("directions", 0);
    let computed = f64::from(u32::from(u16::MAX) / (CENSUS_BITS + P2));
    exhibit.row(
        "(2^16 - 1) / (7^2 + 100), rounded down",
        [Cell::both(MAX_DIRECTIONS, computed)],
        Verdict::of((computed - MAX_DIRECTIONS).abs() < 0.5, "to the last digit", "another formula"),
    );
    // one value marks invalid costs, and the census excludes its centre
    let room = (u32::from(u16::MAX) - 1) / (largest_cost + params.p2);
    exhibit.row(
        "what the program accepts with these penalties",
        [Cell::both(MAX_DIRECTIONS, f64::from(most))],
        Verdict::of(
            f64::from(most) >= MAX_DIRECTIONS,
            "as many or more",
            format!(
                "a limit of its own: {most}, the most that the paper measures; with costs up to {largest_cost} the sums would take {room}"
            ),
        ),
    );
    Ok(exhibit)
}

const MIB: f64 = (1 << 20) as f64;

/// Measures the time of a pair (ms) and the memory of the engine after it (MiB).
fn time_and_memory(resources: &ExhibitResources, jobs: &[Job]) -> anyhow::Result<[f64; 2]> {
    let mut engine = CpuEngine::new(resources.threads);
    let ms = resources.times_of(&mut engine, jobs)?.frame_ms.median;
    Ok([ms, engine.memory_bytes().map_or(f64::NAN, |bytes| bytes as f64 / MIB)])
}

fn gating(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let (size, num_disparities) = if resources.quick { ((320, 240), 128) } else { ((640, 480), 256) };
    let here = format!(
        "The built-in scene at {}x{} with {num_disparities} disparities, of which it needs a quarter at most: with all of them at each pixel, and \
         with the gates of the preset. Wrong are visible pixels off by more than 1 px or without a disparity.",
        size.0, size.1
    );
    let mut exhibit = Exhibit::new("Section 4.1", "gating saves memory, ambiguities and time", here)
        .with_quantity("time, ms", 1)
        .with_quantity("memory, MiB", 1)
        .with_quantity("wrong, %", 2);
    let mut measured = [[0.0; 3]; 2];
    let gates = method(REFERENCE_DIRECTIONS).gating;
    for (numbers, gating) in measured.iter_mut().zip([None, gates]) {
        let params = StereoParams { num_disparities, gating, ..method(REFERENCE_DIRECTIONS) };
        let [ms, mib] = time_and_memory(resources, &resources.jobs(size, &params)?)?;
        let mut wrong = 0.0;
        let pairs = resources.pairs(&[]);
        for pair in &pairs {
            let pair = PairWithTruth { num_disparities, ..pair.clone() };
            wrong += resources.figures(&pair, &params)?.error.bad_1_percent / pairs.len() as f64;
        }
        *numbers = [ms, mib, wrong];
        let what = gating.map_or("no gating".to_owned(), |levels| format!("gates from {levels} coarser levels"));
        exhibit.row(
            what,
            numbers.map(Cell::here),
            Verdict::Reproduced("the method runs; the paper has no figure".to_owned()),
        );
    }
    let [time, memory, wrong] = [0, 1, 2].map(|n| measured[1][n] / measured[0][n]);
    exhibit.row(
        "memory with gating, times that without",
        [Cell::default(), Cell::here(memory)],
        Verdict::of(
            memory < 1.0,
            format!("the volume shrinks to the gates: {memory:.2} times the memory"),
            "gates as wide as the range, and coarser levels beside them",
        ),
    );
    exhibit.row(
        "wrong pixels with gating, times those without",
        [Cell::default(), Cell::default(), Cell::here(wrong)],
        Verdict::of(
            wrong <= 1.02,
            "the ambiguities do not grow when fewer disparities compete",
            "objects that the gates leave out, because smaller images do not show them",
        ),
    );
    exhibit.row(
        "time with gating, times that without",
        [Cell::here(time)],
        Verdict::of(
            time < 1.0,
            format!("fewer disparities take less time: {time:.2} times"),
            "coarser levels and histograms of 51x51 pixels that take longer here than the vectors need for the disparities saved",
        ),
    );
    Ok(exhibit)
}

#[cfg(test)]
mod tests {
    use super::quality::steps;
    use super::speed::{QUICK_4, TABLE_5};
    use super::*;
    use stereopsis_base::image::Image;

    fn row<'a>(exhibit: &'a Exhibit, what: &str) -> &'a super::super::exhibit::Row {
        exhibit.rows.iter().find(|row| row.what == what).unwrap_or_else(|| panic!("no row '{what}'"))
    }

    fn here(exhibit: &Exhibit, what: &str, column: usize) -> f64 {
        row(exhibit, what).cells[column].here.unwrap()
    }

    #[test]
    fn the_formula_has_the_number_of_the_paper() {
        let exhibit = most_directions(&mut ExhibitResources::small().unwrap()).unwrap();
        let words: Vec<_> = exhibit.rows.iter().map(|row| row.verdict.word()).collect();
        assert_eq!(words, ["reproduced", "differs"]);
    }

    /// Largest ratio of equal medians, which vary on a small image with exact truth.
    const FLUCTUATION: f64 = 1.03;

    #[test]
    fn more_directions_are_more_exact() {
        let mut resources = ExhibitResources::small().unwrap();
        let exhibit = whole_scene(&mut resources).unwrap();
        let median = |what: &str| here(&exhibit, what, 1);
        let accurate = |what: &str| here(&exhibit, what, 2);
        assert!(median("16") < median("2") && accurate("16") > accurate("2"), "two directions leave streaks");
        assert!(median("32") < FLUCTUATION * median("8"), "{} and {}", median("32"), median("8"));
        assert!(exhibit.curves.is_some());
        let known = resources.known.len();
        detailed_objects(&mut resources).unwrap();
        weak_texture(&mut resources).unwrap();
        assert_eq!(resources.known.len(), known, "the other tables have the same maps");
    }

    #[test]
    fn gates_save_memory() {
        // large enough for three coarser levels and for gates narrower than the range
        let mut resources = ExhibitResources::small().unwrap();
        resources.shrink = 2;
        let exhibit = gating(&mut resources).unwrap();
        let ratio = here(&exhibit, "memory with gating, times that without", 1);
        assert!(ratio < 0.9, "{ratio} times the memory");
    }

    #[test]
    fn times_have_a_row_for_each_number_of_directions_and_threads() {
        let mut resources = ExhibitResources::small().unwrap();
        let exhibit = times_over_directions(&mut resources).unwrap();
        assert!(QUICK_4.iter().all(|count| row(&exhibit, &count.to_string()).cells.iter().any(|c| c.here.is_some())));
        let exhibit = times_over_threads(&mut resources).unwrap();
        assert_eq!(exhibit.rows.len(), TABLE_5.len());
        let words: Vec<_> = exhibit.rows.iter().map(|row| row.verdict.word()).collect();
        assert_eq!(words[0], "reproduced");
    }

    #[test]
    fn steps_of_the_truth_are_found_across_what_is_unknown() {
        let truth = Image::new(6, 1, vec![1.0, 1.5, f32::NAN, 9.0, 9.0, 8.0]);
        assert_eq!(steps(&truth).pixels(), [false, true, false, true, false, false]);
    }
}
