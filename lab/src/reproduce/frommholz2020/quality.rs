//! Tables 1 to 3: coverage and accuracy over the number of directions.

use super::setup::{Directions, REFERENCE_DIRECTIONS, method, word};
use crate::curves::{Curve, Curves};
use crate::reproduce::exhibit::{Cell, Exhibit, Verdict};
use crate::reproduce::resources::{ExhibitResources, names};
use stereopsis_base::image::Image;
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_metrics::{COLUMNS, Figures, figures};

/// Row of Tables 1 to 3: share of pixels with a disparity (%), median height error, share of pixels within 0.2 length units (%).
type Quality = (Directions, [f64; 3]);

const TABLE_1: [Quality; 21] = [
    ((2, 0), [81.64, 0.1757, 45.73]),
    ((3, 0), [85.29, 0.1450, 56.09]),
    ((4, 0), [87.01, 0.1272, 64.70]),
    ((5, 0), [85.22, 0.1196, 64.71]),
    ((7, 0), [85.23, 0.1076, 68.84]),
    ((8, 0), [86.26, 0.1069, 71.63]),
    ((8, 11), [84.95, 0.0965, 70.90]),
    ((9, 0), [85.44, 0.1016, 70.90]),
    ((10, 0), [85.56, 0.1059, 70.79]),
    ((11, 0), [85.50, 0.0988, 71.75]),
    ((12, 0), [86.01, 0.1030, 72.95]),
    ((16, 0), [85.88, 0.0990, 73.14]),
    ((16, 7), [85.39, 0.0954, 72.12]),
    ((24, 0), [85.84, 0.0964, 73.32]),
    ((32, 0), [85.85, 0.0954, 73.36]),
    ((48, 0), [85.88, 0.0948, 73.37]),
    ((64, 0), [85.90, 0.0947, 73.38]),
    ((96, 0), [85.92, 0.0946, 73.39]),
    ((128, 0), [85.93, 0.0945, 73.39]),
    ((256, 0), [85.95, 0.0945, 73.41]),
    ((384, 0), [85.95, 0.0945, 73.41]),
];
const TABLE_2: [Quality; 10] = [
    ((4, 0), [80.79, 0.1565, 52.31]),
    ((8, 0), [81.69, 0.1268, 63.14]),
    ((8, 11), [81.41, 0.1180, 65.10]),
    ((16, 0), [82.27, 0.1211, 65.57]),
    ((16, 7), [82.22, 0.1187, 65.89]),
    ((24, 0), [82.48, 0.1195, 66.14]),
    ((32, 0), [82.55, 0.1192, 66.19]),
    ((64, 0), [82.64, 0.1191, 66.31]),
    ((128, 0), [82.68, 0.1191, 66.37]),
    ((256, 0), [82.71, 0.1191, 66.39]),
];
const TABLE_3: [Quality; 10] = [
    ((4, 0), [67.54, 0.1426, 46.28]),
    ((8, 0), [68.14, 0.1307, 49.42]),
    ((8, 11), [66.04, 0.1320, 47.19]),
    ((16, 0), [68.83, 0.1283, 50.65]),
    ((16, 7), [68.52, 0.1295, 49.82]),
    ((24, 0), [69.32, 0.1277, 51.08]),
    ((32, 0), [69.66, 0.1278, 51.37]),
    ((64, 0), [70.27, 0.1276, 51.94]),
    ((128, 0), [70.49, 0.1275, 52.17]),
    ((256, 0), [70.62, 0.1274, 52.24]),
];
const QUICK: [Directions; 7] = [(2, 0), (4, 0), (8, 0), (8, 11), (16, 0), (16, 7), (32, 0)];

/// Region of a pair that a table judges.
#[derive(Clone, Copy)]
enum Region {
    Everything,
    Detail,
    WeakTexture,
}

/// Smallest disparity step between neighbours at an edge, px, and radius of the detail region around it.
const STEP_PX: f32 = 2.0;
const AROUND_STEP_PX: usize = 4;
/// Largest brightness range of a weakly textured census window, grey levels.
const MAX_WEAK_LEVELS: u8 = 3;
const WEAK_REACH: usize = 3;
/// Smallest number of pixels of a judged region.
const MIN_REGION_PIXELS: usize = 200;

fn around(size: (usize, usize), (x, y): (usize, usize), reach: usize) -> impl Iterator<Item = (usize, usize)> {
    let columns = x.saturating_sub(reach)..(x + reach + 1).min(size.0);
    let rows = y.saturating_sub(reach)..(y + reach + 1).min(size.1);
    rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
}

/// Marks the pixels on both sides of a disparity step and ignores pixels without truth in between.
pub(super) fn steps(truth_px: &Image<f32>) -> Image<bool> {
    let (width, height) = truth_px.size();
    let mut found = Image::filled(width, height, false);
    let mut follow = |line: &mut dyn Iterator<Item = (usize, usize)>| {
        let mut last = None;
        for (x, y) in line.filter(|&(x, y)| truth_px.at(x, y).is_finite()) {
            if let Some((last_x, last_y)) = last
                && (truth_px.at(x, y) - truth_px.at(last_x, last_y)).abs() > STEP_PX
            {
                found.set(x, y, true);
                found.set(last_x, last_y, true);
            }
            last = Some((x, y));
        }
    };
    (0..height).for_each(|y| follow(&mut (0..width).map(|x| (x, y))));
    (0..width).for_each(|x| follow(&mut (0..height).map(|y| (x, y))));
    found
}

/// Returns the mask of each [`Region`], or `None` for all pixels.
fn parts(pair: &PairWithTruth) -> [Option<Image<bool>>; 3] {
    let (width, height) = pair.raw.left.size();
    let detail = pair.regions.disc.clone().unwrap_or_else(|| {
        let steps = steps(&pair.truth.left_px);
        let is_near = |x, y| around((width, height), (x, y), AROUND_STEP_PX).any(|(x, y)| steps.at(x, y));
        Image::from_fn(width, height, is_near)
    });
    let luma = pair.raw.left.luma.to_u8();
    let weak = Image::from_fn(width, height, |x, y| {
        let levels = around((width, height), (x, y), WEAK_REACH).map(|(x, y)| luma.at(x, y));
        let (least, most) = levels.fold((u8::MAX, 0), |(least, most), level| (least.min(level), most.max(level)));
        most - least <= MAX_WEAK_LEVELS
    });
    [None, Some(detail), Some(weak)]
}

/// Returns the numbers of a row: share of pixels with a disparity (%), median error (px), share of pixels within 1 px (%).
fn numbers(figures: &Figures) -> [f64; 3] {
    let of =
        |name: &str| COLUMNS.iter().find(|column| column.name == name).map_or(f64::NAN, |column| (column.of)(figures));
    [of("density_percent"), of("a50_px"), 100.0 - of("bad_1_percent")]
}

/// Returns the figures of each [`Region`] of a pair, cached by pair and directions.
fn figures_of_parts(
    resources: &mut ExhibitResources,
    pair: &PairWithTruth,
    parts: &[Option<Image<bool>>],
    directions: Directions,
) -> anyhow::Result<Vec<Option<Figures>>> {
    let key = format!("frommholz2020 {} {}", pair.name, word(directions));
    if let Some(known) = resources.known.get(&key) {
        return Ok(known.clone());
    }
    let map = resources.map(pair, &method(directions))?;
    let found: Vec<_> = parts.iter().map(|part| figures(&map, &pair.truth.left_px, part.as_ref())).collect();
    resources.known.insert(key, found.clone());
    Ok(found)
}

/// Computes the means over pairs for each of these directions, if a pair has enough pixels.
fn means(
    resources: &mut ExhibitResources,
    part: Region,
    directions: &[Directions],
) -> anyhow::Result<Vec<Option<[f64; 3]>>> {
    let mut of_pairs = vec![Vec::new(); directions.len()];
    for pair in resources.rendered()? {
        let parts = parts(&pair);
        for (found, &directions) in of_pairs.iter_mut().zip(directions) {
            let figures = figures_of_parts(resources, &pair, &parts, directions)?.swap_remove(part as usize);
            found.extend(figures.filter(|figures| figures.pixels() >= MIN_REGION_PIXELS).map(|f| numbers(&f)));
        }
    }
    let mean = |found: Vec<[f64; 3]>| {
        let of = |n: usize| found.iter().map(|numbers| numbers[n]).sum::<f64>() / found.len() as f64;
        (!found.is_empty()).then(|| [0, 1, 2].map(of))
    };
    Ok(of_pairs.into_iter().map(mean).collect())
}

const OTHER_PICTURES: &str = "rendered rooms and solids instead of a rendered town";

/// Tolerance of a median error's ratio to that of eight directions, unless both are on one side of 1.
const MAX_MEDIAN_DIFFERENCE: f64 = 0.01;

fn moves_as_in_the_paper(directions: Directions, paper: f64, here: f64) -> Verdict {
    if directions == REFERENCE_DIRECTIONS {
        return Verdict::Reproduced("the method runs; the other rows are compared with this one".to_owned());
    }
    let agrees = (paper - 1.0) * (here - 1.0) > 0.0 || (paper - here).abs() <= MAX_MEDIAN_DIFFERENCE;
    let measure = format!("median error {here:.2} times that of 8 directions, in the paper {paper:.2} times");
    Verdict::of(agrees, measure.clone(), format!("{OTHER_PICTURES}: {measure}"))
}

/// Smallest counted changes: valid pixels (points), median error (%), accurate pixels (points).
const NO_CHANGE: [f64; 3] = [0.5, 1.0, 0.5];
const CHANGES: [&str; 3] = ["pixels with a disparity, points", "median error, %", "accurate pixels, points"];

/// Computes the changes between two rows: points, per cent, points.
fn change([from, to]: [[f64; 3]; 2]) -> [f64; 3] {
    [to[0] - from[0], 100.0 * (to[1] / from[1] - 1.0), to[2] - from[2]]
}

fn add_changes(exhibit: &mut Exhibit, rows: &[(Directions, [f64; 3], [f64; 3])], most: u32) {
    let most = if rows.iter().any(|row| row.0 == (most, 0)) { most } else { 32 };
    for ends in [[REFERENCE_DIRECTIONS, (most, 0)], [REFERENCE_DIRECTIONS, (8, 11)], [(16, 0), (16, 7)]] {
        let found = ends.map(|end| rows.iter().find(|row| row.0 == end));
        let [Some(from), Some(to)] = found else { continue };
        let (paper, here) = (change([from.1, to.1]), change([from.2, to.2]));
        for (n, what) in CHANGES.into_iter().enumerate() {
            let hardly = paper[n].abs() < NO_CHANGE[n] && here[n].abs() < NO_CHANGE[n];
            let verdict = Verdict::of(
                hardly || paper[n] * here[n] > 0.0,
                if hardly { "it hardly changes in either" } else { "it changes in the same direction" },
                OTHER_PICTURES,
            );
            let mut cells = [Cell::default(); 3];
            cells[n] = Cell::both(paper[n], here[n]);
            exhibit.row(format!("from {} to {}: change of {what}", word(ends[0]), word(ends[1])), cells, verdict);
        }
    }
}

/// Builds one of Tables 1 to 3; `most` is the largest number of directions in the text's statements.
fn quality(
    resources: &mut ExhibitResources,
    mut exhibit: Exhibit,
    part: Region,
    table: &[Quality],
    most: u32,
) -> anyhow::Result<Exhibit> {
    for (what, decimals) in [
        ("pixels with a disparity, % of truth", 2),
        ("median error (paper: height, length units; here: disparity, px)", 4),
        ("accurate, % of truth (paper: 0.2 length units; here: 1 px)", 2),
    ] {
        exhibit = exhibit.with_quantity(what, decimals);
    }
    let table: Vec<&Quality> = table.iter().filter(|row| !resources.quick || QUICK.contains(&row.0)).collect();
    let directions: Vec<_> = table.iter().map(|row| row.0).collect();
    let found = means(resources, part, &directions)?;
    let rows: Vec<_> = table.iter().zip(&found).filter_map(|(row, &here)| Some((row.0, row.1, here?))).collect();
    let usual = rows.iter().find(|row| row.0 == REFERENCE_DIRECTIONS).copied();
    let Some((_, paper_8, here_8)) = usual else {
        for &&(directions, paper) in &table {
            let needs = "a pair with truth that has such pixels".to_owned();
            exhibit.row(word(directions), paper.map(Cell::paper), Verdict::NotMeasurable(needs));
        }
        return Ok(exhibit);
    };
    for &(directions, paper, here) in &rows {
        let cells = [0, 1, 2].map(|n| Cell::both(paper[n], here[n]));
        exhibit.row(
            word(directions),
            cells,
            moves_as_in_the_paper(directions, paper[1] / paper_8[1], here[1] / here_8[1]),
        );
    }
    add_changes(&mut exhibit, &rows, most);
    let curve = |name: &str, is_of_paper: bool| {
        let straight = rows.iter().filter(|row| row.0.1 == 0);
        let ratio = |&(directions, paper, here): &(Directions, [f64; 3], [f64; 3])| {
            (f64::from(directions.0), if is_of_paper { paper[1] / paper_8[1] } else { here[1] / here_8[1] })
        };
        Curve { name: name.to_owned(), points: straight.map(ratio).collect(), is_of_paper }
    };
    exhibit.curves = Some(Curves {
        along: "directions".to_owned(),
        upwards: "median error, times that of 8 directions".to_owned(),
        is_logarithmic: true,
        curves: vec![curve("paper: height", true), curve("here: disparity", false)],
    });
    Ok(exhibit)
}

fn judged_on(resources: &ExhibitResources) -> anyhow::Result<String> {
    Ok(format!(
        "The aerial images of the paper were rendered for it and are not published; instead, means over other rendered pairs: {}. Census 7x7, P1 90, P2 100, gating, \
         matched twice, tolerance 1 px, nothing else after it. `8/11` starts at 11 degrees",
        names(&resources.rendered()?)
    ))
}

pub(super) fn whole_scene(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = judged_on(resources)? + ". The paper's threshold is three of its pixels on the ground.";
    let exhibit = Exhibit::new("Table 1", "coverage and accuracy over the number of directions", here);
    quality(resources, exhibit, Region::Everything, &TABLE_1, 96)
}

pub(super) fn detailed_objects(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "{}. Detail is within {AROUND_STEP_PX} px of a step of the truth above {STEP_PX} px; the \
         paper has Sierpinski tetrahedra.",
        judged_on(resources)?
    );
    let exhibit = Exhibit::new("Table 2", "the same for detailed objects", here);
    quality(resources, exhibit, Region::Detail, &TABLE_2, 256)
}

pub(super) fn weak_texture(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "{}. Texture is weak where brightness varies by at most {MAX_WEAK_LEVELS} levels within 7x7 pixels; a pair counts if it has \
         {MIN_REGION_PIXELS} of these. The paper has a cube of one colour.",
        judged_on(resources)?
    );
    let exhibit = Exhibit::new("Table 3", "the same for weak texture", here);
    quality(resources, exhibit, Region::WeakTexture, &TABLE_3, 256)
}
