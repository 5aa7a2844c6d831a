//! Shaders that exist in one form. Each stage of [`super::graph`] declares its own; [`super::kernels`] has those in variants.

use std::fmt::Display;

/// One WGSL file.
#[derive(Debug)]
pub struct Shader {
    /// Folder and file name below `shaders/`, without the extension.
    pub stem: &'static str,
    /// Values of names in that file.
    pub values: &'static [(&'static str, &'static str)],
    /// Compute entries, in the order in which they run.
    pub entries: &'static [&'static str],
    /// Columns and rows that a workgroup covers, where it covers pixels of a map.
    pub tile: (u32, u32),
}

impl Shader {
    /// Returns the source text.
    pub fn source(&self) -> String {
        let values: Vec<_> = self.values.iter().map(|(name, value)| (*name, value as &dyn Display)).collect();
        stereopsis_shaders::source(self.stem, &values)
    }
}

/// Declares the shaders of a stage, beside the dispatches that run them: stem, values of names, tile, entries.
macro_rules! shaders {
    ($($name:ident: $stem:literal $($value_name:ident = $value:literal)*, $tile:expr, $entries:expr;)*) => {
        $(
            #[doc = concat!("`shaders/", $stem, ".wgsl`.")]
            static $name: $crate::shaders::Shader = $crate::shaders::Shader {
                stem: $stem,
                values: &[$((stringify!($value_name), $value)),*],
                entries: &$entries,
                tile: $tile,
            };
        )*

        /// All shaders of this stage.
        pub(crate) static SHADERS: &[&$crate::shaders::Shader] = &[$(&$name),*];
    };
}
pub(super) use shaders;

/// Columns and rows that a workgroup covers where invocations share nothing.
pub const PIXELS: (u32, u32) = (8, 8);
/// Columns and rows that a workgroup covers in shaders that load a tile: transforms, medians, speckle.
pub(crate) const TILE: (u32, u32) = (32, 8);
/// Rows that an invocation of SAD covers.
pub const STRIP: u32 = 32;
/// Columns that a workgroup of SAD covers, with those that only lend their sums to windows.
pub const SAD_COLUMNS: u32 = 64;
/// Words of four candidates that a workgroup of SAD covers.
pub(crate) const SAD_WORDS: u32 = 4;
/// Columns that a workgroup of adaptive weights covers.
pub(crate) const LOCAL_COLUMNS: u32 = 32;
/// Maximum words of four candidates that a workgroup of a local aggregation covers.
pub(crate) const LOCAL_WORDS: u32 = 8;
/// Number of runs of columns into which a row of a cross is divided; each run has a lane.
pub(crate) const LOCAL_RUNS: u32 = 16;
/// Columns of such a run.
pub(crate) const LOCAL_RUN: u32 = 8;
/// Rows over which sums of a cross go: with 61 costs and counts in each they fit into 20 and 12 bits.
pub(crate) const LOCAL_STRIP: u32 = 64;
