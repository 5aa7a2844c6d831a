//! The glossary is well formed, and names that were replaced by its terms stay replaced.

use super::pages::{self, root};
use std::fs;
use std::path::Path;

/// Identifiers that were renamed, each with its successor.
const RENAMED: &[(&str, &str)] = &[
    ("ALIKE_REFINED", "MIN_REFINED_CORRELATION"),
    ("AMBIENT_REACH", "AMBIENT_RADII"),
    ("APART_PX", "MIN_DIFFERENCE_PX"),
    ("Abilities", "Limits"),
    ("BELONGING", "belongs"),
    ("Comeback", "Recovery"),
    ("ControlWishes", "ControlSettings"),
    ("Cook", "GraphBuilder"),
    ("CostsFrom", "CostSource"),
    ("DAMAGED_FEW", "MIN_DAMAGED_AT_START"),
    ("DAMAGED_MANY", "MIN_DAMAGED_FOR_REMARK"),
    ("DecidedFor", "DecisionKey"),
    ("Demands", "Requirements"),
    ("ENOUGH_PX", "MIN_STEP_PX"),
    ("EYE_HEIGHT_M", "CAMERA_HEIGHT_M"),
    ("Excess", "Increment"),
    ("Explore", "Autotune"),
    ("Explorer", "Autotuner"),
    ("EyeOptions", "ViewOptions"),
    ("FEWEST_CORNERS", "MIN_CORNERS"),
    ("FEWEST_LETTERS", "MIN_LETTERS"),
    ("FEWEST_RECENT", "MIN_SKEWS"),
    ("FILE_BYTES_OF_PIXEL", "MAX_FILE_BYTES_PER_PIXEL"),
    ("Farewell", "CloseReason"),
    ("Faults", "DeviceErrors"),
    ("Forced", "VariantOverrides"),
    ("LIGHT_BREADTH", "LIGHT_HALF_WIDTH"),
    ("LONGEST_GAP", "MAX_SEQUENCE_GAP"),
    ("LONGEST_LIST", "MAX_ENTRIES"),
    ("LONGEST_MENU", "MAX_MENU"),
    ("LONGEST_NAME", "MAX_NAME"),
    ("LONGEST_PAUSE", "MAX_RESTART_DELAY"),
    ("LOOKED_FOR", "EXPECTED_NAMES"),
    ("LOOK_EVERY", "POLL_INTERVAL"),
    ("MEMORY_BYTES_OF_PIXEL", "MAX_MEMORY_BYTES_PER_PIXEL"),
    ("MIN_MATCHES_OF_PLACE", "MIN_MATCHES_PER_REGION"),
    ("MOST_BUFFERS", "MAX_BUFFERS"),
    ("MOST_CLIENTS", "MAX_CLIENTS"),
    ("MOST_COEFFICIENTS", "MAX_COEFFICIENTS"),
    ("MOST_COMPARED", "MAX_COMPARED"),
    ("MOST_COMPLAINTS", "MAX_REPORTS"),
    ("MOST_CONNECTIONS", "MAX_CONNECTIONS"),
    ("MOST_EARLY", "MAX_EARLY"),
    ("MOST_GROUPS", "MAX_GROUPS"),
    ("MOST_HEAD_BYTES", "MAX_HEAD_BYTES"),
    ("MOST_LETTERS", "MAX_LETTERS"),
    ("MOST_MESSAGE_BYTES", "MAX_MESSAGE_BYTES"),
    ("MOST_OFFERS", "MAX_OFFERS"),
    ("MOST_PIXELS_ASIDE", "MAX_SIDE_PX"),
    ("MOST_RECENT", "MAX_SKEWS"),
    ("MOST_TOLD", "MAX_MESSAGES"),
    ("MOST_WAITING", "MAX_WAITING"),
    ("MOST_WISHES", "MAX_SETTINGS"),
    ("MapLook", "MapDisplays"),
    ("OLD_LEFT", "ABOVE_LEFT"),
    ("OpenedRig", "CalibratedSource"),
    ("PresetRates", "MeasuredRates"),
    ("Quarters", "Interleaved"),
    ("RawRule", "StereoLayout"),
    ("ReachLook", "ViewSettings"),
    ("RecordChoices", "RecordingChoices"),
    ("RecordState", "RecordingState"),
    ("Remake", "PrepareLast"),
    ("SAME_PLACE_PX", "SAME_POINT_PX"),
    ("SETUP_ENDINGS", "SETUP_EXTENSIONS"),
    ("SLIPPED_PX", "MAX_SHIFT_PX"),
    ("SPOILT", "POISONED"),
    ("SWITCHED", "TimeEffect"),
    ("Slowness", "Load"),
    ("TELL_EVERY", "PRINT_INTERVAL"),
    ("TIMELESS", "TimeEffect"),
    ("TOGETHER", "MAX_DIRECTIONS"),
    ("TRUSTED_PX", "MAX_RESIDUAL_PX"),
    ("Teller", "StatusPrinter"),
    ("Tuned", "State"),
    ("USUAL_BASELINE_M", "ASSUMED_BASELINE_M"),
    ("USUAL_ERROR_PX", "TYPICAL_ERROR_PX"),
    ("USUAL_FOCAL", "ASSUMED_FOCAL"),
    ("USUAL_FOV_DEG", "ASSUMED_FOV_DEG"),
    ("Undecoded", "DecodeFailure"),
    ("UnpackError", "ReadError"),
    ("WELCOME", "OPTIONAL_FEATURES"),
    ("WHOEVER", "LINK_NOTICE"),
    ("WIDE_ALIKE", "MIN_COARSE_CORRELATION"),
    ("WorstPlace", "WorstRegion"),
    ("ask_remote", "exchange_with_remote"),
    ("by_slab", "slab_access"),
    ("bytes_of_quarters", "pack_bytes"),
    ("capture_beside", "capture_observed"),
    ("command_button", "action_button"),
    ("damaged_by_then", "damaged_at_last_frame"),
    ("errors_seen", "errors_shown"),
    ("excess_of", "increment_of"),
    ("eye_of", "use_of"),
    ("eyes_per_picture", "views_per_picture"),
    ("fill_background", "fill_rows"),
    ("fill_from_several", "fill_rows"),
    ("fit_wanted", "fits_depth"),
    ("forget_skew", "reset_skew"),
    ("free_previews", "close_previews"),
    ("hit_beside", "hit_with_static"),
    ("is_stirred", "is_affected_by_motion"),
    ("join_or_leave", "join_or_detach"),
    ("keep_beside", "mask_borders"),
    ("keep_rig", "save_rig_state"),
    ("keeps_old", "keeps_above_left"),
    ("kept_rig", "saved_rig"),
    ("large_steps", "brightness_steps"),
    ("least_of_line", "min_of_line"),
    ("least_path_bytes", "min_path_bytes"),
    ("least_work", "min_submission_work"),
    ("lift_floor", "repair"),
    ("light_past", "light_passing"),
    ("look_at_recording", "update_recording"),
    ("look_for_cameras", "find_cameras"),
    ("look_for_device", "search_device"),
    ("looks_like_nothing", "all_names_unknown"),
    ("most_p2", "max_p2"),
    ("most_paths", "max_paths"),
    ("most_work", "max_work"),
    ("noting_errors", "with_error_scopes"),
    ("open_eyes", "open_streams"),
    ("open_paths", "open_files"),
    ("pairs_of_bytes", "widen_bytes"),
    ("pairs_of_quarters", "pack_16"),
    ("paths_and_winner", "match_level"),
    ("pick_camera", "CameraChooser"),
    ("put_events", "parameters_requested"),
    ("put_words", "put_control"),
    ("quarters_of_bytes", "unpack_bytes"),
    ("remake_last", "prepare_again"),
    ("run_beside", "run_observed"),
    ("says_nothing", "is_unset"),
    ("set_brightness", "set_bytes"),
    ("set_recipe", "set_preparation"),
    ("set_up_returned", "restore_controls"),
    ("show_to_recorder", "connect_recorder"),
    ("snapshot_wanted", "takes_snapshot"),
    ("store_excess", "store_increment"),
    ("swap_eyes", "swap_views"),
    ("take_kept", "use_saved_rig"),
    ("tell_about", "describe_source"),
    ("tell_once", "report_once"),
    ("tell_recorder", "note_params"),
    ("turn_to", "set_source"),
    ("walk_fixed", "aggregate_block_fixed"),
    ("was_recorded", "recorded_at"),
    ("work_to_start_with", "initial_submission_work"),
    ("write_parameter", "set"),
];

/// Words that stand in documentation where a subject has a name.
const VAGUE: &[&str] = &["who", "whoever", "nobody", "somebody", "told"];
/// Rooms whose documentation is free of them.
const PLAIN_ROOMS: &[&str] = &[
    "calibration",
    "capture",
    "colormap.rs",
    "console.rs",
    "files",
    "geometry.rs",
    "image",
    "live",
    "metrics",
    "newest.rs",
    "parameter.rs",
    "process.rs",
    "rate.rs",
    "reach.rs",
    "rig",
    "settings",
    "settings.rs",
    "sources",
    "stereo",
    "ui",
];

/// The code of a line of Rust or WGSL, without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Calls `see` with the path and text of each source below `folder`.
fn each_source(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_source(&path, see);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "wgsl") {
            see(path.strip_prefix(root()).unwrap(), &fs::read_to_string(&path).unwrap());
        }
    }
}

fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    code(line).split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

#[test]
fn renamed_identifiers_do_not_come_back() {
    let mut found = Vec::new();
    for folder in ["src", "shaders"] {
        each_source(&root().join(folder), &mut |path, text| {
            for (index, line) in text.lines().enumerate() {
                let old = |word: &str| RENAMED.iter().find(|(old, _)| *old == word);
                found.extend(identifiers(line).filter_map(old).map(|(old, new)| {
                    format!("{}:{}: {old} is called {new} (docs/glossary.md)", path.display(), index + 1)
                }));
            }
        });
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn documentation_of_plain_rooms_names_its_subjects() {
    let mut found = Vec::new();
    each_source(&root().join("src"), &mut |path, text| {
        let room = path.iter().nth(1).and_then(|room| room.to_str()).unwrap_or_default();
        if !PLAIN_ROOMS.contains(&room) {
            return;
        }
        for (index, line) in text.lines().enumerate() {
            let is_doc = ["///", "//!"].iter().any(|start| line.trim_start().starts_with(start));
            let vague = line.split(|c: char| !c.is_alphabetic()).find(|word| VAGUE.contains(word));
            if let Some(word) = vague.filter(|_| is_doc) {
                found.push(format!("{}:{}: '{word}': name the subject", path.display(), index + 1));
            }
        }
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_glossary_has_a_meaning_and_a_source_for_each_term_in_order() {
    let page = pages::book().into_iter().find(|page| page.path.ends_with("glossary.md")).unwrap();
    let sections = page.text.split("\n## ").skip(1);
    for section in sections {
        let rows: Vec<Vec<_>> = section
            .lines()
            .filter(|line| line.starts_with("| ") && !line.starts_with("| term"))
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        assert!(rows.len() > 2, "{section}");
        assert!(rows.iter().all(|row| row.len() == 3 && row.iter().all(|cell| !cell.is_empty())), "{rows:?}");
        let terms: Vec<_> = rows.iter().map(|row| row[0].to_lowercase()).collect();
        assert!(terms.is_sorted(), "{terms:?}");
    }
}
