//! Sources of the kernels that exist in variants: costs from codes, paths, sums of paths, winners, local aggregation.
//!
//! WGSL has neither generics nor arrays of bindings. So aliases, constants, bindings and their access functions are generated here; the
//! rest comes from `shaders/`.

use super::compiler::{Binding, Source};
use super::variant::{CostSource, Exchange, PathBits, Variant};
use std::fmt::Write as _;
use stereopsis_stereo::cost::{Channel, Comparison};

macro_rules! wgsl {
    ($stem:literal) => {
        const { stereopsis_shaders::text($stem) }
    };
}

mod floats;
mod local;

pub use local::LocalConfig;

/// Inputs of a kernel's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct KernelConfig {
    /// Variant of the kernels.
    pub variant: Variant,
    /// Number of candidates of a pixel.
    pub candidates: u32,
    /// Codes and their comparison.
    pub comparison: Comparison,
    /// Whether path costs have 16 bits.
    pub wide: bool,
    /// Whether each pixel has a gate.
    pub gated: bool,
    /// Whether the images are mirrored and swapped.
    pub mirrored: bool,
    /// Number of buffers over which each volume is spread.
    pub slabs: u32,
}

/// Options of the winner kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct WinnerConfig {
    /// Number of volumes of path costs to sum.
    pub volumes: u32,
    /// Whether the sums of earlier batches are added.
    pub earlier: bool,
    /// Whether the kernel computes the path along the row.
    pub fused: bool,
    /// Whether the kernel reads exact sums of 32 bits: of SAD, or of aggregated costs without paths.
    pub exact: bool,
    /// Whether the best rival is needed, for uniqueness and confidence.
    pub rivals: bool,
    /// Whether pixels are dropped at the border or by the match threshold.
    pub drops: bool,
    /// Whether the right image's winners are needed too.
    pub checked: bool,
    /// Whether the sums are kept, for traces.
    pub keeps_sums: bool,
}

struct SourceBuilder {
    text: String,
    bindings: usize,
}

impl KernelConfig {
    /// Returns the source of the path costs of one direction.
    pub fn paths(&self) -> Source {
        let mut text = self.lanes_text(1, false);
        let (enable, step) = match self.variant.path_bits {
            PathBits::I32 => ("", wgsl!("aggregate/step")),
            PathBits::I16 => ("enable wgpu_int16;\n", wgsl!("aggregate/step_16")),
            PathBits::F16 => ("enable f16;\n", wgsl!("aggregate/step_f16")),
        };
        text.text.insert_str(0, enable);
        text.bind("left", Binding::Texture, "texture_2d<u32>");
        self.gates(&mut text);
        self.costs(&mut text, self.slabs, "Costs");
        for slab in 0..self.slabs {
            let ty = if self.wide { "array<Words>" } else { "array<Costs>" };
            text.bind(&format!("increments_{slab}"), Binding::Write, ty);
        }
        let store = |slab: u32| {
            if self.wide {
                format!(
                    "let pairs = pack_16(increment); increments_{slab}[2u * place.at] = pairs.even; \
                     increments_{slab}[2u * place.at + 1u] = pairs.odd;"
                )
            } else {
                let bytes = if self.variant.path_bits == PathBits::I32 { "pack_bytes" } else { "bytes_of" };
                format!("increments_{slab}[place.at] = {bytes}(increment);")
            }
        };
        text.push("fn store_increment(place: Place, increment: Path) {\n");
        text.push(&in_slab(self.slabs, "place.slab", store));
        text.push("}\n");
        text.push(&self.exchange());
        text.push(step);
        if self.variant.path_bits == PathBits::F16 {
            text.push(&self.step_of_floats());
        }
        text.push(wgsl!("aggregate/paths"));
        text.push(&self.follow());
        text.into_source("aggregate/paths")
    }

    /// Returns the source of the cost volume from codes.
    pub fn compare(&self) -> Source {
        let mut text = self.lanes_text(1, false);
        place(&mut text, 1);
        self.codes(&mut text);
        text.bind("costs", Binding::Write, "array<Words>");
        text.push(wgsl!("cost/compare"));
        text.into_source("cost/compare")
    }

    /// Returns the source of the sums of stored directions.
    pub fn sum(&self, volumes: u32) -> Source {
        let mut text = self.lanes_text(1, false);
        let loads = self.volumes(&mut text, volumes, "index");
        text.push(&load_sums("index: u32", &loads));
        text.bind("sums", Binding::Write, "array<Words>");
        text.push(wgsl!("aggregate/sum"));
        text.into_source("aggregate/sum")
    }

    /// Returns the source of the winners of both images.
    pub fn winner(&self, winner: WinnerConfig) -> Source {
        let WinnerConfig { volumes, earlier, fused, exact, rivals, drops, checked, keeps_sums } = winner;
        let mut text = self.lanes_text(if fused { 2 } else { 1 }, rivals);
        text.push(&format!("const DROPS = {drops};\nconst CHECKED = {checked};\nconst FUSED = {fused};\n"));
        text.bind("left", Binding::Texture, "texture_2d<u32>");
        text.bind("map", Binding::Write, "array<u32>");
        text.bind("right_keys", Binding::Write, "array<atomic<u32>>");
        self.gates(&mut text);
        if keeps_sums {
            text.bind("kept", Binding::Write, "array<Words>");
            text.push(
                "fn keep_sums(is_pixel: bool, here: vec2<u32>, lane: u32, sums: Sums) {\n    if is_pixel {\n        \
                 let at = 4u * ((here.y * params.width + here.x) * LANES + lane);\n        let all = numbers(sums);\n        \
                 kept[at] = all.v0;\n        kept[at + 1u] = all.v1;\n        kept[at + 2u] = all.v2;\n        \
                 kept[at + 3u] = all.v3;\n    }\n}\n",
            );
        } else {
            text.push("fn keep_sums(is_pixel: bool, here: vec2<u32>, lane: u32, sums: Sums) {}\n");
        }
        text.push(&self.exchange());
        text.push(wgsl!("aggregate/step"));
        if exact {
            place(&mut text, 1);
            text.bind("exact", Binding::Read, "array<u32>");
            text.push(&self.exact_sums());
            text.push(wgsl!("disparity/exact_sums"));
        } else {
            self.costs(&mut text, 1, "Words");
            let mut loads = self.volumes(&mut text, volumes, "place.at");
            loads.push(("costs".to_owned(), "load_costs(place)".to_owned()));
            let (mut even, mut odd) = ("", "");
            if earlier {
                text.bind("earlier", Binding::Read, "array<Words>");
                (even, odd) = (" + loaded.earlier_even", " + loaded.earlier_odd");
                loads.push(("earlier_even".to_owned(), "earlier[2u * place.at]".to_owned()));
                loads.push(("earlier_odd".to_owned(), "earlier[2u * place.at + 1u]".to_owned()));
            }
            text.push(&load_sums("place: Place", &loads));
            text.push(&format!(
                "fn with_paths(costs: Packed16, loaded: Loaded) -> Packed16 {{\n    \
                 return with_volumes(Packed16(costs.even{even}, costs.odd{odd}), loaded);\n}}\n"
            ));
            text.push(wgsl!("disparity/sums_of_paths"));
        }
        text.push(wgsl!("disparity/winner_takes_all"));
        text.into_source("disparity/winner_takes_all")
    }

    /// Begins a source with the common part of the kernels with lanes: constants, aliases, uniforms.
    fn lanes_text(&self, sites: u32, rivals: bool) -> SourceBuilder {
        let Self { variant, candidates, gated, .. } = self;
        let (words, lanes, lines) = (variant.words, variant.lanes(*candidates), variant.lines(*candidates));
        let masked = *gated || lanes * words * 4 != *candidates;
        let mut text = SourceBuilder::new();
        text.push(&format!(
            "const WORDS = {words}u;\nconst LANES = {lanes}u; // of a pixel\nconst LINES = {lines}u; // of a workgroup\n\
             const SITES = {sites}u;\nconst MASKED = {masked};\nconst RIVALS = {rivals};\nconst AHEAD = {}u;\n",
            variant.ahead
        ));
        text.push(match words {
            1 => wgsl!("aggregate/lane_1"),
            2 => wgsl!("aggregate/lane_2"),
            _ => wgsl!("aggregate/lane_4"),
        });
        text.push(wgsl!("aggregate/lane"));
        text
    }

    pub(super) fn has_table(&self) -> bool {
        matches!(self.comparison, Comparison::Tables { .. } | Comparison::LearnedTable)
    }

    fn exchange(&self) -> String {
        let lanes = self.variant.lanes(self.candidates);
        match self.variant.exchange {
            Exchange::Subgroup => {
                let mut text = wgsl!("aggregate/exchange_subgroup").to_owned();
                text.push_str("\nfn min_of_line(own: u32) -> u32 {\n    var minimum = own;\n");
                for distance in (0..lanes.ilog2()).map(|bit| 1 << bit) {
                    let _ = writeln!(text, "    minimum = min(minimum, subgroupShuffleXor(minimum, {distance}u));");
                }
                text.push_str("    return minimum;\n}\n");
                text
            }
            Exchange::Workgroup => wgsl!("aggregate/exchange_workgroup").to_owned(),
        }
    }

    fn gates(&self, text: &mut SourceBuilder) {
        let body = if self.gated {
            text.bind("gates", Binding::Read, "array<u32>");
            // gates are those of the image before it was mirrored
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

    /// Writes the costs of a lane of a volume spread over `slabs` buffers, as `costs` has them: from the volume or from codes.
    fn costs(&self, text: &mut SourceBuilder, slabs: u32, costs: &str) {
        place(text, slabs);
        if self.variant.costs == CostSource::Codes {
            self.codes(text);
            return;
        }
        for slab in 0..slabs {
            text.bind(&format!("costs_{slab}"), Binding::Read, &format!("array<{costs}>"));
        }
        text.push(&format!("fn load_costs(place: Place) -> {costs} {{\n"));
        text.push(&in_slab(slabs, "place.slab", |slab| format!("return costs_{slab}[place.at];")));
        text.push("}\n");
    }

    fn parts(&self) -> &'static [&'static str] {
        match self.variant.words {
            1 => &[""],
            2 => &[".x", ".y"],
            _ => &[".x", ".y", ".z", ".w"],
        }
    }

    /// Writes the computation of four costs in each word from codes.
    fn codes(&self, text: &mut SourceBuilder) {
        const HAMMING: &str = "countOneBits(own.x ^ other.x) + countOneBits(own.y ^ other.y)";
        let (code, distance) = match self.comparison {
            Comparison::Difference(_) => ("u32", "u32(abs(i32(own) - i32(other)))"),
            // the left image's level first
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
            Comparison::Hamming(shape) if shape.bits() <= 32 => ("u32", "countOneBits(own ^ other)"),
            Comparison::Hamming(_) | Comparison::WindowedDifference => ("vec2<u32>", HAMMING),
        };
        text.bind("codes", Binding::Read, &format!("array<{code}>"));
        if self.has_table() {
            text.bind("table", Binding::Read, "array<u32>");
        }
        if let Comparison::Tables { channel: Channel::Gradients, .. } = self.comparison {
            text.push(
                "fn byte_difference(own: u32, other: u32, shift: u32) -> u32 {\n    \
                 return u32(abs(i32((own >> shift) & 0xffu) - i32((other >> shift) & 0xffu)));\n}\n",
            );
        }
        let each = |part: &str| format!("distance(own, partners, candidates{part})");
        let all = self.parts().iter().map(|part| each(part)).collect::<Vec<_>>().join(", ");
        text.push(&format!(
            "fn distance(own: {code}, partners: Partners, candidate: u32) -> u32 {{\n    \
             let other = codes[clamp(partners.of_first - i32(candidate), partners.leftmost, partners.rightmost)];\n    \
             return {distance};\n}}\n\
             fn compared(own: {code}, partners: Partners, candidates: Words) -> Words {{\n    return Words({all});\n}}\n"
        ));
        text.push(wgsl!("aggregate/costs_from_codes"));
    }

    /// Returns the entry of the path kernel. Each step that is loaded ahead has its pixel in a variable of its own, so that none has to be
    /// moved or indexed.
    fn follow(&self) -> String {
        let ahead = self.variant.ahead;
        let mut text =
            "@compute @workgroup_size(LINES * LANES)\nfn follow(ids: Ids) {\n    let line = line_of(ids);\n    \
                        var walk = start_of(line, ids);\n    var pixel_0 = load_pixel(line, &walk, true);\n"
                .to_owned();
        for slot in 1..ahead {
            let _ = writeln!(text, "    var pixel_{slot} = load_next(line, &walk);");
        }
        text.push_str(
            "    let steps = swap_axes(vec2<u32>(params.width, params.height)).x;\n    \
             for (var k = 0u; k < steps; k += AHEAD) {\n",
        );
        for slot in 0..ahead {
            // steps beyond the last one store nothing
            let (turn, is_stored) = match slot {
                0 => ("k".to_owned(), String::new()),
                _ => (format!("k + {slot}u"), format!(" & (k + {slot}u < steps)")),
            };
            let _ = writeln!(
                text,
                "        let next_{slot} = load_next(line, &walk);\n        \
                 follow_to(pixel_{slot}, line, &walk, {turn}, line.is_line{is_stored});\n        \
                 pixel_{slot} = next_{slot};"
            );
        }
        text.push_str("    }\n}\n");
        text
    }

    /// Writes the sum of the volumes of path costs of one slab. Of bytes b0 to b3 it adds up b0 and b2, and b1 + 256 b2 + 65536 b3; the odd
    /// ones remain once 256 b2 is subtracted: four operations for a word, and sums of up to 256 volumes fit. Returns the names of a
    /// lane's words at `index`, and their values.
    fn volumes(&self, text: &mut SourceBuilder, volumes: u32, index: &str) -> Vec<(String, String)> {
        let mut sum = String::new();
        let mut loads = Vec::new();
        for volume in 0..volumes {
            text.bind(&format!("path_{volume}"), Binding::Read, "array<Words>");
            if self.wide {
                let _ = writeln!(sum, "    even += loaded.even_{volume};\n    odd += loaded.odd_{volume};");
                loads.push((format!("even_{volume}"), format!("path_{volume}[2u * {index}]")));
                loads.push((format!("odd_{volume}"), format!("path_{volume}[2u * {index} + 1u]")));
            } else {
                let bytes = format!("bytes_{volume}");
                let _ = writeln!(
                    sum,
                    "    even += loaded.{bytes} & Words(0x00ff00ffu);\n    odd += loaded.{bytes} >> Words(8u);"
                );
                loads.push((bytes, format!("path_{volume}[{index}]")));
            }
        }
        let rest = if self.wide { "" } else { "    odd -= (even >> Words(16u)) << Words(8u);\n" };
        text.push(&format!(
            "fn with_volumes(start: Packed16, loaded: Loaded) -> Packed16 {{\n    var even = Words(0u);\n    var odd = Words(0u);\n\
             {sum}{rest}    return Packed16(start.even + even, start.odd + odd);\n}}\n"
        ));
        loads
    }

    fn exact_sums(&self) -> String {
        let vector = |k: u32| {
            let parts: Vec<_> = (0..self.variant.words).map(|w| format!("exact[at + {}u]", 4 * w + k)).collect();
            format!("Words({})", parts.join(", "))
        };
        format!(
            "fn exact_sums(at: u32) -> Interleaved {{\n    return Interleaved({}, {}, {}, {});\n}}\n",
            vector(0),
            vector(1),
            vector(2),
            vector(3)
        )
    }
}

/// Writes the loading of a lane's words of a pixel, by name, with their values.
fn load_sums(argument: &str, loads: &[(String, String)]) -> String {
    let fields: Vec<_> = loads.iter().map(|(name, _)| format!("    {name}: Words,\n")).collect();
    let values: Vec<_> = loads.iter().map(|(_, value)| value.as_str()).collect();
    format!(
        "struct Loaded {{\n{}}}\n\nfn load_sums({argument}) -> Loaded {{\n    return Loaded({});\n}}\n",
        fields.concat(),
        values.join(", ")
    )
}

/// Writes the position of a lane's words of a pixel.
fn place(text: &mut SourceBuilder, slabs: u32) {
    text.push("fn place_of(pixel: vec2<u32>, lane: u32) -> Place {\n");
    text.push(&slab_place(slabs, ["pixel.x", "pixel.y", "dispatch.origin"], ["LANES", "lane"]));
    text.push("    return Place(pixel, lane, slab, at);\n}\n");
}

/// Declares `at`, the index of `element` of pixel (`x`, `y`) among `elements` a pixel in its slab, and `slab`. A single buffer begins at
/// the row `origin`.
fn slab_place(slabs: u32, [x, y, origin]: [&str; 3], [elements, element]: [&str; 2]) -> String {
    let (slab, first_row) = if slabs == 1 {
        ("0u".to_owned(), origin)
    } else {
        (format!("{y} / params.slab_rows"), "slab * params.slab_rows")
    };
    format!(
        "    let slab = {slab};\n    let at = (({y} - {first_row}) * params.width + {x}) * {elements} + {element};\n"
    )
}

/// Applies `access` to the buffer whose number is `slab`.
fn in_slab(slabs: u32, slab: &str, access: impl Fn(u32) -> String) -> String {
    if slabs == 1 {
        return format!("    {}\n", access(0));
    }
    let mut text = format!("    switch {slab} {{\n");
    for slab in 0..slabs {
        let case = if slab + 1 == slabs { "default:".to_owned() } else { format!("case {slab}u:") };
        let _ = writeln!(text, "        {case} {{ {} }}", access(slab));
    }
    text.push_str("    }\n");
    text
}

impl SourceBuilder {
    /// Begins a source with the declarations and uniforms of every kernel.
    fn new() -> Self {
        let mut text = Self { text: wgsl!("common").to_owned(), bindings: 1 };
        text.bind("dispatch", Binding::Uniform, "DispatchParams");
        text
    }

    fn push(&mut self, more: &str) {
        self.text.push_str(more);
    }

    fn bind(&mut self, name: &str, kind: Binding, ty: &str) {
        let space = match kind {
            Binding::Uniform => "<uniform>",
            Binding::Read => "<storage, read>",
            Binding::Write => "<storage, read_write>",
            Binding::Texture | Binding::WriteTexture => "",
        };
        let number = self.bindings;
        let _ = writeln!(self.text, "@group(0) @binding({number}) var{space} {name}: {ty};");
        self.bindings += 1;
    }

    fn into_source(self, stem: &'static str) -> Source {
        Source { stem, text: self.text }
    }
}
