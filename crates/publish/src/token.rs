//! Access token: a secret that clients must send if other machines can connect. It must never appear in logs or errors.

use std::fmt;
use std::str::FromStr;

/// Size of a random token, bytes.
const RANDOM_BYTES: usize = 16;
/// Length of a token that the user chooses, characters.
const MIN_LETTERS: usize = 16;
const MAX_LETTERS: usize = 128;

/// Fault of a token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The text is too short or too long, or has other letters.
    #[error("a token has {} to {} letters from A-Z, a-z, 0-9, '-', '.', '_' and '~'", MIN_LETTERS, MAX_LETTERS)]
    Letters,
    /// The system provides no random bytes.
    #[error("the system gives no random bytes for a token: {0}")]
    NoRandom(getrandom::Error),
}

/// Secret of characters that need no escaping in a URL.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Creates a random token.
    ///
    /// # Errors
    /// The system provides no random bytes.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(TokenError::NoRandom)?;
        Ok(Self(data_encoding::HEXLOWER.encode(&bytes)))
    }

    /// Returns the secret, for the link.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether `text` is this token, in constant time.
    pub fn matches(&self, text: &str) -> bool {
        let differences = |sum: u8, (a, b): (u8, u8)| std::hint::black_box(sum | (a ^ b));
        self.0.len() == text.len() && self.0.bytes().zip(text.bytes()).fold(0, differences) == 0
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(word: &str) -> Result<Self, TokenError> {
        let fits = (MIN_LETTERS..=MAX_LETTERS).contains(&word.len());
        let is_plain = word.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._~".contains(&c));
        if fits && is_plain {
            return Ok(Self(word.to_owned()));
        }
        Err(TokenError::Letters)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_only_the_exact_text() {
        let token: Token = "correct-horse-battery".parse().unwrap();
        assert!(token.matches("correct-horse-battery"));
        for wrong in
            ["", "correct-horse-batterz", "correct-horse-batter", "correct-horse-battery1", "Correct-horse-battery"]
        {
            assert!(!token.matches(wrong), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("horse"));
    }

    #[test]
    fn random_tokens_differ_and_can_be_parsed() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one != other && one.as_str().len() == 2 * RANDOM_BYTES);
        assert_eq!(one.as_str().parse(), Ok(one));
    }

    #[test]
    fn rejects_short_tokens_and_those_that_need_escaping() {
        for wrong in ["short", "with a space in it", "with&ampersand=yes", &"x".repeat(129)] {
            assert!(wrong.parse::<Token>().unwrap_err().to_string().contains("16 to 128 letters"), "{wrong}");
        }
    }
}
