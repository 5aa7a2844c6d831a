//! The shaders that exist in one form, with their entries; those in variants are in [`super::kernels`].

/// One WGSL file.
#[derive(Debug)]
pub struct Shader {
    /// Folder and file name below `shaders/`, without the extension.
    pub stem: &'static str,
    /// Its source, after that of `common.wgsl` and of the pieces that it shares with others.
    pub source: &'static str,
    /// Its compute entries, in the order in which they run.
    pub entries: &'static [&'static str],
    /// Columns and rows that a workgroup covers, where it covers pixels of a map.
    pub tile: (u32, u32),
}

macro_rules! shaders {
    ($($name:ident: $stem:literal $(+ $piece:literal)*, $tile:expr, $entries:expr;)*) => {
        $(
            #[doc = concat!("`shaders/", $stem, ".wgsl`.")]
            pub static $name: Shader = Shader {
                stem: $stem,
                source: concat!(
                    include_str!("../../../shaders/common.wgsl"),
                    $(include_str!(concat!("../../../shaders/", $piece, ".wgsl")),)*
                    include_str!(concat!("../../../shaders/", $stem, ".wgsl"))
                ),
                entries: &$entries,
                tile: $tile,
            };
        )*

        /// All of them.
        #[cfg(test)]
        pub static ALL: &[&Shader] = &[$(&$name),*];
    };
}

shaders! {
    CENSUS: "cost/census" + "cost/transform", TILE, ["transform"];
    RANK: "cost/rank" + "cost/transform", TILE, ["transform"];
    SAD: "cost/sad", TILE, ["mean", "exact"];
    ABSOLUTE: "cost/absolute", PIXELS, ["transform"];
    AD_CENSUS: "cost/ad_census", PIXELS, ["add_brightness"];
    GRADIENT_CENSUS: "cost/gradient_census", PIXELS, ["add_gradients"];
    HISTOGRAM: "cost/mutual_information/histogram" + "cost/mutual_information/start", PIXELS,
        ["clear", "from_coarser", "from_last", "by_chance"];
    TABLE: "cost/mutual_information/table", (16, 16), ["lines", "terms", "joint_logs", "negatives", "scale"];
    OFFSETS: "local/offsets", TILE, ["reach"];
    RIGHT: "disparity/right", PIXELS, ["clear", "choose"];
    SWAPPED: "disparity/swapped", TILE, ["mirror_pictures", "mirror_map"];
    MEDIAN: "filter/median", TILE, ["smooth_map"];
    CONSISTENCY: "filter/consistency", PIXELS, ["check", "check_right"];
    SPECKLE: "filter/speckle", TILE, ["separate", "merge", "measure", "remove"];
    SPATIAL: "filter/spatial", TILE, ["run"];
    TEMPORAL: "filter/temporal", PIXELS, ["smooth_over_time"];
    FILL: "filter/fill", PIXELS, ["rows", "empty_rows"];
    HALVE: "pyramid/halve", TILE, ["halve"];
    BOUNDS: "gating/bounds", (1, BOUNDS_ROWS), ["bounds"];
}

/// Columns and rows that a workgroup covers where invocations share nothing.
pub const PIXELS: (u32, u32) = (8, 8);
/// Columns and rows that a workgroup covers of those shaders that load a tile: transforms, medians, speckle.
pub const TILE: (u32, u32) = (32, 8);
/// Rows or columns that a workgroup of the spatial filter goes along.
pub const SPATIAL_LINES: u32 = 32;
/// Rows that a workgroup of gates walks down.
pub const BOUNDS_ROWS: u32 = 64;
/// Rows that an invocation of SAD covers.
pub const STRIP: u32 = 32;
/// Columns that a workgroup of SAD covers, with those that only lend their sums to windows.
pub const SAD_COLUMNS: u32 = 64;
/// Words of four candidates that a workgroup of SAD covers.
pub const SAD_WORDS: u32 = 4;
/// Columns that a workgroup of adaptive weights covers.
pub const LOCAL_COLUMNS: u32 = 32;
/// Words of four candidates that a workgroup of a local aggregation covers at most.
pub const LOCAL_WORDS: u32 = 8;
/// Runs of columns into which a row of a cross is divided, each a lane's.
pub const LOCAL_RUNS: u32 = 16;
/// Columns of such a run.
pub const LOCAL_RUN: u32 = 8;
/// Rows over which sums of a cross go: with 61 costs and counts in each they fit into 20 and 12 bits.
pub const LOCAL_STRIP: u32 = 64;
