//! Classification of paths from the command line or dropped on the window: a source, or a rig or calibration.

use std::path::{Path, PathBuf};
use stereopsis_frame::{CaptureError, SourceSpec};

/// Extensions of files with rigs and calibrations.
pub const SETUP_EXTENSIONS: &[&str] = &["yml", "yaml", "xml", "json", "toml", "conf", "txt", "gz"];

/// Meaning of paths together.
#[derive(Clone, Debug, PartialEq)]
pub enum PathKind {
    /// Source: two images, a folder of pairs, or a recording.
    Source(SourceSpec),
    /// Rig file, or calibration files: one, or two that belong together.
    Setup(Vec<PathBuf>),
}

impl PathKind {
    /// Classifies these paths by their number and extensions.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] if one of them does not exist, or they have no meaning together.
    pub fn of(paths: &[PathBuf]) -> Result<Self, CaptureError> {
        if paths.is_empty() || !paths.iter().all(|path| is_setup(path)) {
            return SourceSpec::from_paths(paths).map(Self::Source);
        }
        paths.iter().try_for_each(|path| SourceSpec::check_exists(path))?;
        Ok(Self::Setup(paths.to_vec()))
    }
}

fn is_setup(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| SETUP_EXTENSIONS.contains(&extension.as_str())) && !path.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_sources_or_setups_and_exist() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["left.png", "right.png", "rig.toml", "left.yaml", "right.YAML"] {
            std::fs::write(path(name), "").unwrap();
        }
        std::fs::create_dir(path("pairs.txt")).unwrap();
        let named = |names: &[&str]| PathKind::of(&names.iter().map(|name| path(name)).collect::<Vec<_>>());
        let (left, right) = (path("left.png"), path("right.png"));
        assert_eq!(
            named(&["left.png", "right.png"]).unwrap(),
            PathKind::Source(SourceSpec::Files { left, right, truth: None })
        );
        assert_eq!(named(&["pairs.txt"]).unwrap(), PathKind::Source(SourceSpec::Folder(path("pairs.txt"))));
        assert_eq!(named(&["rig.toml"]).unwrap(), PathKind::Setup(vec![path("rig.toml")]));
        let both = ["left.yaml", "right.YAML"];
        assert_eq!(named(&both).unwrap(), PathKind::Setup(both.map(path).into()));
        assert_eq!(named(&[]).unwrap(), PathKind::Source(SourceSpec::Scene));
        for wrong in [&["gone.toml"][..], &["left.png"], &["left.png", "gone.png"], &["left.png", "rig.toml", "x.png"]]
        {
            assert!(matches!(named(wrong), Err(CaptureError::Grammar(_))), "{wrong:?}");
        }
    }
}
