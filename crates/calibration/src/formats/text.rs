//! Encoding of a calibration's text: UTF-8, UTF-16 as written by editors of Windows, or Latin-1.

use std::borrow::Cow;

/// Decodes the text of a file; `None` for binary data.
pub(super) fn decoded(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if is_utf16(bytes) {
        return utf16(bytes).map(Cow::Owned);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Cow::Borrowed(text));
    }
    // numbers and their names are ASCII; a comment in another code page is read as Latin-1
    let is_text = !bytes.iter().any(|&byte| is_control(byte));
    is_text.then(|| Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()))
}

/// Whether bytes are UTF-16: they begin with its mark, or every other byte is 0.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, b, 0, d, ..] | [b, 0, d, 0, ..] => *b != 0 && *d != 0,
        _ => false,
    }
}

fn utf16(bytes: &[u8]) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let is_big = matches!(bytes, [0xfe, 0xff, ..]) || bytes.first() == Some(&0);
    let units = pairs.iter().map(|pair| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) });
    let text: Option<String> = char::decode_utf16(units).collect::<Result<_, _>>().ok();
    text.filter(|_| rest.is_empty()).map(|text| text.trim_start_matches('\u{feff}').to_owned())
}

/// Whether a byte occurs in no text: a control character other than white space.
fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_all_editors_are_read() {
        let text = "%YAML:1.0\n# Größe in µm\n";
        let units = || text.encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        let latin1: Vec<u8> = text.chars().map(|c| c as u8).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [&[0xff, 0xfe], &little[..]].concat(),
            [&[0xfe, 0xff], &big[..]].concat(),
            little,
            big,
            latin1,
        ] {
            assert_eq!(decoded(&bytes).as_deref(), Some(text), "{bytes:?}");
        }
    }

    #[test]
    fn other_bytes_are_no_text() {
        for bytes in [&b"\x80\x00\x00\x01"[..], b"K1\xff\x01", b"\xff\xfeK", b"\xff\xfe\x00\xd8K\x00"] {
            assert_eq!(decoded(bytes), None, "{bytes:?}");
        }
        assert_eq!(decoded(b"").as_deref(), Some(""));
    }
}
