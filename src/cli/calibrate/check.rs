//! `calibrate --check`: examines whether a rig has moved since its calibration, by a board or by the images alone.

use super::args::CalibrateArgs;
use super::{folder, taken};
use crate::cli::values::{Files, print_json};
use glam::{DQuat, DVec3};
use stereopsis_base::console;
use stereopsis_base::console::counted;
use stereopsis_base::geometry::Axis;
use stereopsis_base::image::{Luma, Picture, QuarterTurn};
use stereopsis_calibrate::{BOARD_FILE, CalibrationRequest, LensKind, depth_difference, solve, views_of};
use stereopsis_calibration::{
    DriftGatherer, Kind, LoadOptions, Rectifier, RowField, RowOffset, StereoRig, Verdict, load, matches, row_field,
    row_offset_of,
};
use stereopsis_frame::SourceSpec;

/// Turn of the cameras that counts as movement, degrees.
const MOVED_DEG: f64 = 0.1;
/// Relative change of the baseline that counts as movement.
const MOVED_SHARE: f64 = 0.01;
/// Distances at which the change of depth is printed, m.
const DISTANCES_M: [f64; 3] = [1.0, 2.0, 5.0];

/// Checks a rig, with a board where one is named.
///
/// # Errors
/// The rig has moved, or the images do not show it.
pub(super) fn run(args: &CalibrateArgs, spec: &SourceSpec) -> anyhow::Result<()> {
    let has_board_file = matches!(spec, SourceSpec::Folder(folder) if folder.join(BOARD_FILE).is_file());
    if args.board.board.is_some() || has_board_file {
        by_board(args, spec, &load(&Files::all(&args.check), &LoadOptions::default())?)
    } else {
        by_pictures(args, spec)
    }
}

/// Solves for the pose of the cameras again, and compares.
fn by_board(args: &CalibrateArgs, spec: &SourceSpec, rig: &StereoRig) -> anyhow::Result<()> {
    let request = CalibrationRequest { kind: args.model, kept: Some([rig.left, rig.right]) };
    let (board, taken) = taken(args, spec, request, None)?;
    let (views, size) = (views_of(&taken), taken[0].pictures.size()?);
    let rig = &rig.rescaled(size)?;
    let kept = Some([rig.left, rig.right]);
    let kind = LensKind::of(&rig.left).filter(|kind| Some(*kind) == LensKind::of(&rig.right));
    let Some(kind) = kind else {
        anyhow::bail!("the cameras of {} have lens models of more numbers than can be kept", names(args))
    };
    let found = solve(&board, &views, size, kind, kept)?;
    let turn = DQuat::from_mat3(&(found.rig.rotation * rig.rotation.transpose())).normalize().to_scaled_axis();
    let turned_deg = turn.length().to_degrees();
    let stretched = found.rig.baseline_m() / rig.baseline_m() - 1.0;
    let depth: Vec<f64> =
        DISTANCES_M.iter().map(|&distance| 100.0 * depth_difference(rig, &found.rig, size, distance)).collect();
    let has_moved = turned_deg > MOVED_DEG || stretched.abs() > MOVED_SHARE;
    if args.json {
        print_json(&serde_json::json!({
            "has_moved": has_moved,
            "views": views.len(),
            "turned_deg": turned_deg,
            "turn_deg": (turn * 180.0 / std::f64::consts::PI).to_array(),
            "baseline_m": [rig.baseline_m(), found.rig.baseline_m()],
            "depth_change_percent": depth,
            "sigma_px": found.sigma_px,
        }))?;
    } else {
        let [x, y, z] = (turn * 180.0 / std::f64::consts::PI).to_array();
        console::print(&format!(
            "by {}: the right camera is turned by {turned_deg:.2} degrees relative to {} (pitch {:.2}, toe-in {:.2}, roll {:.2}); the \
             baseline is {:.2} mm, it was {:.2} mm\ndepth at 1, 2 and 5 m differs by {:.1}, {:.1} and {:.1} %\n",
            counted(views.len() as u64, "view"),
            names(args),
            -x + 0.0,
            y + 0.0,
            -z + 0.0,
            1e3 * found.rig.baseline_m(),
            1e3 * rig.baseline_m(),
            depth[0],
            depth[1],
            depth[2]
        ))?;
    }
    anyhow::ensure!(
        !has_moved,
        "the rig has moved: solve its pose again with --keep-cameras {} -o NEW.toml, or calibrate it again",
        names(args)
    );
    console::say("the rig stands as it was calibrated");
    Ok(())
}

/// Compares rows of the rectified images.
fn by_pictures(args: &CalibrateArgs, spec: &SourceSpec) -> anyhow::Result<()> {
    const MAX_PAIRS: usize = 30;
    // the rig, and a second reading of its file where that is ambiguous
    let mut tried: Vec<(Rectifier, Vec<_>)> = Vec::new();
    let mut gatherer = DriftGatherer::default();
    let mut pairs = 0;
    folder::each_pair(args, spec, |_, [left, right]| {
        if tried.is_empty() {
            let (width, height) = left.size();
            let rig =
                load(&Files::all(&args.check), &LoadOptions { size: Some((width, height)), ..LoadOptions::default() })?;
            let other = other_signs(&rig);
            for rig in [Some(rig), other].into_iter().flatten() {
                tried.push((rig.rectifier(width, height, 0.0)?, Vec::new()));
            }
        }
        let [left, right] = [left, right].map(|picture| Picture { luma: Luma::U8(picture), rgb: None });
        for (n, (rectifier, found)) in tried.iter_mut().enumerate() {
            let (left, right) = rectifier.apply(&left, &right)?;
            let [left, right] = [left, right].map(|picture| match rectifier.geometry().axis {
                Axis::Horizontal => picture.luma,
                Axis::Vertical => picture.luma.turned(QuarterTurn::Left),
            });
            let of_pair = matches(&left, &right);
            if n == 0 {
                gatherer.add(rectifier, &of_pair, left.size(), &RowField::default())?;
            }
            found.extend(of_pair);
        }
        pairs += 1;
        Ok(pairs < MAX_PAIRS)
    })?;
    let mut rows = tried.iter().map(|(rectifier, found)| {
        let (width, height) = rectifier.size();
        let axis = rectifier.geometry().axis;
        let (width, height) = if axis == Axis::Vertical { (height, width) } else { (width, height) };
        let fit = row_field(found, width, height, &RowField::default());
        row_offset_of(found, width, height).map(|offset| (offset.upright(axis), fit))
    });
    let (rows, other) = (rows.next().flatten(), rows.next().flatten());
    let Some((rows, fit)) = rows else {
        anyhow::bail!("the images have too little in common to tell: aim the cameras at things with detail");
    };
    let verdict = rows.verdict();
    let drift = gatherer.drift();
    if args.json {
        print_json(&serde_json::json!({
            "has_moved": verdict == Verdict::Bad,
            "pairs": pairs,
            "row_offset": rows,
            "row_correction": fit,
            "drift": drift,
        }))?;
    } else {
        console::print(&format!("by {}, without a board: {rows}\n", counted(pairs as u64, "pair")))?;
    }
    let is_judged = drift.as_ref().is_some_and(|drift| drift.is_enough);
    if let Some(drift) = drift {
        console::say(drift.words());
        if drift.is_enough {
            console::say(drift.depth_words());
        }
        drift.lens.iter().for_each(|lens| console::say(lens.words()));
    }
    if let Some(fit) = fit.filter(|fit| !fit.field.is_zero()) {
        console::say(format_args!("matching corrects what is left (--rows auto): {fit}"));
    }
    if let Some(doubt) = other.and_then(|(other, _)| sign_doubt(&rows, &other)) {
        console::say(doubt);
    }
    anyhow::ensure!(
        verdict != Verdict::Bad,
        "the rig has moved: take a view of the board and give --board and --keep-cameras {} -o NEW.toml, or calibrate it again",
        names(args)
    );
    console::say(format!(
        "{} agree; a change of the distance{} cannot be seen without a board (--board)",
        rows.axis.lines(),
        if is_judged { "" } else { " or of the toe-in" }
    ));
    Ok(())
}

/// Returns the rig of a ZED's file with the other signs of TY and TZ; `None` for other files.
fn other_signs(rig: &StereoRig) -> Option<StereoRig> {
    let DVec3 { x, y, z } = rig.translation_m;
    let is_other = rig.kind == Kind::Zed && y.hypot(z) > 0.0;
    is_other.then(|| StereoRig { translation_m: DVec3::new(x, -y, -z), ..rig.clone() })
}

/// Returns why the signs of TY and TZ of a ZED's file may be the other ones: its readers disagree on them.
fn sign_doubt(rows: &RowOffset, other: &RowOffset) -> Option<String> {
    let is_better = rows.verdict() != Verdict::Good && other.median_abs_px < 0.7 * rows.median_abs_px;
    is_better.then(|| {
        format!(
            "rows differ by {:.2} px, and by {:.2} px with TY and TZ of the ZED's file the other way round, as some readers take them: \
             convert the file to .toml and change the signs of the last two numbers of translation_m",
            rows.median_abs_px, other.median_abs_px
        )
    })
}

fn names(args: &CalibrateArgs) -> String {
    let names: Vec<_> = Files::all(&args.check).iter().map(|path| path.display().to_string()).collect();
    names.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_calibration::read;

    const ZED: &str = "[LEFT_CAM_HD]\nfx=700\nfy=700\ncx=640\ncy=360\nk1=-0.1\n[RIGHT_CAM_HD]\nfx=700\nfy=700\ncx=640\ncy=360\nk1=-0.1\n\
                       [STEREO]\nBaseline=120\nTY=0.3\nTZ=-0.2\nCV_HD=0\nRX_HD=0\nRZ_HD=0\n";

    #[test]
    fn zed_signs_are_doubted_where_rows_agree_better_with_the_others() {
        let load = |text: &str| {
            let options = LoadOptions { size: Some((1280, 720)), ..LoadOptions::default() };
            read(&[("zed.conf".into(), text.as_bytes().to_vec())], &options).unwrap()
        };
        let rig = load(ZED);
        let other = other_signs(&rig).unwrap();
        assert!(other.translation_m.abs_diff_eq(DVec3::new(-0.12, -0.0003, 0.0002), 1e-12));
        assert!(other_signs(&load(&ZED.replace("0.3", "0").replace("-0.2", "0"))).is_none());
        assert!(other_signs(&StereoRig { kind: Kind::OpenCv, ..rig }).is_none());

        let rows = |px: f64| RowOffset {
            axis: Axis::Horizontal,
            median_px: px,
            median_abs_px: px,
            p95_abs_px: px,
            matches: 99,
            worst: None,
        };
        let doubt = sign_doubt(&rows(0.6), &rows(0.1)).unwrap();
        assert!(doubt.starts_with("rows differ by 0.60 px, and by 0.10 px with TY and TZ"), "{doubt}");
        for (rows_px, other_px) in [(0.1, 0.01), (0.6, 0.5), (0.3, 0.6)] {
            assert_eq!(sign_doubt(&rows(rows_px), &rows(other_px)), None);
        }
    }
}
