//! Which GPU the user wants, and whether it is tuned: plain data, also where there is no GPU engine.

/// Which adapter to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// A discrete GPU before an integrated one before software.
    #[default]
    Best,
    /// By its number in the list of `stereopsis devices --gpu`.
    Index(usize),
    /// The best whose name contains this, upper and lower case alike.
    Name(String),
}

impl AdapterChoice {
    /// A number or part of a name, as `--adapter` takes it.
    pub fn from_word(word: &str) -> Self {
        word.parse().map_or_else(|_| Self::Name(word.to_owned()), Self::Index)
    }
}

/// Whether variants are measured on the pairs of a running pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Autotune {
    /// Only stored measurements are used.
    #[default]
    Never,
    /// On hardware adapters, where no measurement is stored.
    OnHardware,
    /// On software adapters too.
    Everywhere,
}
