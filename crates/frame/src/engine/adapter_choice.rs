//! Choice of the GPU and of its tuning, as plain data that exists without a GPU engine too.

/// Adapter to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// Best adapter: a discrete GPU before an integrated one before software.
    #[default]
    Best,
    /// Adapter with this number in the list of `stereopsis devices --gpu`.
    Index(usize),
    /// Best adapter whose name contains this text, ignoring case.
    Name(String),
}

impl AdapterChoice {
    /// Parses a number or part of a name, the value of `--adapter`.
    pub fn from_word(word: &str) -> Self {
        word.parse().map_or_else(|_| Self::Name(word.to_owned()), Self::Index)
    }
}

/// Conditions under which variants are measured on the pairs of a running pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Autotune {
    /// Never: only stored measurements are used.
    #[default]
    Never,
    /// On hardware adapters without a stored measurement.
    OnHardware,
    /// On software adapters too.
    Everywhere,
}
