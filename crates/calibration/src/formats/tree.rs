//! Common tree of YAML, JSON and XML: maps, lists and words. Its limits protect against hostile files.

use super::base64;
use super::error::KeyError;
use super::matrix::Matrix;
use stereopsis_base::console::foreign;

/// Largest depth of a tree.
pub(super) const MAX_DEPTH: usize = 24;

/// Largest number of keys of a map.
pub(super) const MAX_KEYS: usize = 2000;

/// Largest length of a key, bytes.
pub(super) const MAX_KEY_BYTES: usize = 128;

/// Checks a key to be added to the `known` ones of a map.
///
/// # Errors
/// The key is too long, one of too many, or already known.
pub(super) fn check_key<V>(known: &[(impl AsRef<str>, V)], key: &str) -> Result<(), KeyError> {
    if key.len() > MAX_KEY_BYTES {
        return Err(KeyError::TooLong(key.to_owned()));
    }
    if known.len() >= MAX_KEYS {
        return Err(KeyError::TooMany);
    }
    if known.iter().any(|(known, _)| known.as_ref() == key) {
        return Err(KeyError::Twice(key.to_owned()));
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Keys in the order of the file, each once.
    Map(Vec<(String, Node)>),
    List(Vec<Node>),
    /// Word or number, in XML several numbers; parsed on use.
    Word(String),
}

impl Node {
    /// Returns the value of the first existing key among `keys`.
    pub(super) fn get(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().find_map(|key| self.entries().iter().find(|(name, _)| name == key).map(|(_, node)| node))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(&[key]).is_some()
    }

    /// Returns keys and values; empty if this is no map.
    pub(super) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        number(self.word()?)
    }

    /// Returns a matrix of `rows`, `cols` and `data`, which may be base64, a list of numbers, a list of rows, or several numbers in XML.
    pub(super) fn matrix(&self, name: &str) -> Option<Matrix> {
        let count = |key: &str| self.get(&[key])?.number().filter(|n| (0.0..1e6).contains(n)).map(|n| n as usize);
        let (shape, data) = match self {
            Self::Map(_) => {
                let data = self.get(&["data"])?;
                let packed = || data.word().and_then(base64::numbers);
                (count("rows").zip(count("cols")), data.numbers().or_else(packed)?)
            }
            Self::List(rows) if !rows.is_empty() && rows.iter().all(|row| matches!(row, Self::List(_))) => {
                let rows: Vec<Vec<f64>> = rows.iter().map(Self::numbers).collect::<Option<_>>()?;
                let columns = rows.first()?.len();
                let shape = rows.iter().all(|row| row.len() == columns).then_some((rows.len(), columns));
                (shape, rows.concat())
            }
            Self::List(_) => (None, self.numbers()?),
            Self::Word(_) => (None, self.numbers().filter(|numbers| numbers.len() > 1)?),
        };
        Some(Matrix { name: foreign(name), shape, data })
    }

    fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Self::List(items) => items.iter().map(Self::number).collect(),
            Self::Word(words) => words.split_whitespace().map(number).collect(),
            Self::Map(_) => None,
        }
    }
}

/// Parses a number; OpenCV writes `1.`, `.Nan` and `-.Inf`, other tools `nan` and `inf`.
pub(super) fn number(text: &str) -> Option<f64> {
    match text.to_lowercase().as_str() {
        ".nan" | "nan" | "-nan" | "-.nan" => Some(f64::NAN),
        ".inf" | "inf" | "+.inf" | "+inf" | "infinity" => Some(f64::INFINITY),
        "-.inf" | "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        number => number.parse().ok(),
    }
}
