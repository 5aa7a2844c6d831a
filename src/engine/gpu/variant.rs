//! Ways to run the same algorithm: which one is quickest depends on the adapter and the size, the bits never do.

use crate::choices;
use crate::engine::EngineError;
use std::fmt;
use std::str::FromStr;

choices! {
    /// How the lanes that share a pixel tell each other their smallest costs and their outermost candidates.
    pub enum Exchange {
        /// Through workgroup memory: everywhere, one barrier a step.
        Workgroup = "workgroup",
        /// By subgroup shuffles, where a subgroup has at least as many lanes as a pixel.
        Subgroup = "subgroup",
    }
}

choices! {
    /// Numbers in which path costs are computed.
    pub enum Arithmetic {
        /// 32-bit integers: everywhere.
        U32 = "u32",
        /// 16-bit integers, of which many GPUs compute two at a time.
        U16 = "u16",
        /// 16-bit floats, exact up to 2048; likewise, and on more GPUs.
        F16 = "f16",
    }
}

choices! {
    /// Where path costs take the matching costs from.
    pub enum CostSource {
        /// From a volume that was computed once: a byte read for each path.
        Volume = "volume",
        /// From the census or rank codes of both pictures, anew for each path.
        Codes = "codes",
    }
}

/// The variable that forces parts of a variant.
pub const VARIABLE: &str = "STEREOPSIS_GPU";

/// One way to run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Variant {
    /// How lanes talk.
    pub exchange: Exchange,
    /// What they compute in.
    pub arithmetic: Arithmetic,
    /// Words of four candidates that a lane owns: 1, 2 or 4.
    pub words: u32,
    /// Invocations of a workgroup: as many lines as fit are walked side by side.
    pub workgroup: u32,
    /// Where costs come from.
    pub costs: CostSource,
    /// Whether the direction along the row is walked by the pass that sums and chooses, and so never stored.
    pub fused: bool,
    /// Pixels of a row that one lane group chooses winners for, where the pass is not fused.
    pub piece: u32,
}

/// What an adapter can do, as far as variants ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Lanes of its smallest subgroup; 0 without subgroups.
    pub subgroup: u32,
    /// 16-bit floats.
    pub f16: bool,
    /// 16-bit integers.
    pub i16: bool,
    /// Most invocations of a workgroup.
    pub workgroup: u32,
    /// Whether it has memory of its own: bandwidth to spare, and more lanes than a row has lines.
    pub discrete: bool,
}

/// What decides which variants can do a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Candidates of a pixel.
    pub candidates: u32,
    /// Whether P2 exceeds a byte, so that path costs take 16 bits.
    pub wide: bool,
    /// Whether there are codes to compute costs from: SAD has none, and aggregated costs do not come from them.
    pub has_codes: bool,
    /// Whether one of the paths goes straight to the right.
    pub has_row_path: bool,
    /// Largest number that occurs on a path.
    pub largest: u32,
}

/// Numbers that a lane of 16 bits holds exactly as a float.
const MAX_EXACT_F16: u32 = 2047;

impl Variant {
    /// Lanes that share a pixel.
    pub fn lanes(&self, candidates: u32) -> u32 {
        candidates.div_ceil(4 * self.words).next_power_of_two()
    }

    /// Lines that a workgroup walks side by side.
    pub fn lines(&self, candidates: u32) -> u32 {
        (self.workgroup / self.lanes(candidates)).max(1)
    }

    /// A baseline choice without any measurement.
    pub fn baseline(capabilities: &Capabilities, requirements: &Requirements) -> Self {
        let words = match requirements.candidates {
            _ if requirements.wide => 2,
            0..=16 => 1,
            17..=32 => 2,
            _ => 4,
        };
        let variant = Self {
            exchange: Exchange::Subgroup,
            arithmetic: Arithmetic::U32,
            words,
            workgroup: 64,
            costs: CostSource::Volume,
            fused: !capabilities.discrete && requirements.has_row_path,
            piece: 64,
        };
        let by_subgroup = variant.unsupported_reason(capabilities, requirements).is_none();
        if by_subgroup { variant } else { Self { exchange: Exchange::Workgroup, ..variant } }
    }

    /// Why this variant cannot be used; `None` if it can.
    pub fn unsupported_reason(&self, capabilities: &Capabilities, requirements: &Requirements) -> Option<String> {
        let lanes = self.lanes(requirements.candidates);
        let too_large = requirements.largest > MAX_EXACT_F16;
        let text = match self {
            Self { exchange: Exchange::Subgroup, .. } if capabilities.subgroup == 0 => {
                "this adapter has no subgroups".to_owned()
            }
            Self { exchange: Exchange::Subgroup, .. } if lanes > capabilities.subgroup => format!(
                "a pixel of {} candidates needs {lanes} lanes, and subgroups may have {}",
                requirements.candidates, capabilities.subgroup
            ),
            Self { arithmetic: Arithmetic::F16, .. } if !capabilities.f16 => {
                "this adapter has no 16-bit floats".to_owned()
            }
            Self { arithmetic: Arithmetic::F16, .. } if too_large => {
                format!(
                    "costs with penalties reach {}, and 16-bit floats are exact to {MAX_EXACT_F16}",
                    requirements.largest
                )
            }
            Self { arithmetic: Arithmetic::U16, .. } if !capabilities.i16 => {
                "this adapter has no 16-bit integers".to_owned()
            }
            Self { words: 4, .. } if requirements.wide => {
                "a lane holds two words of 16-bit path costs at most".to_owned()
            }
            Self { costs: CostSource::Codes, .. } if !requirements.has_codes => {
                "there are no codes to make costs from: SAD has none, and aggregated costs are a volume".to_owned()
            }
            Self { fused: true, .. } if !requirements.has_row_path => "no path goes straight to the right".to_owned(),
            Self { workgroup, .. } if (*workgroup).max(lanes) > capabilities.workgroup => {
                format!("this adapter allows work groups of {}", capabilities.workgroup)
            }
            _ => return None,
        };
        Some(text)
    }

    /// Every variant that can be used, with workgroups and pieces of these sizes.
    pub fn all(
        capabilities: &Capabilities,
        requirements: &Requirements,
        workgroups: &[u32],
        pieces: &[u32],
    ) -> Vec<Self> {
        let mut all = Vec::new();
        for &exchange in Exchange::ALL {
            for &arithmetic in Arithmetic::ALL {
                for words in [1, 2, 4] {
                    for &workgroup in workgroups {
                        for &costs in CostSource::ALL {
                            let base = Self { exchange, arithmetic, words, workgroup, costs, fused: false, piece: 0 };
                            all.extend(pieces.iter().map(|&piece| Self { piece, ..base }));
                            all.push(Self { fused: true, piece: pieces[0], ..base });
                        }
                    }
                }
            }
        }
        all.retain(|variant| variant.unsupported_reason(capabilities, requirements).is_none());
        all
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exchange, arithmetic, words, workgroup, costs, fused, piece } = self;
        let fused = if *fused { "yes" } else { "no" };
        write!(
            f,
            "exchange={exchange},arithmetic={arithmetic},words={words},workgroup={workgroup},costs={costs},fused={fused},piece={piece}"
        )
    }
}

/// Some parts of a variant, given by a user: `exchange=workgroup,arithmetic=f16`. The rest follows from the adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VariantOverrides {
    exchange: Option<Exchange>,
    arithmetic: Option<Arithmetic>,
    words: Option<u32>,
    workgroup: Option<u32>,
    costs: Option<CostSource>,
    fused: Option<bool>,
    piece: Option<u32>,
}

impl VariantOverrides {
    /// Forces every part.
    pub fn all(variant: Variant) -> Self {
        let Variant { exchange, arithmetic, words, workgroup, costs, fused, piece } = variant;
        Self {
            exchange: Some(exchange),
            arithmetic: Some(arithmetic),
            words: Some(words),
            workgroup: Some(workgroup),
            costs: Some(costs),
            fused: Some(fused),
            piece: Some(piece),
        }
    }

    /// The overrides parts put into `variant`.
    pub fn apply(self, variant: Variant) -> Variant {
        Variant {
            exchange: self.exchange.unwrap_or(variant.exchange),
            arithmetic: self.arithmetic.unwrap_or(variant.arithmetic),
            words: self.words.unwrap_or(variant.words),
            workgroup: self.workgroup.unwrap_or(variant.workgroup),
            costs: self.costs.unwrap_or(variant.costs),
            fused: self.fused.unwrap_or(variant.fused),
            piece: self.piece.unwrap_or(variant.piece),
        }
    }

    /// What the user's environment forces.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] names the variable, and what it may hold.
    pub fn chosen() -> Result<Self, EngineError> {
        let Ok(text) = std::env::var(VARIABLE) else { return Ok(Self::default()) };
        text.parse().map_err(|err| EngineError::Unsupported(format!("{VARIABLE}={text}: {err}; or leave it unset")))
    }

    /// Whether nothing is overrides.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl FromStr for VariantOverrides {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut overrides = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| format!("'{part}' is not of the form name=value"))?;
            let unfit = |allowed: String| format!("{name} takes {allowed}, not '{value}'");
            let number = |allowed: &[u32]| {
                let listed = || allowed.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                value.parse().ok().filter(|n| allowed.contains(n)).ok_or_else(|| unfit(listed()))
            };
            match name {
                "exchange" => overrides.exchange = Some(word(value, Exchange::ALL).map_err(unfit)?),
                "arithmetic" => overrides.arithmetic = Some(word(value, Arithmetic::ALL).map_err(unfit)?),
                "costs" => overrides.costs = Some(word(value, CostSource::ALL).map_err(unfit)?),
                "words" => overrides.words = Some(number(&[1, 2, 4])?),
                "workgroup" => overrides.workgroup = Some(number(&WORKGROUPS)?),
                "piece" => overrides.piece = Some(number(&PIECES)?),
                "fused" => {
                    let yes_or_no = [("yes", true), ("no", false)];
                    let found = yes_or_no.iter().find(|(word, _)| *word == value);
                    overrides.fused = Some(found.ok_or_else(|| unfit("yes, no".to_owned()))?.1);
                }
                _ => {
                    return Err(format!(
                        "'{name}' is no part of a variant; there are exchange, arithmetic, words, workgroup, costs, fused and piece"
                    ));
                }
            }
        }
        Ok(overrides)
    }
}

/// Sizes of workgroups that are tried.
pub const WORKGROUPS: [u32; 4] = [32, 64, 128, 256];
/// Lengths of pieces that are tried, px.
pub const PIECES: [u32; 4] = [16, 32, 64, 128];

fn word<T: Copy + fmt::Display>(value: &str, all: &[T]) -> Result<T, String> {
    let found = all.iter().copied().find(|choice| choice.to_string() == value);
    found.ok_or_else(|| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}
