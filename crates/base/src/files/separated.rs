//! Paths in a text, separated by commas, which may also be part of a name.

/// Splits a text at its commas. If all parts then exist, a comma may be part of a name.
pub fn separated(text: &str, exists: impl Fn(&str) -> bool) -> Vec<&str> {
    existing(text, &exists, MAX_PARTS).unwrap_or_else(|| text.split(',').collect())
}

/// Largest number of paths in a text: a pair and its truth.
const MAX_PARTS: usize = 3;

fn existing<'a>(text: &'a str, exists: &impl Fn(&str) -> bool, most: usize) -> Option<Vec<&'a str>> {
    if exists(text) {
        return Some(vec![text]);
    }
    if most < 2 {
        return None;
    }
    text.match_indices(',').find_map(|(at, _)| {
        let (first, rest) = (text.get(..at)?, text.get(at + 1..)?);
        let rest = exists(first).then(|| existing(rest, exists, most - 1))??;
        Some(std::iter::once(first).chain(rest).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_names_of_files_separate_nothing() {
        let files = ["a", "b", "a,b", "x, y", "b,c"];
        let parts = |text| separated(text, |part| files.contains(&part));
        assert_eq!(parts("x, y"), ["x, y"]);
        assert_eq!(parts("a,b"), ["a,b"], "the whole name comes first");
        assert_eq!(parts("x, y,a"), ["x, y", "a"]);
        assert_eq!(parts("b,c,x, y,a"), ["b,c", "x, y", "a"]);
        assert_eq!(parts("a,gone, too"), ["a", "gone", " too"], "else every comma does");
        assert_eq!(parts("a,b,a,b,a"), ["a,b", "a,b", "a"]);
        assert_eq!(parts(""), [""]);
    }
}
