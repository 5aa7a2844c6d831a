//! The texts of those kernels that exist in variants: paths, sums of paths, winners.
//!
//! WGSL has neither generics nor arrays of bindings, so aliases, constants, bindings and the few functions that touch
//! them are written here, and the rest comes from `shaders/`.

use super::compiler::Source;
use super::shaders::Binding;
use super::variant::{Arithmetic, CostsFrom, Exchange, Variant};
use crate::stereo::CostKind;
use crate::stereo::cost::{Channel, Comparison};
use std::fmt::Write as _;

macro_rules! wgsl {
    ($stem:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $stem, ".wgsl"))
    };
}

mod local;

pub use local::Local;

/// What decides a kernel's text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Kernel {
    /// How it is run.
    pub variant: Variant,
    /// Candidates of a pixel.
    pub candidates: u32,
    /// What codes hold.
    pub cost: CostKind,
    /// Path costs of 16 bits.
    pub wide: bool,
    /// Each pixel has a gate.
    pub gated: bool,
    /// The pictures are mirrored, and each is in the other's place.
    pub mirrored: bool,
    /// The adapter has 16-bit integers, whatever the variant computes in.
    pub has_i16: bool,
    /// Buffers over which each volume is spread.
    pub slabs: u32,
}

/// What a winner does beside choosing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Winner {
    /// Volumes of path costs that it sums.
    pub volumes: u32,
    /// Whether sums of earlier batches are added.
    pub earlier: bool,
    /// Whether it walks the path along the row.
    pub fused: bool,
    /// Whether sums lie there ready, in 32 bits: SAD or aggregated costs without paths.
    pub exact: bool,
    /// Whether it looks for rivals: uniqueness, confidence.
    pub rivals: bool,
    /// Whether it drops pixels at the border or by the match threshold.
    pub drops: bool,
    /// Whether the right picture's winners are wanted.
    pub checked: bool,
    /// For tests: keeps the sums.
    pub keeps_sums: bool,
}

/// A text in the making, and the bindings that it declares.
struct Text {
    text: String,
    bindings: Vec<(String, Binding)>,
}

impl Kernel {
    /// Path costs of one direction.
    pub fn paths(&self) -> Source {
        let mut text = self.lanes_text(1);
        text.bind("left", Binding::Texture, "");
        self.gates(&mut text);
        self.costs(&mut text, self.slabs);
        let words = "array<Words>";
        for slab in 0..self.slabs {
            text.bind(&format!("excesses_{slab}"), Binding::Write, words);
        }
        let store = |slab: u32| {
            if self.wide {
                format!(
                    "let pairs = pairs_of_quarters(excess); excesses_{slab}[2u * at] = pairs.even; \
                     excesses_{slab}[2u * at + 1u] = pairs.odd;"
                )
            } else {
                format!("excesses_{slab}[at] = bytes_of_quarters(excess);")
            }
        };
        text.push("fn store_excess(here: vec2<u32>, lane: u32, excess: Quarters) {\n");
        text.push(&by_slab(self.slabs, store));
        text.push("}\n");
        text.push(self.exchange());
        text.push(wgsl!("aggregate/step"));
        text.push(wgsl!("aggregate/paths"));
        text.into_source("aggregate/paths")
    }

    /// The cost volume from codes.
    pub fn compare(&self) -> Source {
        let mut text = self.lanes_text(1);
        self.codes(&mut text);
        text.bind("costs", Binding::Write, "array<Words>");
        text.push(wgsl!("cost/compare"));
        text.into_source("cost/compare")
    }

    /// Sums of as many stored directions.
    pub fn sum(&self, volumes: u32) -> Source {
        let mut text = self.lanes_text(1);
        self.volumes(&mut text, volumes);
        text.bind("sums", Binding::Write, "array<Words>");
        text.push(wgsl!("aggregate/sum"));
        text.into_source("aggregate/sum")
    }

    /// Winners of both pictures.
    pub fn winner(&self, winner: Winner) -> Source {
        let Winner { volumes, earlier, fused, exact, rivals, drops, checked, keeps_sums } = winner;
        let mut text = self.lanes_text(if fused { 2 } else { 1 });
        text.push(&format!(
            "const RIVALS = {rivals};\nconst DROPS = {drops};\nconst CHECKED = {checked};\nconst FUSED = {fused};\n"
        ));
        text.bind("left", Binding::Texture, "");
        text.bind("map", Binding::Write, "array<u32>");
        text.bind("right_keys", Binding::Write, "array<atomic<u32>>");
        self.gates(&mut text);
        if keeps_sums {
            text.bind("kept", Binding::Write, "array<Words>");
            text.push(
                "fn keep_sums(is_pixel: bool, here: vec2<u32>, lane: u32, sums: Sums) {\n    if is_pixel {\n        \
                 let at = 4u * ((here.y * params.width + here.x) * LANES + lane);\n        kept[at] = sums.v0;\n        \
                 kept[at + 1u] = sums.v1;\n        kept[at + 2u] = sums.v2;\n        kept[at + 3u] = sums.v3;\n    }\n}\n",
            );
        } else {
            text.push("fn keep_sums(is_pixel: bool, here: vec2<u32>, lane: u32, sums: Sums) {}\n");
        }
        text.push(self.exchange());
        text.push(wgsl!("aggregate/step"));
        if exact {
            text.bind("exact", Binding::Read, "array<u32>");
            text.push(&self.exact_sums());
        } else {
            self.costs(&mut text, 1);
            self.volumes(&mut text, volumes);
            if earlier {
                text.bind("earlier", Binding::Read, "array<Words>");
            }
            let (even, odd) =
                if earlier { (" + earlier[2u * index]", " + earlier[2u * index + 1u]") } else { ("", "") };
            text.push(&format!(
                "fn with_paths(costs: Pairs, index: u32) -> Pairs {{\n    return with_volumes(Pairs(costs.even{even}, costs.odd{odd}), index);\n}}\n"
            ));
            text.push(wgsl!("disparity/sums_of_paths"));
        }
        text.push(wgsl!("disparity/winner_takes_all"));
        text.into_source("disparity/winner_takes_all")
    }

    /// All that the kernels share: constants, aliases, the uniforms.
    fn lanes_text(&self, sites: u32) -> Text {
        let Self { variant, candidates, gated, .. } = self;
        let by_bits = self.converts_by_bits();
        let (enable, number, none) = match variant.arithmetic {
            Arithmetic::U32 => ("", "u32", "0x7fffu"),
            Arithmetic::U16 => ("enable wgpu_int16;\n", "u16", "u16(0x7fff)"),
            Arithmetic::F16 if by_bits => ("enable f16;\nenable wgpu_int16;\n", "f16", "1023.0h"),
            Arithmetic::F16 => ("enable f16;\n", "f16", "2048.0h"),
        };
        let (words, lanes, lines) = (variant.words, variant.lanes(*candidates), variant.lines(*candidates));
        let masked = *gated || lanes * words * 4 != *candidates;
        let mut text = Text { text: enable.to_owned(), bindings: Vec::new() };
        text.push(wgsl!("common"));
        text.bindings.push(("params".to_owned(), Binding::Uniform("Params")));
        text.bind("part", Binding::Uniform("Part"), "Part");
        text.push(&format!(
            "alias Number = {number};\nconst NONE: Number = {none}; // above all that exists, with room for penalties\n\
             const WORDS = {words}u;\nconst LANES = {lanes}u; // of a pixel\nconst LINES = {lines}u; // of a workgroup\n\
             const SITES = {sites}u;\nconst MASKED = {masked};\n",
        ));
        text.push(match words {
            1 => wgsl!("aggregate/lane_1"),
            2 => wgsl!("aggregate/lane_2"),
            _ => wgsl!("aggregate/lane_4"),
        });
        if by_bits {
            text.push(
                ["alias Halves = u16;\n", "alias Halves = vec2<u16>;\n", "alias Halves = vec4<u16>;\n"]
                    [words as usize / 2],
            );
        }
        text.push(if by_bits { wgsl!("aggregate/convert_bits") } else { wgsl!("aggregate/convert") });
        text.push(wgsl!("aggregate/lane"));
        text
    }

    /// Whether whole numbers become floats, and floats whole numbers, by their bits alone: conversions are slow on many
    /// GPUs. It serves numbers below 1024; costs and what paths add to them are bytes where path costs have 8 bits.
    pub(super) fn converts_by_bits(&self) -> bool {
        self.variant.arithmetic == Arithmetic::F16 && self.has_i16 && !self.wide
    }

    /// Whether a table tells what two codes cost.
    pub(super) fn has_table(&self) -> bool {
        matches!(self.cost.comparison(), Comparison::Tables { .. } | Comparison::LearnedTable)
    }

    fn exchange(&self) -> &'static str {
        match self.variant.exchange {
            Exchange::Subgroup => wgsl!("aggregate/exchange_subgroup"),
            Exchange::Workgroup => wgsl!("aggregate/exchange_workgroup"),
        }
    }

    /// First and last candidate of a pixel.
    fn gates(&self, text: &mut Text) {
        let body = if self.gated {
            text.bind("gates", Binding::Read, "array<u32>");
            // gates are those of the picture before it was mirrored
            let x = if self.mirrored { "(params.width - 1u - here.x)" } else { "here.x" };
            format!(
                "let gate = gates[(here.y >> 1u) * ((params.width + 1u) >> 1u) + ({x} >> 1u)];\n    \
                 return vec2<u32>(gate & 0xffffu, gate >> 16u);"
            )
        } else {
            "return vec2<u32>(0u, params.candidates - 1u);".to_owned()
        };
        text.push(&format!("fn gate_of(here: vec2<u32>) -> vec2<u32> {{\n    {body}\n}}\n"));
    }

    /// Four costs in each word, from the volume or from codes.
    fn costs(&self, text: &mut Text, slabs: u32) {
        if self.variant.costs == CostsFrom::Codes {
            self.codes(text);
            return;
        }
        for slab in 0..slabs {
            text.bind(&format!("costs_{slab}"), Binding::Read, "array<Words>");
        }
        text.push("fn load_costs(here: vec2<u32>, lane: u32) -> Words {\n");
        text.push(&by_slab(slabs, |slab| format!("return costs_{slab}[at];")));
        text.push("}\n");
    }

    /// Four costs in each word, computed from codes.
    fn codes(&self, text: &mut Text) {
        const HAMMING: &str = "countOneBits(own.x ^ other.x) + countOneBits(own.y ^ other.y)";
        let (code, distance) = match self.cost.comparison() {
            Comparison::Difference(_) => ("u32", "u32(abs(i32(own) - i32(other)))"),
            // the left picture's level first
            Comparison::LearnedTable if self.mirrored => {
                ("u32", "(table[(other << 6u) + (own >> 2u)] >> ((own & 3u) << 3u)) & 0xffu")
            }
            Comparison::LearnedTable => ("u32", "(table[(own << 6u) + (other >> 2u)] >> ((other & 3u) << 3u)) & 0xffu"),
            Comparison::Tables { channel: Channel::Brightness, .. } => (
                "vec2<u32>",
                "table[u32(abs(i32(own.y >> 16u) - i32(other.y >> 16u)))] \
                 + table[256u + countOneBits(own.x ^ other.x) + countOneBits((own.y ^ other.y) & 0xffffu)]",
            ),
            Comparison::Tables { channel: Channel::Gradients, .. } => (
                "vec2<u32>",
                "table[(byte_difference(own.y, other.y, 16u) + byte_difference(own.y, other.y, 24u) + 1u) >> 1u] \
                 + table[256u + countOneBits(own.x ^ other.x) + countOneBits((own.y ^ other.y) & 0xffffu)]",
            ),
            Comparison::Hamming(shape) if shape.bits() <= 32 => ("vec2<u32>", "countOneBits(own.x ^ other.x)"),
            Comparison::Hamming(_) | Comparison::WindowedDifference => ("vec2<u32>", HAMMING),
        };
        text.bind("codes", Binding::Read, &format!("array<{code}>"));
        if self.has_table() {
            text.bind("table", Binding::Read, "array<u32>");
        }
        if let Comparison::Tables { channel: Channel::Gradients, .. } = self.cost.comparison() {
            text.push(
                "fn byte_difference(own: u32, other: u32, shift: u32) -> u32 {\n    \
                 return u32(abs(i32((own >> shift) & 0xffu) - i32((other >> shift) & 0xffu)));\n}\n",
            );
        }
        let each = |part: &str| format!("distance(own, right_row, x, candidates{part})");
        let parts: &[&str] = match self.variant.words {
            1 => &[""],
            2 => &[".x", ".y"],
            _ => &[".x", ".y", ".z", ".w"],
        };
        let all = parts.iter().map(|part| each(part)).collect::<Vec<_>>().join(", ");
        text.push(&format!(
            "fn distance(own: {code}, right_row: u32, x: u32, candidate: u32) -> u32 {{\n    \
             let other = codes[right_row + u32(partner(i32(x), candidate))];\n    return {distance};\n}}\n\
             fn compared(own: {code}, right_row: u32, x: u32, candidates: Words) -> Words {{\n    return Words({all});\n}}\n"
        ));
        text.push(wgsl!("aggregate/costs_from_codes"));
    }

    /// The volumes of path costs of one slab, and their sum.
    fn volumes(&self, text: &mut Text, volumes: u32) {
        let mut sum = String::new();
        for volume in 0..volumes {
            text.bind(&format!("path_{volume}"), Binding::Read, "array<Words>");
            let term = if self.wide {
                format!("Pairs(path_{volume}[2u * index], path_{volume}[2u * index + 1u])")
            } else {
                format!("pairs_of_bytes(path_{volume}[index])")
            };
            let _ = writeln!(
                sum,
                "    let p{volume} = {term};\n    pairs = Pairs(pairs.even + p{volume}.even, pairs.odd + p{volume}.odd);"
            );
        }
        text.push(&format!(
            "fn with_volumes(start: Pairs, index: u32) -> Pairs {{\n    var pairs = start;\n{sum}    return pairs;\n}}\n"
        ));
    }

    fn exact_sums(&self) -> String {
        let vector = |k: u32| {
            let parts: Vec<_> = (0..self.variant.words).map(|w| format!("exact[at + {}u]", 4 * w + k)).collect();
            format!("Words({})", parts.join(", "))
        };
        format!(
            "struct Walk {{\n    path: Quarters,\n    brightness: i32,\n}}\n\
             fn sums_at(\n    place: Place, turn: u32, here: vec2<u32>, index: u32, candidates: Words, gate: vec2<u32>, \
             walk: ptr<function, Walk>,\n) -> Sums {{\n    let at = 4u * WORDS * index;\n    \
             return Sums({}, {}, {}, {});\n}}\n",
            vector(0),
            vector(1),
            vector(2),
            vector(3)
        )
    }
}

/// Finds `at`, the place in its slab of the words of a pixel and a lane, and does `access` there.
fn by_slab(slabs: u32, access: impl Fn(u32) -> String) -> String {
    if slabs == 1 {
        let at = "((here.y - part.origin) * params.width + here.x) * LANES + lane";
        return format!("    let at = {at};\n    {}\n", access(0));
    }
    let mut text = "    let slab = here.y / params.slab_rows;\n    \
                    let at = ((here.y - slab * params.slab_rows) * params.width + here.x) * LANES + lane;\n    switch slab {\n"
        .to_owned();
    for slab in 0..slabs {
        let case = if slab + 1 == slabs { "default:".to_owned() } else { format!("case {slab}u:") };
        let _ = writeln!(text, "        {case} {{\n            {}\n        }}", access(slab));
    }
    text.push_str("    }\n");
    text
}

impl Text {
    fn push(&mut self, more: &str) {
        self.text.push_str(more);
    }

    /// Declares the next binding.
    fn bind(&mut self, name: &str, kind: Binding, ty: &str) {
        let number = self.bindings.len();
        let (space, ty) = match kind {
            Binding::Uniform(_) => ("<uniform>", ty),
            Binding::Read => ("<storage, read>", ty),
            Binding::Write => ("<storage, read_write>", ty),
            Binding::Texture => ("", "texture_2d<u32>"),
            Binding::WriteTexture => ("", "texture_storage_2d<r32uint, write>"),
        };
        let _ = writeln!(self.text, "@group(0) @binding({number}) var{space} {name}: {ty};");
        self.bindings.push((name.to_owned(), kind));
    }

    fn into_source(self, stem: &'static str) -> Source {
        Source { stem, text: self.text, bindings: self.bindings }
    }
}
