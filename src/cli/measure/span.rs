//! Named ranges of pairs.

use anyhow::Context as _;
use std::fmt;

/// Named range of pairs by their positions in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Name of the span; empty for all pairs.
    pub(super) name: String,
    /// First pair, from 0.
    pub(super) first: u64,
    /// Last pair; `None` for the end of the source.
    pub(super) last: Option<u64>,
}

impl Span {
    /// Returns the span of all pairs.
    pub(super) fn all() -> Self {
        Self { name: String::new(), first: 0, last: None }
    }

    /// Whether a pair lies in the span.
    pub(super) fn has(&self, pair: u64) -> bool {
        pair >= self.first && self.last.is_none_or(|last| pair <= last)
    }

    /// Returns the number of pairs of the source up to the span's end; `None` for all.
    pub(super) fn end(&self) -> Option<u64> {
        self.last.map(|last| last + 1)
    }
}

/// Formats a span in the form of the flag.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}-", self.name, self.first)?;
        self.last.map_or(Ok(()), |last| write!(f, "{last}"))
    }
}

/// Largest number of a pair: a source of 1000 pairs a second has fewer in a century.
const MAX_PAIR: u64 = 1 << 42;

/// Parses a range such as `wall=0-39`; `wall=40-` goes to the end.
///
/// # Errors
/// The text is no range.
pub(super) fn parse(text: &str) -> anyhow::Result<Span> {
    let number = |text: &str| text.trim().parse().ok().filter(|&n: &u64| n < MAX_PAIR);
    let parts = || {
        let (name, numbers) = text.split_once('=').filter(|(name, _)| !name.trim().is_empty())?;
        let (first, last) = numbers.split_once('-')?;
        let last = if last.trim().is_empty() { None } else { Some(number(last)?) };
        Some(Span { name: name.trim().to_owned(), first: number(first)?, last })
    };
    let span = parts().context("expected NAME=FROM-TO, such as wall=0-39, or NAME=FROM- up to the end")?;
    anyhow::ensure!(span.last.is_none_or(|last| last >= span.first), "'{text}' ends before it begins");
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_includes_both_ends() {
        let wall = parse("wall=3-5").unwrap();
        assert_eq!((0..8).filter(|&pair| wall.has(pair)).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!((wall.end(), wall.to_string().as_str()), (Some(6), "wall=3-5"));
        let rest = parse("rest=4-").unwrap();
        assert!(!rest.has(3) && rest.has(4) && rest.has(u64::MAX) && rest.end().is_none());
        assert!(Span::all().has(0));
    }

    #[test]
    fn malformed_ranges_are_refused() {
        for wrong in ["", "wall", "wall=3", "=1-2", "wall=a-b", "wall=-2", "wall=1-99999999999999999"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("NAME=FROM-TO"), "{wrong}");
        }
        assert!(parse("wall=5-3").unwrap_err().to_string().contains("ends before it begins"));
    }
}
