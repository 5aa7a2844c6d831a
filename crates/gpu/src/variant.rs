//! Variants of the kernels: the same bits at different speed, depending on adapter and size.
//!
//! Sums and winners have 32 bits. Paths have 16 where the adapter computes two such numbers at once. Integers of 16 bits take a third
//! fewer of the counted operations (`stereopsis-lab`) of a step, where the compiler packs them; floats a fifth fewer. A software
//! adapter computes them no faster.

use super::limits::Limits;
use std::fmt;
use std::str::FromStr;
use stereopsis_base::parameter::choices;
use stereopsis_frame::engine::EngineError;

choices! {
    /// How the lanes of a pixel exchange their minima and outermost candidates.
    pub enum Exchange {
        /// Through workgroup memory, on every adapter; one barrier a step.
        Workgroup = "workgroup",
        /// By subgroup shuffles, where a subgroup has at least as many lanes as a pixel.
        Subgroup = "subgroup",
    }
}

choices! {
    /// Where path costs take the matching costs from.
    pub enum CostSource {
        /// From a cost volume: a byte read for each path.
        Volume = "volume",
        /// From the codes of both images, computed again for each path.
        Codes = "codes",
    }
}

choices! {
    /// Numbers in which the path kernel computes.
    pub enum PathBits {
        /// Integers of 32 bits.
        I32 = "32",
        /// Integers of 16 bits.
        I16 = "16",
        /// Floats of 16 bits, exact for path costs, which are whole and below 2048.
        F16 = "f16",
    }
}

/// Conversion of [`PathBits`] to and from JSON: integers by their bits, as a number.
mod path_bits {
    use super::PathBits;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Word {
        Bits(u32),
        Name(String),
    }

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(bits: &PathBits, serializer: S) -> Result<S::Ok, S::Error> {
        let word = bits.word();
        word.parse().map_or_else(|_| Word::Name(word.to_owned()), Word::Bits).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBits, D::Error> {
        let word = match Word::deserialize(deserializer)? {
            Word::Bits(bits) => bits.to_string(),
            Word::Name(name) => name,
        };
        word.parse().map_err(D::Error::custom)
    }
}

/// Environment variable that overrides fields of the variant.
pub const VARIABLE: &str = "STEREOPSIS_GPU";
/// Numbers of words of four candidates that a lane can own.
pub const WORDS: [u32; 3] = [1, 2, 4];
/// Sizes of workgroups.
pub const WORKGROUPS: [u32; 4] = [32, 64, 128, 256];
/// Numbers of steps by which the path kernel can load ahead.
pub const AHEADS: [u32; 3] = [1, 2, 4];
/// Lengths of pieces, px.
pub const PIECES: [u32; 4] = [16, 32, 64, 128];

/// Maximum lines of a workgroup: the values that 256 lines exchange do not fit into [`super::limits::WORKGROUP_BYTES`].
const MAX_LINES: u32 = 128;

/// Combination of kernel options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Variant {
    /// Way in which lanes exchange values.
    pub exchange: Exchange,
    /// Words of four candidates that a lane owns.
    pub words: u32,
    /// Invocations of a workgroup, which walks as many lines as fit side by side.
    pub workgroup: u32,
    /// Source of the matching costs.
    pub costs: CostSource,
    /// Numbers in which the path kernel computes; a path that is fused with the winner has integers of 32 bits.
    #[serde(with = "path_bits")]
    pub path_bits: PathBits,
    /// Steps by which the path kernel loads pixels ahead. From 2 on the winner kernel loads the next pixel before it judges one.
    pub ahead: u32,
    /// Whether the winner kernel computes the path along the row, which is never stored.
    pub fused: bool,
    /// Pixels of a row for which one group of lanes chooses winners, where the path along the row is not fused.
    pub piece: u32,
}

/// Requirements of a job on its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Candidates of a pixel.
    pub candidates: u32,
    /// Whether path costs have 16 bits, because P2 exceeds a byte.
    pub wide: bool,
    /// Whether costs can be computed from codes: not those of SAD, nor aggregated ones.
    pub has_codes: bool,
    /// Whether one of the paths goes straight to the right.
    pub has_row_path: bool,
}

impl Variant {
    const FIRST: Self = Self {
        exchange: Exchange::Workgroup,
        words: WORDS[0],
        workgroup: WORKGROUPS[0],
        costs: CostSource::Volume,
        path_bits: PathBits::I32,
        ahead: AHEADS[0],
        fused: false,
        piece: PIECES[0],
    };

    /// Returns the number of lanes that share a pixel.
    pub fn lanes(&self, candidates: u32) -> u32 {
        candidates.div_ceil(4 * self.words).next_power_of_two()
    }

    /// Returns the number of lines that a workgroup walks side by side.
    pub fn lines(&self, candidates: u32) -> u32 {
        (self.workgroup / self.lanes(candidates)).clamp(1, MAX_LINES)
    }

    /// Returns the variant without any measurement. Integrated GPUs compute costs again for each path, to read less: their memory is slow
    /// beside their arithmetic.
    pub fn baseline(limits: &Limits, requirements: &Requirements) -> Self {
        let words = match requirements.candidates {
            _ if requirements.wide => 2,
            0..=16 => 1,
            17..=32 => 2,
            _ => 4,
        };
        let variant = Self {
            exchange: Exchange::Subgroup,
            words,
            workgroup: 64,
            costs: if limits.integrated && requirements.has_codes { CostSource::Codes } else { CostSource::Volume },
            path_bits: if limits.packs_i16 && limits.discrete { PathBits::I16 } else { PathBits::I32 },
            ahead: 1,
            fused: !limits.discrete && requirements.has_row_path,
            piece: 64,
        }
        .with_possible_paths();
        let by_subgroup = variant.unsupported_reason(limits, requirements).is_none();
        if by_subgroup { variant } else { Self { exchange: Exchange::Workgroup, ..variant } }
    }

    /// Returns the variant with paths in 32 bits where its other fields exclude integers of 16.
    #[must_use]
    pub fn with_possible_paths(self) -> Self {
        let excludes_i16 = self.words < 4 || self.costs == CostSource::Codes;
        let path_bits = if excludes_i16 && self.path_bits == PathBits::I16 { PathBits::I32 } else { self.path_bits };
        Self { path_bits, ..self }
    }

    /// Returns the reason why the adapter or the job excludes this variant; `None` if it can run.
    pub fn unsupported_reason(&self, limits: &Limits, requirements: &Requirements) -> Option<String> {
        let candidates = requirements.candidates;
        let lanes = self.lanes(candidates);
        let by_subgroup = self.exchange == Exchange::Subgroup;
        let text = if by_subgroup && limits.subgroup == 0 {
            "this adapter has no subgroups".to_owned()
        } else if by_subgroup && lanes > limits.subgroup {
            let subgroup = limits.subgroup;
            format!("a pixel of {candidates} candidates needs {lanes} lanes, and subgroups may have {subgroup}")
        } else if self.words == 4 && requirements.wide {
            "a lane holds two words of 16-bit path costs at most".to_owned()
        } else if self.costs == CostSource::Codes && !requirements.has_codes {
            "there are no codes to make costs from: SAD has none, and aggregated costs are a volume".to_owned()
        } else if self.path_bits == PathBits::I16 && !limits.has_i16 {
            "this adapter has no 16-bit integers".to_owned()
        } else if self.path_bits == PathBits::F16 && !limits.has_f16 {
            "this adapter has no 16-bit floats".to_owned()
        } else if self.path_bits == PathBits::F16 && requirements.wide {
            "paths in 16-bit floats are exact for a P2 of up to 255".to_owned()
        } else if *self != self.with_possible_paths() {
            "paths in 16-bit integers need lanes of four words and costs from a volume".to_owned()
        } else if self.fused && !requirements.has_row_path {
            "no path goes straight to the right".to_owned()
        } else if self.workgroup.max(lanes) > limits.workgroup {
            format!("this adapter allows work groups of {}", limits.workgroup)
        } else {
            return None;
        };
        Some(text)
    }

    /// Returns every variant that can run, with workgroups and pieces of these sizes.
    pub fn all(limits: &Limits, requirements: &Requirements, workgroups: &[u32], pieces: &[u32]) -> Vec<Self> {
        let fused = Self { fused: true, piece: pieces[0], ..Self::FIRST };
        let winners =
            pieces.iter().map(|&piece| Self { fused: false, piece, ..fused }).chain([fused]).collect::<Vec<_>>();
        // from the field that changes first to the one that changes last
        let mut all = Self::varied(&winners, &AHEADS, |variant, ahead| Self { ahead, ..variant });
        all = Self::varied(&all, PathBits::ALL, |variant, path_bits| Self { path_bits, ..variant });
        all = Self::varied(&all, CostSource::ALL, |variant, costs| Self { costs, ..variant });
        all = Self::varied(&all, workgroups, |variant, workgroup| Self { workgroup, ..variant });
        all = Self::varied(&all, &WORDS, |variant, words| Self { words, ..variant });
        all = Self::varied(&all, Exchange::ALL, |variant, exchange| Self { exchange, ..variant });
        all.retain(|variant| variant.unsupported_reason(limits, requirements).is_none());
        all
    }

    fn varied<T: Copy>(variants: &[Self], values: &[T], with: impl Fn(Self, T) -> Self) -> Vec<Self> {
        let with_value = |&value| variants.iter().map(|&variant| with(variant, value)).collect::<Vec<_>>();
        values.iter().flat_map(with_value).collect()
    }

    /// Sets one field from a pair of words, as in [`VariantOverrides`].
    fn set(&mut self, name: &str, value: &str) -> Result<(), VariantError> {
        fn parse<T: Copy + fmt::Display>(name: &str, value: &str, allowed: &[T]) -> Result<T, VariantError> {
            let found = allowed.iter().copied().find(|choice| choice.to_string() == value);
            let allowed = || allowed.iter().map(T::to_string).collect();
            found.ok_or_else(|| VariantError::Value { name: name.into(), value: value.into(), allowed: allowed() })
        }
        match name {
            "exchange" => self.exchange = parse(name, value, Exchange::ALL)?,
            "costs" => self.costs = parse(name, value, CostSource::ALL)?,
            "words" => self.words = parse(name, value, &WORDS)?,
            "workgroup" => self.workgroup = parse(name, value, &WORKGROUPS)?,
            "path_bits" => self.path_bits = parse(name, value, PathBits::ALL)?,
            "ahead" => self.ahead = parse(name, value, &AHEADS)?,
            "piece" => self.piece = parse(name, value, &PIECES)?,
            "fused" => self.fused = parse(name, value, &["yes", "no"])? == "yes",
            _ => return Err(VariantError::Name(name.to_owned())),
        }
        Ok(())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exchange, words, workgroup, costs, path_bits, ahead, fused, piece } = self;
        let fused = if *fused { "yes" } else { "no" };
        write!(f, "exchange={exchange},words={words},workgroup={workgroup},costs={costs},path_bits={path_bits},")?;
        write!(f, "ahead={ahead},fused={fused},piece={piece}")
    }
}

/// Error in the text of overridden fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    /// A field has no such value.
    #[error("{name} takes {}, not '{value}'", .allowed.join(", "))]
    Value {
        /// Name of the field.
        name: String,
        /// Value in the text.
        value: String,
        /// Values of the field.
        allowed: Vec<String>,
    },
    /// A variant has no field of this name.
    #[error(
        "'{0}' is no part of a variant; there are exchange, words, workgroup, costs, path_bits, ahead, fused and piece"
    )]
    Name(String),
    /// Part of the text is no name with a value.
    #[error("'{0}' is not of the form name=value")]
    Form(String),
    /// The environment variable has such an error.
    #[error("{VARIABLE}={text}: {cause}; or leave it unset")]
    Variable {
        /// Its text.
        text: String,
        /// The error.
        cause: Box<VariantError>,
    },
}

/// Overridden fields of a variant in the user's form: `exchange=workgroup,words=2`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantOverrides(String);

impl VariantOverrides {
    /// Overrides every field.
    pub fn all(variant: Variant) -> Self {
        Self(variant.to_string())
    }

    /// Returns `variant` with the overridden fields.
    pub fn apply(&self, mut variant: Variant) -> Variant {
        for (name, value) in self.0.split(',').filter_map(|field| field.trim().split_once('=')) {
            let set = variant.set(name, value);
            debug_assert!(set.is_ok(), "{set:?} was checked by `from_str`");
        }
        if self.0.contains("path_bits") { variant } else { variant.with_possible_paths() }
    }

    /// Returns the overrides of the user's environment.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] names the variable and its allowed values.
    pub fn from_env() -> Result<Self, EngineError> {
        let Ok(text) = std::env::var(VARIABLE) else { return Ok(Self::default()) };
        text.parse()
            .map_err(|cause| EngineError::Unsupported(VariantError::Variable { text, cause: Box::new(cause) }.into()))
    }

    /// Whether nothing is overridden.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for VariantOverrides {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        let fields: Vec<_> = text.split(',').map(str::trim).filter(|field| !field.is_empty()).collect();
        let mut checked = Variant::FIRST;
        for field in &fields {
            let (name, value) = field.split_once('=').ok_or_else(|| VariantError::Form((*field).to_owned()))?;
            checked.set(name, value)?;
        }
        Ok(Self(fields.join(",")))
    }
}
