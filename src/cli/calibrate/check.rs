//! `calibrate --check`: has a rig moved since it was calibrated?

use super::{CalibrateArgs, folder};
use crate::calibrate::{BOARD_FILE, LensKind, Request, depth_difference, solve, views_of};
use crate::calibration::{LoadOptions, RowOffset, StereoRig, Verdict, load, matches, row_offset_of};
use crate::capture::SourceSpec;
use crate::console::{self, counted};
use crate::image::{Luma, Picture};
use glam::DQuat;

/// Turn of the cameras that counts as moved, degrees.
const MOVED_DEG: f64 = 0.1;
/// Change of the baseline that counts as moved.
const MOVED_SHARE: f64 = 0.01;
/// Distances at which the change of depth is said, m.
const DISTANCES_M: [f64; 3] = [1.0, 2.0, 5.0];

/// Checks a rig, with a board where one is named.
///
/// # Errors
/// The rig has moved, or the pictures do not tell.
pub(super) fn run(args: &CalibrateArgs, spec: &SourceSpec) -> anyhow::Result<()> {
    let has_board_file = matches!(spec, SourceSpec::Folder(folder) if folder.join(BOARD_FILE).is_file());
    let rig = load(&args.check, &LoadOptions::default())?;
    if args.board.board.is_some() || has_board_file {
        by_board(args, spec, &rig)
    } else {
        by_pictures(args, spec, &rig)
    }
}

/// Solves for the pose of the cameras again, and compares.
fn by_board(args: &CalibrateArgs, spec: &SourceSpec, rig: &StereoRig) -> anyhow::Result<()> {
    let request = Request { kind: args.model, kept: Some([rig.left, rig.right]) };
    let (board, taken) = args.taken(spec, request, None)?;
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
        crate::cli::print_json(&serde_json::json!({
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

/// Compares rows of the rectified pictures.
fn by_pictures(args: &CalibrateArgs, spec: &SourceSpec, rig: &StereoRig) -> anyhow::Result<()> {
    const MOST_PAIRS: usize = 30;
    let mut found = Vec::new();
    let mut size = None;
    let mut pairs = 0;
    folder::each_pair(args, spec, |_, [left, right]| {
        let (width, height) = *size.get_or_insert(left.size());
        let rectifier = rig.rectifier(width, height, 0.0)?;
        let [left, right] = [left, right].map(|picture| Picture { luma: Luma::U8(picture), rgb: None });
        let (left, right) = rectifier.apply(&left, &right)?;
        found.extend(matches(&left.luma, &right.luma));
        pairs += 1;
        Ok(pairs < MOST_PAIRS)
    })?;
    let rows: Option<RowOffset> = size.and_then(|(width, height)| row_offset_of(&found, width, height));
    let Some(rows) = rows else {
        anyhow::bail!("the pictures have too little in common to tell: aim the cameras at things with detail");
    };
    let verdict = rows.verdict();
    if args.json {
        crate::cli::print_json(
            &serde_json::json!({ "has_moved": verdict == Verdict::Bad, "pairs": pairs, "row_offset": rows }),
        )?;
    } else {
        console::print(&format!("by {}, without a board: {rows}\n", counted(pairs as u64, "pair")))?;
    }
    anyhow::ensure!(
        verdict != Verdict::Bad,
        "the rig has moved: take a view of the board and give --board and --keep-cameras {} -o NEW.toml, or calibrate it again",
        names(args)
    );
    console::say("rows agree; a change of the distance or of the toe-in cannot be seen without a board (--board)");
    Ok(())
}

fn names(args: &CalibrateArgs) -> String {
    let names: Vec<_> = args.check.iter().map(|path| path.display().to_string()).collect();
    names.join(",")
}
