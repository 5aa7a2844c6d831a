//! Sources of local aggregation. Kernels read the costs of other rows, so they bind all slabs of the cost volume; they write one slab
//! of means or exact sums.

use super::{KernelConfig, SourceBuilder, in_slab, slab_place};
use crate::compiler::{Binding, Source};
use crate::shaders::{self, LOCAL_COLUMNS, LOCAL_RUN, LOCAL_RUNS, LOCAL_STRIP, LOCAL_WORDS, SAD_WORDS};
use std::fmt::Write as _;
use stereopsis_stereo::Aggregation;
use stereopsis_stereo::local::Unit;

/// Pixel and first row of [`slab_place`].
const PIXEL: [&str; 3] = ["x", "y", "0u"];

/// Inputs of the sources of a local aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalConfig {
    /// Kind of aggregation.
    pub kind: Aggregation,
    /// Distance from the centre to the farthest neighbour along an axis, px.
    pub reach: u32,
    /// Unit of aggregated costs.
    pub unit: Unit,
    /// Whether results are exact sums of 32 bits, instead of means of a byte.
    pub exact: bool,
}

impl LocalConfig {
    /// Returns the words of four candidates that a workgroup has of each pixel, where a pixel owns `words`.
    pub fn words(&self, words: u32) -> u32 {
        words.min(if self.kind == Aggregation::Window { SAD_WORDS } else { LOCAL_WORDS })
    }

    /// Returns the columns for which a workgroup has results, where several of them share a row.
    pub(crate) fn own_columns(&self) -> u32 {
        match self.kind {
            Aggregation::Window => shaders::SAD_COLUMNS - 2 * self.reach,
            Aggregation::Cross => LOCAL_RUNS * LOCAL_RUN - 2 * self.reach - 1,
            _ => LOCAL_COLUMNS,
        }
    }

    /// Returns the rows that a workgroup processes.
    pub fn strip(&self) -> u32 {
        match self.kind {
            Aggregation::Window => shaders::STRIP,
            Aggregation::Cross => LOCAL_STRIP,
            _ => 1,
        }
    }
}

impl KernelConfig {
    /// Returns the source of an aggregation in one pass.
    pub fn aggregate(&self, local: &LocalConfig, words: u32) -> Source {
        let mut text = Self::local_text(local, words);
        let _ = writeln!(
            text.text,
            "const COLUMNS = {}u;",
            match local.kind {
                Aggregation::Window => shaders::SAD_COLUMNS,
                _ => LOCAL_COLUMNS,
            }
        );
        if local.kind.has_weights() {
            text.bind("left", Binding::Texture, "texture_2d<u32>");
            text.bind("right", Binding::Texture, "texture_2d<u32>");
        }
        if local.kind.has_arms() {
            text.bind("arms", Binding::Read, "array<u32>");
        }
        self.cost_words(&mut text);
        store(&mut text, local);
        if local.kind.has_weights() {
            text.push(wgsl!("local/weights"));
        }
        let (stem, body) = match local.kind {
            Aggregation::AdaptiveWeight => ("local/adaptive_weight", wgsl!("local/adaptive_weight")),
            Aggregation::WeightedCross => ("local/weighted_cross", wgsl!("local/weighted_cross")),
            _ => ("local/window", wgsl!("local/window")),
        };
        text.push(body);
        text.into_source(stem)
    }

    /// Returns the source of sums over horizontal arms, added up down the columns.
    pub fn cross_rows(&self, local: &LocalConfig, words: u32) -> Source {
        let mut text = Self::local_text(local, words);
        text.push(&format!("const RUN = {LOCAL_RUN}u;\nconst RUNS = {LOCAL_RUNS}u;\n"));
        text.bind("arms", Binding::Read, "array<u32>");
        // a row lies in one buffer
        text.bind("costs", Binding::Read, "array<u32>");
        text.push(
            "fn load_cost(x: u32, y: u32, word: u32) -> u32 {\n    \
             return costs[((y - dispatch.origin) * params.width + x) * params.words + word];\n}\n",
        );
        text.bind("arm_sums", Binding::Write, "array<vec4<u32>>");
        text.push(wgsl!("local/cross_rows"));
        text.into_source("local/cross_rows")
    }

    /// Returns the source of sums over vertical arms of these sums.
    pub fn cross_columns(&self, local: &LocalConfig, words: u32) -> Source {
        let mut text = Self::local_text(local, words);
        text.bind("arms", Binding::Read, "array<u32>");
        for slab in 0..self.slabs {
            text.bind(&format!("arm_sums_{slab}"), Binding::Read, "array<u32>");
        }
        text.push("fn load_arm_sum(x: u32, y: u32, candidate: u32) -> u32 {\n");
        text.push(&slab_place(self.slabs, PIXEL, ["(4u * params.words)", "candidate"]));
        text.push(&in_slab(self.slabs, "slab", |slab| format!("return arm_sums_{slab}[at];")));
        text.push("}\n");
        store(&mut text, local);
        text.push(wgsl!("local/cross_columns"));
        text.into_source("local/cross_columns")
    }

    fn local_text(local: &LocalConfig, words: u32) -> SourceBuilder {
        let mut text = SourceBuilder::new();
        text.push(&format!(
            "const REACH = {}u;\nconst WORDS = {}u; // of a pixel in a workgroup\nconst STRIP = {}u;\n",
            local.reach,
            local.words(words),
            local.strip()
        ));
        text.push(wgsl!("local/volume"));
        text
    }

    fn cost_words(&self, text: &mut SourceBuilder) {
        for slab in 0..self.slabs {
            text.bind(&format!("costs_{slab}"), Binding::Read, "array<u32>");
        }
        text.push("fn load_cost(x: u32, y: u32, word: u32) -> u32 {\n");
        text.push(&slab_place(self.slabs, PIXEL, ["params.words", "word"]));
        text.push(&in_slab(self.slabs, "slab", |slab| format!("return costs_{slab}[at];")));
        text.push("}\n");
    }
}

fn store(text: &mut SourceBuilder, local: &LocalConfig) {
    text.bind("aggregated", Binding::Write, if local.exact { "array<vec4<u32>>" } else { "array<u32>" });
    let unit = local.unit.per_cost();
    let value = if local.exact { "sums".to_owned() } else { format!("word_of((sums + {}u) / {unit}u)", unit / 2) };
    text.push(&format!(
        "fn store(x: u32, y: u32, word: u32, sums: vec4<u32>) {{\n    \
         aggregated[((y - dispatch.origin) * params.width + x) * params.words + word] = {value};\n}}\n"
    ));
}
