//! The glossary is well formed, and names that were replaced by its terms stay replaced.

use super::pages::{self, root};
use std::fs;
use std::path::Path;

/// Identifiers that were renamed, each with its successor.
const RENAMED: &[(&str, &str)] = &[
    ("BELONGING", "belongs"),
    ("GraphKey_Wanted", "GraphKey"),
    ("LONGEST_NAME", "MAX_NAME"),
    ("MOST_EARLY", "MAX_EARLY"),
    ("MapLook", "MapDisplays"),
    ("PresetRates", "MeasuredRates"),
    ("ReachLook", "ViewSettings"),
    ("RecordChoices", "RecordingChoices"),
    ("RecordState", "RecordingState"),
    ("SETUP_ENDINGS", "SETUP_EXTENSIONS"),
    ("SWITCHED", "TimeEffect"),
    ("Slowness", "Load"),
    ("TIMELESS", "TimeEffect"),
    ("USUAL_ERROR_PX", "TYPICAL_ERROR_PX"),
    ("UnpackError", "ReadError"),
    ("ask_remote", "exchange_with_remote"),
    ("command_button", "action_button"),
    ("errors_seen", "errors_shown"),
    ("eye_of", "use_of"),
    ("fit_wanted", "fits_depth"),
    ("free_previews", "close_previews"),
    ("keep_rig", "save_rig_state"),
    ("kept_rig", "saved_rig"),
    ("lift_floor", "repair"),
    ("look_at_recording", "update_recording"),
    ("look_for_cameras", "find_cameras"),
    ("look_for_device", "search_device"),
    ("most_p2", "max_p2"),
    ("most_paths", "max_paths"),
    ("open_paths", "open_files"),
    ("pick_camera", "CameraChooser"),
    ("set_brightness", "set_bytes"),
    ("set_up_returned", "restore_controls"),
    ("show_to_recorder", "connect_recorder"),
    ("snapshot_wanted", "takes_snapshot"),
    ("swap_eyes", "swap_views"),
    ("take_kept", "use_saved_rig"),
    ("tell_about", "describe_source"),
    ("tell_recorder", "note_params"),
    ("turn_to", "set_source"),
    ("was_recorded", "recorded_at"),
    ("write_parameter", "set"),
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
