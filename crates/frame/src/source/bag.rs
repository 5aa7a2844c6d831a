//! Folder that `ros2 bag record` makes: reads from its `metadata.yaml` the files of one recording, in order.

use std::path::{Path, PathBuf};
use stereopsis_base::files::plain;

const METADATA: &str = "metadata.yaml";
const HEADING: &str = "rosbag2_bagfile_information";
const FILES: &str = "relative_file_paths:";
/// Maximum size of `metadata.yaml`, bytes: it also lists all topics.
const MAX_BYTES: u64 = 16 << 20;

/// Returns the files of the recording in a folder, in order; `None` if the folder is no recording. The files may not exist.
///
/// Only the last part of a listed path is used, so that no path leads out of the folder; early versions of ROS 2 also wrote the folder's
/// name.
pub fn bag_files(folder: &Path) -> Option<Vec<PathBuf>> {
    let text = plain::read(&folder.join(METADATA), MAX_BYTES).ok()?;
    let text = String::from_utf8_lossy(&text);
    if !text.contains(HEADING) {
        return None;
    }
    let listed = text.lines().map(str::trim).skip_while(|line| *line != FILES).skip(1);
    let names = listed.map_while(|line| line.strip_prefix("- ")).map(|name| name.trim().trim_matches(['"', '\'']));
    Some(names.filter_map(|name| Path::new(name).file_name()).map(|name| unpacked(folder.join(name))).collect())
}

/// Returns the uncompressed file if it exists, otherwise `path`.
fn unpacked(path: PathBuf) -> PathBuf {
    let plain = path.extension().filter(|ending| ["zstd", "zst"].iter().any(|known| ending == known));
    plain.map(|_| path.with_extension("")).filter(|plain| plain.is_file()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_files_of_a_bag_within_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let files = |text: &str| {
            std::fs::write(folder.path().join(METADATA), text).unwrap();
            let files = bag_files(folder.path())?;
            Some(files.iter().map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string()).collect())
        };
        let bag = "rosbag2_bagfile_information:\n  version: 4\n  relative_file_paths:\n    - run/run_1.mcap\n    - \"run_0.mcap\"\n  \
                   duration:\n    - ignored.mcap\n";
        let expected: Option<Vec<String>> = Some(vec!["run_1.mcap".into(), "run_0.mcap".into()]);
        assert_eq!(files(bag), expected);
        assert_eq!(
            files("rosbag2_bagfile_information:\n  relative_file_paths:\n  - ../../etc/passwd\n  - ..\n"),
            Some(vec!["passwd".into()])
        );
        assert_eq!(files("rosbag2_bagfile_information:\n  relative_file_paths: []\n"), Some(vec![]));
        assert_eq!(files("names:\n  relative_file_paths:\n  - a.mcap\n"), None, "of another program");
        let packed = "rosbag2_bagfile_information:\n  relative_file_paths:\n    - a.mcap.zstd\n    - b.mcap.zstd\n";
        std::fs::write(folder.path().join("b.mcap"), "").unwrap();
        assert_eq!(files(packed), Some(vec!["a.mcap.zstd".into(), "b.mcap".into()]), "what was unpacked is taken");
    }
}
