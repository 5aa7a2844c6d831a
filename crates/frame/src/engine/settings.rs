//! Settings by which an engine is opened.

use super::{AdapterChoice, Autotune, EngineChoice, ModelFile};

/// Settings by which an engine is opened; the default is the quicker engine of the best GPU and all cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    /// The user's choice.
    pub choice: EngineChoice,
    /// Number of threads of the CPU engine; one for each core by default.
    pub threads: Option<usize>,
    /// GPU to open, where none is open yet.
    pub adapter: AdapterChoice,
    /// Whether the GPU engine tries variants on the pairs that come along.
    pub autotune: Autotune,
    /// File and device of the engine `model`.
    pub model: Option<ModelFile>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            choice: EngineChoice::Auto,
            threads: None,
            adapter: AdapterChoice::Best,
            autotune: Autotune::Never,
            model: None,
        }
    }
}
