//! Secrets in addresses, such as `rtsp://user:password@10.0.0.5/1?token=abc`: found, and replaced by `***`, so that an address can be shown,
//! kept and sent to others.
//!
//! Secret is what stands before an `@`, the value of a key with one of the words of [`WORDS`], which lasts to the next `&`, what follows
//! such a word as a part of the path, and what follows a `#`. Percent encoding is undone before the search, however often it was applied. Where it is doubtful what belongs to a
//! secret, more is hidden.

use std::ops::Range;

/// Text in place of a secret.
pub const HIDDEN: &str = "***";

/// Words that make a key's value a secret, as `auth` does in `auth_token=`, `X-Auth=` and `userAuth=`, but not in `author=`.
const WORDS: [&str; 14] = [
    "apikey",
    "auth",
    "key",
    "loginpas",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "psw",
    "pwd",
    "secret",
    "sig",
    "signature",
    "token",
];
/// Length below which a secret is only replaced where it stands as a word, bytes.
const SHORT: usize = 4;
/// Length of a sentence in which the `@` of an address is sought behind what seems to be its end, bytes.
const MAX_SOUGHT: usize = 256;

/// Secrets of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(Vec<Secret>);

#[derive(Clone, PartialEq, Eq)]
struct Secret {
    /// Place in the text, bytes.
    place: Range<usize>,
    part: Part,
    /// Forms of the secret without percent encoding.
    forms: Vec<Vec<u8>>,
    is_hidden: bool,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {:?}", self.part.words(), self.place)
    }
}

/// Part of an address that is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Name and password, `user:password@`.
    Login,
    /// Value of this key.
    Value(String),
    /// Text behind a `#`.
    Fragment,
}

impl Part {
    fn words(&self) -> String {
        match self {
            Self::Login => "what stands before the @".to_owned(),
            Self::Value(key) => format!("the value of {key}"),
            Self::Fragment => "what follows the #".to_owned(),
        }
    }
}

/// Returns a text with `***` in place of the secrets of the addresses in it. An address ends with a space or a quotation mark.
pub fn hidden(text: &str) -> String {
    let secrets = Secrets::find(&Decoded::of(text), false);
    secrets.replaced(text.as_bytes())
}

/// Returns the words that name a source, with `***` in place of the secrets ([`Secrets::of_words`]).
pub fn hidden_words(words: &str) -> String {
    Secrets::of_words(words).replaced(words.as_bytes())
}

impl Secrets {
    /// Finds the secrets of words that name a source: of an address with all that follows it, of two with a comma between them, and of one
    /// without its scheme, `user:password@10.0.0.5`.
    pub fn of_words(words: &str) -> Self {
        Self::find(&Decoded::of(words), true)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names the secrets in whose place there is `***`; `None` if the words are whole.
    pub fn missing(&self) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        for words in self.0.iter().filter(|secret| secret.is_hidden).map(|secret| secret.part.words()) {
            if !parts.contains(&words) {
                parts.push(words);
            }
        }
        (!parts.is_empty()).then(|| parts.join(" and "))
    }

    /// Removes these secrets from a text, in whatever encoding, and those of other addresses in it.
    pub fn removed_from(&self, text: &str) -> String {
        let decoded = Decoded::of(text);
        let bytes = &decoded.bytes;
        let mut places = Vec::new();
        for form in self.0.iter().filter(|secret| !secret.is_hidden).flat_map(|secret| &secret.forms) {
            let is_word = |at: usize, end: usize| {
                let continues = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
                !continues(at.checked_sub(1).and_then(|before| bytes.get(before))) && !continues(bytes.get(end))
            };
            let mut from = 0;
            while let Some(at) = find(bytes, form, from) {
                from = at + form.len();
                if form.len() >= SHORT || is_word(at, from) {
                    places.push(decoded.place(at..from));
                } else {
                    from = at + 1;
                }
            }
            // a long message is cut anywhere
            let begun = (SHORT..form.len()).rev().find(|&length| bytes.ends_with(&form[..length]));
            places.extend(begun.map(|length| decoded.place(bytes.len() - length..bytes.len())));
        }
        hidden(&replaced(text.as_bytes(), places))
    }

    fn replaced(&self, text: &[u8]) -> String {
        replaced(text, self.0.iter().map(|secret| secret.place.clone()).collect())
    }

    /// Finds the secrets of all addresses in a text, or in words that are one.
    fn find(decoded: &Decoded, are_words: bool) -> Self {
        let bytes = &decoded.bytes;
        let mut secrets = Self::default();
        let Some(mut next) = find_scheme(bytes, 0) else {
            if are_words {
                secrets.add_of_bare_words(decoded);
            }
            return secrets;
        };
        let mut words_end = if are_words { bytes.len() } else { 0 };
        loop {
            let begin = next + SCHEME_END.len();
            if begin > words_end {
                words_end = decoded.end_in_text(begin);
            }
            let end = decoded.end_of_words(begin..words_end);
            secrets.add_of_address(decoded, begin..end);
            match find_scheme(bytes, end) {
                Some(following) => next = following,
                None => return secrets,
            }
        }
    }

    /// Adds the secrets of an address, given from behind `://` to its end.
    fn add_of_address(&mut self, decoded: &Decoded, whole: Range<usize>) {
        let bytes = &decoded.bytes[..whole.end];
        let literal_at = (whole.start..whole.end).rev().find(|&at| decoded.is_literal(at, b'@'));
        // an address may contain another one
        let mut begin = whole.start;
        let mut path = whole.end;
        loop {
            let host_end = end_of_host(bytes, begin);
            let host = &bytes[begin..host_end];
            let may_be_password = |at: &usize| {
                let is_in_query = bytes[begin..*at].iter().any(|byte| b"?#".contains(byte));
                *at < host_end || host.iter().any(|byte| b":@".contains(byte)) || !is_in_query
            };
            let literal = literal_at.filter(|&at| at >= begin).filter(may_be_password);
            // a long message is cut anywhere, also before the @
            let (last, cut) = if has_port(host) { (host_end, None) } else { (whole.end, Some(whole.end)) };
            let encoded = || (begin..last).rev().find(|&at| bytes[at] == b'@');
            let login = begin..literal.or_else(encoded).or(cut).unwrap_or(begin);
            if begin == whole.start {
                path = end_of_host(bytes, login.end);
            }
            let searched = host_end.max(login.end);
            self.add(decoded, login, Part::Login);
            match find(bytes, SCHEME_END, searched) {
                Some(inner) => begin = inner + SCHEME_END.len(),
                None => break,
            }
        }
        self.add_values(decoded, path..whole.end);
    }

    /// Adds the secrets of words without a scheme, unless they are a rig on the network, `zenoh:NAME@ROUTER`, or a path with a drive.
    fn add_of_bare_words(&mut self, decoded: &Decoded) {
        let bytes = &decoded.bytes;
        if bytes.starts_with(b"zenoh:") || matches!(bytes[..], [_, b':', b'\\' | b'/', ..]) {
            return;
        }
        let login = bytes.iter().rposition(|&byte| byte == b'@').filter(|&at| bytes[..at].contains(&b':'));
        self.add(decoded, 0..login.unwrap_or(0), Part::Login);
        if bytes.iter().any(|byte| b"?&".contains(byte)) {
            self.add_values(decoded, end_of_host(bytes, login.unwrap_or(0))..bytes.len());
        }
    }

    /// Adds the values of secret keys, and what follows a `#`.
    fn add_values(&mut self, decoded: &Decoded, part: Range<usize>) {
        let bytes = &decoded.bytes[..part.end];
        let (mut at, mut key) = (part.start, part.start);
        while at < part.end {
            let byte = bytes[at];
            let follows_slash = key > 0 && bytes[key - 1] == b'/';
            let words = || words_of(&bytes[key..at]);
            let is_secret = |word: &String| WORDS.contains(&word.as_str());
            let has_value = match byte {
                b'=' | b':' => words().iter().any(is_secret),
                b'/' => follows_slash && words().last().is_some_and(is_secret), // token/abc
                _ => false,
            };
            if has_value {
                let end = (at + 1..part.end).find(|&end| decoded.is_literal(end, b'&')).unwrap_or(part.end);
                let name = String::from_utf8_lossy(&bytes[key..at]).into_owned();
                self.add(decoded, at + 1..end, Part::Value(name));
                at = end;
            } else if decoded.is_literal(at, b'#') {
                self.add(decoded, at + 1..part.end, Part::Fragment);
            }
            if bytes.get(at).is_some_and(|byte| b"&;,/?#=:\"{( ".contains(byte)) {
                key = at + 1;
            }
            at += 1;
        }
    }

    fn add(&mut self, decoded: &Decoded, range: Range<usize>, part: Part) {
        let Some(whole) = decoded.bytes.get(range.clone()).filter(|bytes| !bytes.is_empty()) else { return };
        let password = match &part {
            Part::Login => whole.iter().position(|&byte| byte == b':').map(|colon| &whole[colon + 1..]),
            Part::Value(_) | Part::Fragment => None,
        };
        // the last part of a login: an address that contains another one has that one's
        let last = if part == Part::Login { whole.rsplit(|byte| b":/".contains(byte)).next() } else { Some(whole) };
        let is_hidden = last == Some(HIDDEN.as_bytes());
        let secret = password.filter(|password| !password.is_empty()).unwrap_or(whole);
        let mut forms = vec![whole.to_vec(), secret.to_vec()];
        if part == Part::Login {
            // where it contains what ends a host, programs take a part of it for the host
            let parts = secret.split(|byte| b"/?#@:, ".contains(byte)).filter(|part| part.len() >= SHORT);
            forms.extend(parts.map(<[u8]>::to_vec));
        }
        let exchanged = |from, to| move |form: &Vec<u8>| form.iter().map(|&b| if b == from { to } else { b }).collect();
        // forms of a browser have + for a space
        let others: Vec<Vec<u8>> =
            forms.iter().map(exchanged(b' ', b'+')).chain(forms.iter().map(exchanged(b'+', b' '))).collect();
        forms.extend(others);
        forms.sort();
        forms.dedup();
        self.0.push(Secret { place: decoded.place(range), part, forms, is_hidden });
    }
}

const SCHEME_END: &[u8] = b"://";

/// Bytes of a text without percent encoding, each with its place in the text.
struct Decoded {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Decoded {
    fn of(text: &str) -> Self {
        let mut decoded = Self { bytes: Vec::with_capacity(text.len()), places: Vec::with_capacity(text.len()) };
        for (at, byte) in text.bytes().enumerate() {
            decoded.bytes.push(byte);
            decoded.places.push(at..at + 1);
            // what is decoded may complete another code
            while let Some((_, &[b'%', high, low])) = decoded.bytes.split_last_chunk::<3>() {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let Some((high, low)) = digit(high).zip(digit(low)) else { break };
                let begin = decoded.bytes.len() - 3;
                let place = decoded.place(begin..begin + 3);
                decoded.bytes.truncate(begin);
                decoded.places.truncate(begin);
                decoded.bytes.push((16 * high + low) as u8); // two digits
                decoded.places.push(place);
            }
        }
        decoded
    }

    /// Returns the place of some bytes in the text.
    fn place(&self, range: Range<usize>) -> Range<usize> {
        self.places[range.start].start..self.places[range.end - 1].end
    }

    /// Returns whether this byte stands in the text without encoding.
    fn is_literal(&self, at: usize, byte: u8) -> bool {
        self.bytes[at] == byte && self.places[at].len() == 1
    }

    /// Returns the end of the first address in words with one or two: a comma and a scheme, or the end. In a secret the comma is encoded.
    fn end_of_words(&self, words: Range<usize>) -> usize {
        let bytes = &self.bytes[..words.end];
        let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
        let mut from = words.start;
        while let Some(next) = find_scheme(bytes, from) {
            let before = bytes[words.start..next].iter().rposition(|byte| !is_scheme(byte));
            let before = before.map_or(words.start, |last| words.start + last + 1);
            let comma = words.start + bytes[words.start..before].trim_ascii_end().len();
            if comma > words.start && self.is_literal(comma - 1, b',') {
                return before - 1;
            }
            from = next + 1;
        }
        words.end
    }

    /// Returns the end of an address that begins here in a sentence.
    fn end_in_text(&self, begin: usize) -> usize {
        let ends = |at: &usize| {
            let byte = self.bytes[*at];
            (byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`<>".contains(&byte))
                && self.is_literal(*at, byte)
        };
        let end_from = |from: usize| {
            let end = (from..self.bytes.len()).find(ends).unwrap_or(self.bytes.len());
            let is_of_sentence = |at: &usize| b".,:;)".contains(&self.bytes[*at]);
            end - (from..end).rev().take_while(is_of_sentence).count()
        };
        let end = end_from(begin);
        let host = &self.bytes[begin..end_of_host(&self.bytes[..end], begin)];
        if has_port(host) || self.bytes[begin..end].contains(&b'@') {
            return end;
        }
        // a password may contain what ends an address
        let rest = self.bytes[end..].iter().take(MAX_SOUGHT).take_while(|&&byte| byte != b'\n');
        rest.enumerate().find(|(_, byte)| **byte == b'@').map_or(end, |(at, _)| end_from(end + at))
    }
}

/// Returns the place of the next `://` behind a scheme.
fn find_scheme(bytes: &[u8], from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let at = find(bytes, SCHEME_END, from)?;
        if at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
            return Some(at);
        }
        from = at + 1;
    }
}

fn end_of_host(bytes: &[u8], begin: usize) -> usize {
    (begin..bytes.len()).find(|&at| b"/?#".contains(&bytes[at])).unwrap_or(bytes.len())
}

/// Returns whether what follows the colon of a host, if there is one, can be a port.
fn has_port(host: &[u8]) -> bool {
    let name = host.iter().rposition(|&byte| byte == b']').map_or(host, |at| &host[at..]);
    let port = name.iter().position(|&byte| byte == b':').map_or(&[][..], |colon| &name[colon + 1..]);
    let digits = port.iter().take_while(|byte| byte.is_ascii_digit()).count();
    port[digits..].iter().all(u8::is_ascii_punctuation) // that of a sentence
}

/// Splits a key into its words in lower case: `accessToken`, `APIToken`, `access-token` and `token_2` have `token`.
fn words_of(key: &[u8]) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, byte) in key.iter().enumerate() {
        let before = at.checked_sub(1).map_or(b'_', |before| key[before]);
        let begins = byte.is_ascii_uppercase()
            && (!before.is_ascii_uppercase() || key.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if begins || !byte.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if byte.is_ascii_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn find(bytes: &[u8], sought: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..).filter(|_| !sought.is_empty())?;
    rest.windows(sought.len()).position(|window| window == sought).map(|at| from + at)
}

/// Returns the text with `***` in these places, which may overlap.
fn replaced(text: &[u8], mut places: Vec<Range<usize>>) -> String {
    places.sort_by_key(|place| (place.start, place.end));
    let mut out = Vec::with_capacity(text.len());
    let mut end = 0;
    for place in places {
        if place.start > end || out.is_empty() {
            out.extend_from_slice(&text[end..place.start]);
            out.extend_from_slice(HIDDEN.as_bytes());
        }
        end = end.max(place.end);
    }
    out.extend_from_slice(&text[end..]);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses with the secret `S3cret+/=x`, and what is shown of them.
    const ADDRESSES: [(&str, &str); 45] = [
        ("rtsp://admin:~@10.0.0.5/1", "rtsp://***@10.0.0.5/1"),
        ("http://~@cam/x", "http://***@cam/x"),
        ("http://:~@cam/x", "http://***@cam/x"),
        ("http://~:@cam/x", "http://***@cam/x"),
        ("http://u:a@~@cam/x", "http://***@cam/x"),
        ("http://u:a:~@cam/x", "http://***@cam/x"),
        ("http://u:a/~@cam:80/x", "http://***@cam:80/x"),
        ("http://u:~/b@cam/x", "http://***@cam/x"),
        ("http://u:~,b@cam/x", "http://***@cam/x"),
        ("http://u:~?#b@cam/x", "http://***@cam/x"),
        ("http://u:1234?~@cam/x", "http://***@cam/x"),
        ("http://~/b@cam/x", "http://***@cam/x"),
        ("http://u:~ b@cam/x", "http://***@cam/x"),
        ("http://u%3A~%40cam/x", "http://***%40cam/x"),
        ("http://u:~@[fe80::1]:80/x", "http://***@[fe80::1]:80/x"),
        ("http://u:~", "http://***"),
        ("http://u:a%2Chttp://~@cam/x", "http://***@cam/x"),
        ("http://cam/x?user=admin&password=~", "http://cam/x?user=admin&password=***"),
        ("http://cam/x?token=~&channel=1", "http://cam/x?token=***&channel=1"),
        (
            "http://cam/user=admin&password=~&channel=1&stream=0.sdp?",
            "http://cam/user=admin&password=***&channel=1&stream=0.sdp?",
        ),
        ("rtsp://cam:554/user=admin_password=~_channel=1.sdp", "rtsp://cam:554/user=admin_password=***"),
        ("srt://cam:1?passphrase=~&pbkeylen=16", "srt://cam:1?passphrase=***&pbkeylen=16"),
        ("http://cam/x;token=~", "http://cam/x;token=***"),
        ("http://cam/x,pwd=~", "http://cam/x,pwd=***"),
        ("http://cam/token=~/1", "http://cam/token=***"),
        ("http://cam/live/auth_token/~/1.ts", "http://cam/live/auth_token/***"),
        ("http://cam/x#~", "http://cam/x#***"),
        ("http://cam/x?a=1#token=~", "http://cam/x?a=1#***"),
        ("http://cam/x?apiKey=~", "http://cam/x?apiKey=***"),
        ("http://cam/x?APIKey=~", "http://cam/x?APIKey=***"),
        ("http://cam/x?access.token=~", "http://cam/x?access.token=***"),
        ("http://cam/x?X-Amz-Signature=~", "http://cam/x?X-Amz-Signature=***"),
        ("http://cam/x?user[password]=~", "http://cam/x?user[password]=***"),
        ("http://cam/x?key2=~", "http://cam/x?key2=***"),
        ("http://cam/x?PASSWORD=~", "http://cam/x?PASSWORD=***"),
        ("http://cam/x?pass%77ord=~", "http://cam/x?pass%77ord=***"),
        ("http://cam/x%3Fpassword%3D~", "http://cam/x%3Fpassword%3D***"),
        ("http://cam/x%253Fpassword%253D~", "http://cam/x%253Fpassword%253D***"),
        ("http://proxy/?url=rtsp://u:~@cam", "http://proxy/?url=rtsp://***@cam"),
        ("http://proxy/?url=rtsp%3A%2F%2Fu%3A~%40cam", "http://proxy/?url=rtsp%3A%2F%2F***%40cam"),
        ("rtmps://u:~@cam/x", "rtmps://***@cam/x"),
        ("http://u:~@cam/x,http://u:~@cam/y", "http://***@cam/x,http://***@cam/y"),
        ("http://cam/x?key=~,rtsp://b/y", "http://cam/x?key=***,rtsp://b/y"),
        ("user:~@10.0.0.5/x", "***@10.0.0.5/x"),
        ("10.0.0.5/x?user=a&pwd=~", "10.0.0.5/x?user=a&pwd=***"),
    ];
    const SECRET: &str = "S3cret+/=x";

    #[test]
    fn hides_secrets_wherever_they_stand_in_an_address() {
        for (words, shown) in ADDRESSES {
            let words = words.replace('~', SECRET);
            assert_eq!(hidden_words(&words), shown, "{words}");
            assert_eq!(hidden_words(shown), shown, "what is shown stays");
            let missing = [&*words, shown].map(|words| Secrets::of_words(words).missing().is_some());
            assert_eq!(missing, [false, !["http://***", "***@10.0.0.5/x"].contains(&shown)], "{words}");
        }
        assert_eq!(
            Secrets::of_words("http://cam/x://***@other").missing().unwrap(),
            "what stands before the @",
            "an address in another one"
        );
        assert_eq!(
            Secrets::of_words("http://a:***@cam/x?token=***&apiKey=***").missing().unwrap(),
            "what stands before the @ and the value of token and the value of apiKey"
        );
    }

    #[test]
    fn leaves_addresses_without_secrets_and_other_words_as_they_are() {
        for words in [
            "rtsp://10.0.0.5:554/stream1",
            "http://cam:8080/video?user=admin&channel=1",
            "http://cam/x?author=a&keyframe=2&design=3&monkey=4&tokens=5&passive=6",
            "http://key/x",
            "http://auth.example.org/keys/1",
            "http://cam/x?mail=a@b.org",
            "udp://@239.0.0.1:1234",
            "rtsp://[fe80::1]:554/x",
            "rtsp://a/x,rtsp://b/y",
            "zenoh:pi@192.168.1.5:7447",
            "C:\\a@b\\left.png",
            "key=3/left.png,key=3/right.png",
            "a@b.png",
            "scene",
            "",
            "://",
        ] {
            assert_eq!((hidden_words(words).as_str(), Secrets::of_words(words).missing()), (words, None));
        }
    }

    #[test]
    fn removes_secrets_from_messages_in_every_encoding() {
        // where these end is doubtful
        let is_doubtful = |words: &str| ["~_", "~/1"].iter().any(|end| words.contains(end));
        for (words, _) in ADDRESSES.iter().filter(|(words, _)| !is_doubtful(words)) {
            let words = words.replace('~', SECRET);
            let secrets = Secrets::of_words(&words);
            for said in [
                format!("[tcp @ 0x1] {words}: 401 Unauthorized"),
                format!("Error opening input file {words}."),
                format!("'{words}'"),
                format!("wrong: {SECRET}"),
                "wrong: S3cret%2B%2f%3Dx or S3cret%2B/=x or S3cret%252B%252F%253Dx or S3cret /=x".to_owned(),
                words[..words.find(SECRET).unwrap() + 6].to_owned(),
            ] {
                let shown = secrets.removed_from(&said);
                assert!(!shown.contains("S3cre") && shown.contains(HIDDEN), "{words}: {said}: {shown}");
            }
            assert_eq!(secrets.removed_from("frame 7 is damaged"), "frame 7 is damaged", "{words}");
        }
        let short = Secrets::of_words("rtsp://u:ab@cam/x");
        assert_eq!(short.removed_from("'ab' is about wrong at rtsp://cab"), "'***' is about wrong at rtsp://cab");
        assert_eq!(Secrets::of_words("rtsp://u:***@cam").removed_from("a *** b"), "a *** b");
    }

    #[test]
    fn hides_addresses_in_sentences() {
        for (text, shown) in [
            ("moved to http://cam/y?sid=1&token=abc: 401", "moved to http://cam/y?sid=1&token=***: 401"),
            ("{\"url\":\"rtsp://u:p@cam/x\",\"n\":1}", "{\"url\":\"rtsp://***@cam/x\",\"n\":1}"),
            ("http://u:p@a/x, http://u:p@b/y: 2", "http://***@a/x, http://***@b/y: 2"),
            ("'http://u:it's mine@cam/x' ended", "'http://***@cam/x' ended"),
            ("cut at rtsp://admin:pass", "cut at rtsp://***"),
            (
                "http://a/x and b@c.org; see https://example.org:80.",
                "http://a/x and b@c.org; see https://example.org:80.",
            ),
            ("tcp://127.0.0.1:1?timeout=0 failed", "tcp://127.0.0.1:1?timeout=0 failed"),
            ("größer: http://größe:ü@kamera/ä", "größer: http://***@kamera/ä"),
        ] {
            assert_eq!(hidden(text), shown);
        }
    }

    #[test]
    fn shows_no_secret_in_any_surroundings() {
        let mut random = fastrand::Rng::with_seed(3);
        let parts = [
            "://", "@", ":", "/", "?", "#", "&", "=", "%", "%40", "%25", "%ff", "key", "a", "ä", " ", "'", ",",
            "http://", "***",
        ];
        let mut some = || (0..random.usize(..9)).map(|_| parts[random.usize(..parts.len())]).collect::<String>();
        for _ in 0..10_000 {
            for part in ["http://cam/x?token=S3cret&", "http://u:S3cret@cam"] {
                let words = format!("{}{part}{}", some(), some());
                let secrets = Secrets::of_words(&words);
                for shown in [hidden_words(&words), secrets.removed_from(&words), hidden(&words)] {
                    assert!(!shown.contains("S3cret"), "{words}: {shown}");
                }
            }
        }
    }
}
