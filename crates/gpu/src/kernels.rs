//! Kernels that exist in variants: costs from codes, paths, sums of paths, winners, local aggregation.
//!
//! Their text is in `shaders/`, where names stand for what differs; this is the table of these names and their values.

use super::compiler::Source;
use super::layout::code_words;
use super::shaders::{self, LOCAL_COLUMNS, LOCAL_RUN, LOCAL_RUNS, LOCAL_STRIP, LOCAL_WORDS, SAD_WORDS};
use super::variant::Variant;
use std::fmt::Display;
use stereopsis_stereo::Aggregation;
use stereopsis_stereo::cost::{Channel, Comparison};
use stereopsis_stereo::local::Unit;

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

impl KernelConfig {
    /// Returns the source of the path costs of one direction.
    pub fn paths(&self) -> Source {
        self.source("aggregate/paths", &[("SLABS", &self.slabs)])
    }

    /// Returns the source of the cost volume from codes.
    pub fn compare(&self) -> Source {
        self.source("cost/compare", &[])
    }

    /// Returns the source of the sums of stored directions.
    pub fn sum(&self, volumes: u32) -> Source {
        self.source("aggregate/sum", &[("VOLUMES", &volumes), ("HAS_COSTS", &false), ("EARLIER", &false)])
    }

    /// Returns the source of the winners of both images.
    pub fn winner(&self, winner: WinnerConfig) -> Source {
        let WinnerConfig { volumes, earlier, fused, exact, rivals, drops, checked, keeps_sums } = winner;
        let values: [(_, &dyn Display); _] = [
            ("SITES", if fused { &2 } else { &1 }),
            ("RIVALS", &rivals),
            ("DROPS", &drops),
            ("CHECKED", &checked),
            ("FUSED", &fused),
            ("KEEPS_SUMS", &keeps_sums),
            ("EXACT", &exact),
            ("VOLUMES", &volumes),
            ("HAS_COSTS", &true),
            ("EARLIER", &earlier),
        ];
        self.source("disparity/winner_takes_all", &values)
    }

    /// Returns the source of a local aggregation, of its second pass where it has two. A pixel owns `words`.
    pub fn aggregate(&self, local: &LocalConfig, words: u32) -> Source {
        let stem = match local.kind {
            Aggregation::Window => "local/window",
            Aggregation::Cross => "local/cross_columns",
            Aggregation::AdaptiveWeight => "local/adaptive_weight",
            _ => "local/weighted_cross",
        };
        self.local(stem, local, words)
    }

    /// Returns the source of sums over horizontal arms, added up down the columns: the first pass of a cross.
    pub fn cross_rows(&self, local: &LocalConfig, words: u32) -> Source {
        self.local("local/cross_rows", local, words)
    }

    /// Returns the source of a kernel with lanes.
    fn source(&self, stem: &'static str, more: &[(&'static str, &dyn Display)]) -> Source {
        let Self { variant, candidates, comparison, wide, gated, mirrored, .. } = self;
        let lanes = variant.lanes(*candidates);
        let (name, has_table) = match comparison {
            Comparison::Hamming(_) | Comparison::WindowedDifference => ("hamming", false),
            Comparison::Difference(_) => ("difference", false),
            Comparison::LearnedTable => ("learned", true),
            Comparison::Tables { channel: Channel::Brightness, .. } => ("brightness", true),
            Comparison::Tables { channel: Channel::Gradients, .. } => ("gradients", true),
        };
        let values: [(_, &dyn Display); _] = [
            ("WORDS", &variant.words),
            ("LANES", &lanes),
            ("LANE_BITS", &lanes.ilog2()),
            ("LINES", &variant.lines(*candidates)),
            ("SITES", &1),
            ("SLABS", &1),
            ("MASKED", &(*gated || lanes * variant.words * 4 != *candidates)),
            ("RIVALS", &false),
            ("AHEAD", &variant.ahead),
            ("EXCHANGE", &variant.exchange),
            ("PATH_BITS", &variant.path_bits),
            ("COSTS", &variant.costs),
            ("COMPARISON", &name),
            ("CODE_WORDS", &code_words(*comparison)),
            ("HAS_TABLE", &has_table),
            ("WIDE", wide),
            ("GATED", gated),
            ("MIRRORED", mirrored),
        ];
        Source { stem, text: stereopsis_shaders::source(stem, &[&values[..], more].concat()) }
    }

    fn local(&self, stem: &'static str, local: &LocalConfig, words: u32) -> Source {
        let values: [(_, &dyn Display); _] = [
            ("REACH", &local.reach),
            ("WORDS", &local.words(words)),
            ("STRIP", &local.strip()),
            ("COLUMNS", if local.kind == Aggregation::Window { &shaders::SAD_COLUMNS } else { &LOCAL_COLUMNS }),
            ("RUN", &LOCAL_RUN),
            ("RUNS", &LOCAL_RUNS),
            ("SLABS", &self.slabs),
            ("EXACT", &local.exact),
            ("UNIT", &local.unit.per_cost()),
        ];
        Source { stem, text: stereopsis_shaders::source(stem, &values) }
    }
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
