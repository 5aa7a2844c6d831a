//! Every shader with its entries, bindings and constants: the table from which pipelines are made, and which
//! `tests/internal/shaders.rs` holds against what the WGSL declares.

/// What a binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// A uniform of this type.
    Uniform(&'static str),
    /// A `texture_2d<u32>`.
    Texture,
    /// A `texture_storage_2d<r32uint, write>`.
    WriteTexture,
    /// A storage buffer that is only read.
    Read,
    /// A storage buffer that is written.
    Write,
}

/// One WGSL file.
#[derive(Debug)]
pub struct Shader {
    /// Folder and file name below `shaders/`, without the extension.
    pub stem: &'static str,
    /// Its text, after that of `common.wgsl` and of pieces that it shares with others.
    pub source: &'static str,
    /// Its compute entries, in the order in which they run.
    pub entries: &'static [&'static str],
    /// Name and kind of each binding; the place in the list is the binding's number, all in group 0.
    pub bindings: &'static [(&'static str, Binding)],
    /// Its `override` constants.
    pub constants: &'static [&'static str],
    /// Columns and rows that a workgroup covers, where it goes over the pixels of a map.
    pub tile: (u32, u32),
}

macro_rules! shader {
    ($name:ident, $stem:literal $(+ $piece:literal)*, $tile:expr, $entries:expr, $constants:expr, [$($binding:expr),* $(,)?]) => {
        #[doc = concat!("`shaders/", $stem, ".wgsl`.")]
        pub static $name: Shader = Shader {
            stem: $stem,
            source: concat!(
                include_str!("../../../shaders/common.wgsl"),
                $(include_str!(concat!("../../../shaders/", $piece, ".wgsl")),)*
                include_str!(concat!("../../../shaders/", $stem, ".wgsl"))
            ),
            entries: &$entries,
            bindings: &[("params", Binding::Uniform("Params")), $($binding),*],
            constants: &$constants,
            tile: $tile,
        };
    };
}

shader!(
    CENSUS,
    "cost/census" + "cost/transform",
    TILE,
    ["transform"],
    ["RADIUS_X", "RADIUS_Y", "SYMMETRIC"],
    [("left", Binding::Texture), ("right", Binding::Texture), ("codes", Binding::Write)]
);
shader!(
    RANK,
    "cost/rank" + "cost/transform",
    TILE,
    ["transform"],
    ["RADIUS_X", "RADIUS_Y"],
    [("left", Binding::Texture), ("right", Binding::Texture), ("codes", Binding::Write)]
);
shader!(
    SAD,
    "cost/sad",
    TILE,
    ["mean", "exact"],
    ["RADIUS"],
    [
        ("part", Binding::Uniform("Part")),
        ("left", Binding::Texture),
        ("right", Binding::Texture),
        ("costs", Binding::Write),
    ]
);
shader!(
    ABSOLUTE,
    "cost/absolute",
    PIXELS,
    ["transform"],
    [],
    [("left", Binding::Texture), ("right", Binding::Texture), ("codes", Binding::Write)]
);
shader!(
    AD_CENSUS,
    "cost/ad_census",
    PIXELS,
    ["add_brightness"],
    [],
    [("left", Binding::Texture), ("right", Binding::Texture), ("codes", Binding::Write)]
);
shader!(
    GRADIENT_CENSUS,
    "cost/gradient_census",
    PIXELS,
    ["add_gradients"],
    [],
    [("left", Binding::Texture), ("right", Binding::Texture), ("codes", Binding::Write)]
);
shader!(
    HISTOGRAM,
    "cost/mutual_information/histogram" + "cost/mutual_information/start",
    PIXELS,
    ["clear", "from_coarser", "from_last", "by_chance"],
    ["LAST_STEP"],
    [
        ("guessed", Binding::Uniform("Params")),
        ("guess", Binding::Read),
        ("left", Binding::Texture),
        ("right", Binding::Texture),
        ("counts", Binding::Write),
    ]
);
shader!(
    TABLE,
    "cost/mutual_information/table",
    (16, 16),
    ["lines", "terms", "joint_logs", "negatives", "scale"],
    [],
    [
        ("log_table", Binding::Read),
        ("counts", Binding::Write),
        ("logs", Binding::Write),
        ("lines_and_terms", Binding::Write),
        ("extremes", Binding::Write),
        ("table", Binding::Write),
    ]
);
shader!(
    OFFSETS,
    "local/offsets",
    TILE,
    ["reach"],
    ["LONGEST"],
    [("left", Binding::Texture), ("right", Binding::Texture), ("arms", Binding::Write)]
);
shader!(
    RIGHT,
    "disparity/right",
    PIXELS,
    ["forget", "choose"],
    [],
    [("right_keys", Binding::Write), ("map", Binding::Write)]
);
shader!(
    SWAPPED,
    "disparity/swapped",
    TILE,
    ["mirror_pictures", "mirror_map"],
    [],
    [
        ("left", Binding::Texture),
        ("right", Binding::Texture),
        ("mirrored_right", Binding::WriteTexture),
        ("mirrored_left", Binding::WriteTexture),
        ("found", Binding::Read),
        ("map", Binding::Write),
    ]
);
shader!(
    MEDIAN,
    "filter/median",
    TILE,
    ["smooth_map"],
    ["RADIUS"],
    [("before", Binding::Read), ("after", Binding::Write)]
);
shader!(
    CONSISTENCY,
    "filter/consistency",
    PIXELS,
    ["check", "check_right"],
    [],
    [("left_map", Binding::Write), ("right_map", Binding::Read), ("checked_right_map", Binding::Write)]
);
shader!(
    SPECKLE,
    "filter/speckle",
    TILE,
    ["separate", "merge", "measure", "remove"],
    [],
    [("map", Binding::Write), ("parents", Binding::Write), ("sizes", Binding::Write),]
);
shader!(SPATIAL, "filter/spatial", TILE, ["run"], ["ALONG_ROWS"], [("map", Binding::Write)]);
shader!(
    TEMPORAL,
    "filter/temporal",
    PIXELS,
    ["smooth_over_time"],
    [],
    [("map", Binding::Write), ("smoothed", Binding::Write)]
);
shader!(
    FILL,
    "filter/fill",
    PIXELS,
    ["rows", "empty_rows"],
    ["ASKED"],
    [("map", Binding::Write), ("row_has_value", Binding::Write)]
);
shader!(
    HALVE,
    "pyramid/halve",
    TILE,
    ["halve"],
    [],
    [
        ("left", Binding::Texture),
        ("right", Binding::Texture),
        ("left_half", Binding::WriteTexture),
        ("right_half", Binding::WriteTexture),
    ]
);
shader!(
    BOUNDS,
    "gating/bounds",
    (1, BOUNDS_ROWS),
    ["bounds"],
    [],
    [
        ("coarse", Binding::Uniform("Params")),
        ("part", Binding::Uniform("Part")),
        ("map", Binding::Read),
        ("gates", Binding::Write),
    ]
);

/// All of them; those that exist in variants are in [`super::kernels`].
pub static ALL: &[&Shader] = &[
    &CENSUS,
    &RANK,
    &SAD,
    &ABSOLUTE,
    &AD_CENSUS,
    &GRADIENT_CENSUS,
    &HISTOGRAM,
    &TABLE,
    &OFFSETS,
    &RIGHT,
    &SWAPPED,
    &MEDIAN,
    &CONSISTENCY,
    &SPECKLE,
    &SPATIAL,
    &TEMPORAL,
    &FILL,
    &HALVE,
    &BOUNDS,
];

/// Columns and rows that a workgroup covers where each invocation is alone with its pixel.
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
