//! Matrices that OpenCV's `FileStorage` encodes in base64 (`WRITE_BASE64`): a header of 24 bytes with the type of the elements, such as
//! `1d`, then the elements, little-endian.

const HEADER_BYTES: usize = 24;
/// Prefix of the data in JSON.
const JSON_MARK: &str = "$base64$";

/// Decodes the elements; `None` if the text is no such data, or truncated.
pub(super) fn numbers(text: &str) -> Option<Vec<f64>> {
    let text = text.trim();
    let bytes = bytes(text.strip_prefix(JSON_MARK).unwrap_or(text))?;
    let (header, data) = bytes.split_at_checked(HEADER_BYTES)?;
    let kind = std::str::from_utf8(header).ok()?.trim().trim_start_matches(|c: char| c.is_ascii_digit());
    match kind {
        "u" => elements(data, |[byte]: [u8; 1]| byte.into()),
        "c" => elements(data, |bytes| i8::from_le_bytes(bytes).into()),
        "w" => elements(data, |bytes| u16::from_le_bytes(bytes).into()),
        "s" => elements(data, |bytes| i16::from_le_bytes(bytes).into()),
        "i" => elements(data, |bytes| i32::from_le_bytes(bytes).into()),
        "f" => elements(data, |bytes| f32::from_le_bytes(bytes).into()),
        "d" => elements(data, f64::from_le_bytes),
        _ => None,
    }
}

fn elements<const N: usize>(data: &[u8], number: impl Fn([u8; N]) -> f64) -> Option<Vec<f64>> {
    let (elements, rest) = data.as_chunks::<N>();
    rest.is_empty().then(|| elements.iter().map(|bytes| number(*bytes)).collect())
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let padding = digits.iter().rev().take_while(|&&digit| digit == b'=').count();
    if digits.is_empty() || !digits.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let (digits, _) = digits.split_at(digits.len() - padding);
    let mut bytes = Vec::with_capacity(digits.len());
    for four in digits.chunks(4) {
        let mut values = (0..4).map(|i| four.get(i).map_or(Some(0), |digit| value(*digit)));
        let [_, upper @ ..] = values.try_fold(0, |bits, value| Some(bits << 6 | value?)).map(u32::to_be_bytes)?;
        bytes.extend(upper);
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // written by OpenCV 5.0.0: cv2.FileStorage(name, FILE_STORAGE_WRITE | FILE_STORAGE_WRITE_BASE64)
    #[test]
    fn elements_of_opencv_come_back() {
        let header = "ICAgICAgICAgICAgICAgICAgICAg";
        assert_eq!(numbers(&format!("MWYg{header}AADAPwAAAEAAAEBA")), Some(vec![1.5, 2.0, 3.0]));
        assert_eq!(numbers(&format!("$base64$MWkg{header}AQAAAP7///8DAAAA")), Some(vec![1.0, -2.0, 3.0]));
        let lines = format!("\n  MmQg{header}AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n  AAAAAAAAAAA=\n");
        assert_eq!(numbers(&lines), Some(vec![0.0; 4]));
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_none() {
        let header = "ICAgICAgICAgICAgICAgICAgICAg";
        for text in ["", "MWYg", "just words", "MWYg====", "MW=gMWYg"] {
            assert_eq!(numbers(text), None, "{text}");
        }
        assert_eq!(numbers(&format!("MWYg{header}AADAPwAA")), None, "half an element");
        assert_eq!(numbers(&format!("MnVk{header}AADAPwAA")), None, "elements of several types");
    }
}
