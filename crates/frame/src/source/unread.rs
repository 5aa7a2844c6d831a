//! Recognizes recordings in unsupported formats by their names, and describes how to convert them.

use std::path::Path;
use stereopsis_base::console;

/// Returns a message with the kind of an unsupported recording and the command that converts it; `None` for other files.
pub fn recording(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let shown = console::path(path);
    let quoted = console::quoted(&path.to_string_lossy());
    let converted = console::quoted(&path.with_extension("mcap").to_string_lossy());
    Some(match name.rsplit_once('.')?.1 {
        "bag" => {
            format!("{shown} is a bag of ROS 1, which is not read: convert it with `mcap convert {quoted} {converted}`")
        }
        "db3" => format!(
            "{shown} is a bag of ROS 2 in SQLite, which is not read: convert it with `mcap convert {quoted} {converted}`"
        ),
        "svo" | "svo2" => format!(
            "{shown} is a recording of a ZED camera, which only its SDK reads: export both views as a folder of images with the SDK's \
             sample, `mkdir pairs && python3 svo_export.py --mode 2 --input_svo_file {quoted} --output_path_dir pairs`, and open that \
             folder"
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_command_that_converts_a_recording() {
        for (name, what, command) in [
            ("a/walk.BAG", "a bag of ROS 1", "`mcap convert a/walk.BAG a/walk.mcap`"),
            ("my run_0.db3", "in SQLite", "`mcap convert 'my run_0.db3' 'my run_0.mcap'`"),
            ("zed/hall.svo2", "a ZED camera", "--input_svo_file zed/hall.svo2 "),
        ] {
            let text = recording(Path::new(name)).unwrap();
            assert!(text.contains(what) && text.contains(command), "{name}: {text}");
        }
        assert_eq!([".", "a.mcap", "bag", "db3.png"].map(|name| recording(Path::new(name))), [const { None }; 4]);
    }
}
