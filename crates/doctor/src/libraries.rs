//! Search for shared libraries in the places of the system's loader, without loading them.

use super::variables::Variables;
use std::path::{Path, PathBuf};

/// Variable with the folders that are searched first, separated by colons.
const PATH_VARIABLE: &str = "LD_LIBRARY_PATH";
/// Default folders; each also has a subfolder of the architecture.
const FOLDERS: [&str; 5] = ["usr/lib", "lib", "usr/lib64", "lib64", "usr/local/lib"];

pub(super) struct Libraries {
    /// Cache of the loader; empty on systems without one.
    cache: Vec<u8>,
    folders: Vec<PathBuf>,
}

impl Libraries {
    /// Reads the libraries of the system at `root`.
    pub(super) fn of(root: &Path, variables: &Variables) -> Self {
        let own = variables.get(PATH_VARIABLE).map_or("", String::as_str);
        let own = own.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let usual = FOLDERS.iter().map(|folder| root.join(folder));
        let of_architecture = |folder: PathBuf| {
            let name = format!("{}-linux-gnu", std::env::consts::ARCH);
            [folder.join(name), folder]
        };
        let folders = own.chain(usual.flat_map(of_architecture)).collect();
        Self { cache: std::fs::read(root.join("etc/ld.so.cache")).unwrap_or_default(), folders }
    }

    /// Returns whether a library with this file name exists.
    pub(super) fn has(&self, name: &str) -> bool {
        // the cache has zero-terminated names and paths
        let entry = format!("{name}\0");
        let is_name = |at: usize| at == 0 || matches!(self.cache[at - 1], 0 | b'/');
        let mut found = self.cache.windows(entry.len()).enumerate().filter(|(_, window)| *window == entry.as_bytes());
        found.any(|(at, _)| is_name(at)) || self.folders.iter().any(|folder| folder.join(name).exists())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_in_the_cache_and_in_folders() {
        let root = tempfile::tempdir().unwrap();
        let none = Variables::new();
        assert!(!Libraries::of(root.path(), &none).has("liba.so.1"));
        std::fs::create_dir_all(root.path().join("etc")).unwrap();
        std::fs::write(root.path().join("etc/ld.so.cache"), b"glibc\0/usr/lib/libb.so.1\0libxa.so.1\0xliba.so.1\0")
            .unwrap();
        let libraries = Libraries::of(root.path(), &none);
        assert!(libraries.has("libb.so.1") && libraries.has("libxa.so.1"));
        assert!(!libraries.has("liba.so.1") && !libraries.has("libb.so"), "the end of another name");
        let folder = root.path().join("usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("liba.so.1"), "").unwrap();
        assert!(Libraries::of(root.path(), &none).has("liba.so.1"));
        let own = Variables::from([(PATH_VARIABLE.to_owned(), format!(":{}", folder.display()))]);
        assert!(Libraries::of(Path::new("/nowhere"), &own).has("liba.so.1"));
    }
}
