//! Compute shaders of stereo matching in WGSL, a file for each stage, and the shaders that draw images and maps. This crate contains
//! text alone, for some of it in [permutations](source); the engine decides which entries run, and with which bindings.

mod permutations;

pub use permutations::source;

/// Returns the text of the file `stem.wgsl`.
///
/// # Panics
/// There is no such file; in a constant this is an error of the compiler.
pub const fn text(stem: &str) -> &'static str {
    let mut at = 0;
    while at < FILES.len() {
        if is_same(FILES[at].0.as_bytes(), stem.as_bytes()) {
            return FILES[at].1;
        }
        at += 1;
    }
    panic!("no shader has this name")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Folder and name without the extension of every file, and its text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
