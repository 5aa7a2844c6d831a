//! Every shader with its entries, bindings and constants: the table from which pipelines are made, and which
//! `tests/shaders.rs` holds against what the WGSL declares.

/// What a binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A uniform of this type.
    Uniform(&'static str),
    /// A `texture_2d<u32>`.
    Texture,
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
    /// Its text, after that of `common.wgsl`.
    pub source: &'static str,
    /// Its compute entries, in the order in which they run.
    pub entries: &'static [&'static str],
    /// Name and kind of each binding; the place in the list is the binding's number, all in group 0.
    pub bindings: &'static [(&'static str, Binding)],
    /// Its `override` constants.
    pub constants: &'static [&'static str],
}

macro_rules! shader {
    ($name:ident, $stem:literal, $entries:expr, $constants:expr, [$($binding:expr),* $(,)?]) => {
        #[doc = concat!("`shaders/", $stem, ".wgsl`.")]
        pub static $name: Shader = Shader {
            stem: $stem,
            source: concat!(
                include_str!("../../../shaders/common.wgsl"),
                include_str!(concat!("../../../shaders/", $stem, ".wgsl"))
            ),
            entries: &$entries,
            bindings: &[("params", Binding::Uniform("Params")), $($binding),*],
            constants: &$constants,
        };
    };
}

shader!(
    CENSUS,
    "cost/census",
    ["transform", "compare"],
    ["RADIUS_X", "RADIUS_Y", "SYMMETRIC"],
    [("left", Binding::Texture), ("right", Binding::Texture), ("codes", Binding::Write), ("costs", Binding::Write),]
);
shader!(
    RANK,
    "cost/rank",
    ["transform", "compare"],
    ["RADIUS"],
    [("left", Binding::Texture), ("right", Binding::Texture), ("ranks", Binding::Write), ("costs", Binding::Write),]
);
shader!(
    SAD,
    "cost/sad",
    ["mean", "exact"],
    ["RADIUS"],
    [("left", Binding::Texture), ("right", Binding::Texture), ("costs", Binding::Write),]
);
shader!(
    PATHS,
    "aggregate/paths",
    ["follow"],
    ["LANES"],
    [
        ("left", Binding::Texture),
        ("direction", Binding::Uniform("Direction")),
        ("costs", Binding::Read),
        ("sums", Binding::Write),
    ]
);
shader!(
    WINNER,
    "disparity/winner_takes_all",
    ["choose"],
    ["SUM_BITS"],
    [("sums", Binding::Read), ("map", Binding::Write),]
);
shader!(RIGHT, "disparity/right", ["choose"], ["SUM_BITS"], [("sums", Binding::Read), ("map", Binding::Write)]);
shader!(MEDIAN, "filter/median", ["smooth_map"], ["RADIUS"], [("before", Binding::Read), ("after", Binding::Write)]);
shader!(
    CONSISTENCY,
    "filter/consistency",
    ["check"],
    [],
    [("left_map", Binding::Write), ("right_map", Binding::Read),]
);
shader!(
    SPECKLE,
    "filter/speckle",
    ["separate", "merge", "measure", "remove"],
    [],
    [("map", Binding::Write), ("parents", Binding::Write), ("sizes", Binding::Write),]
);
shader!(FILL, "filter/fill", ["rows", "empty_rows"], [], [("map", Binding::Write), ("row_has_value", Binding::Write)]);

/// All of them.
pub static ALL: [&Shader; 10] = [&CENSUS, &RANK, &SAD, &PATHS, &WINNER, &RIGHT, &MEDIAN, &CONSISTENCY, &SPECKLE, &FILL];
