//! The secret that clients must send where other machines can connect.

use std::fmt;
use std::str::FromStr;

/// Size of a random token: 128 bits.
const RANDOM_BYTES: usize = 16;
/// Length of a chosen token.
const MIN_LETTERS: usize = 16;
const MAX_LETTERS: usize = 128;

/// A secret; its letters need no escaping in an address.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn random() -> Result<Self, String> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|err| format!("the system gives no random bytes for a token: {err}"))?;
        Ok(Self(data_encoding::HEXLOWER.encode(&bytes)))
    }

    /// The secret, for the link.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `said` is this token, in constant time.
    pub fn is(&self, said: &str) -> bool {
        let differences = |sum: u8, (a, b): (u8, u8)| std::hint::black_box(sum | (a ^ b));
        self.0.len() == said.len() && self.0.bytes().zip(said.bytes()).fold(0, differences) == 0
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let fits = (MIN_LETTERS..=MAX_LETTERS).contains(&word.len());
        let is_plain = word.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._~".contains(&c));
        if fits && is_plain {
            return Ok(Self(word.to_owned()));
        }
        Err(format!("a token has {MIN_LETTERS} to {MAX_LETTERS} letters from A-Z, a-z, 0-9, '-', '.', '_' and '~'"))
    }
}

/// Hides the secret from logs and errors.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_word_is_the_token() {
        let token: Token = "correct-horse-battery".parse().unwrap();
        assert!(token.is("correct-horse-battery"));
        for wrong in
            ["", "correct-horse-batterz", "correct-horse-batter", "correct-horse-battery1", "Correct-horse-battery"]
        {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("horse"));
    }

    #[test]
    fn random_tokens_differ_and_could_have_been_chosen() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one != other && one.as_str().len() == 2 * RANDOM_BYTES);
        assert_eq!(one.as_str().parse(), Ok(one));
    }

    #[test]
    fn a_chosen_token_is_long_and_stands_in_an_address() {
        for wrong in ["short", "with a space in it", "with&ampersand=yes", &"x".repeat(129)] {
            assert!(wrong.parse::<Token>().unwrap_err().contains("16 to 128 letters"), "{wrong}");
        }
    }
}
