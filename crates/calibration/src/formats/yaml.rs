//! YAML and JSON as a tree, including OpenCV's dialect.

use super::error::{KeyError, LineError, LineFault};
use super::tree::{MAX_DEPTH, MAX_KEYS, Node, check_key};
use yaml_rust2::parser::{Event, Parser};

/// Parses a text; keys of several documents form one map.
pub(super) fn parse(text: &str) -> Result<Node, LineError> {
    let text = plain_yaml(text);
    let mut builder = Builder { parser: Parser::new_from_str(&text), line: 0 };
    let mut all: Vec<(String, Node)> = Vec::new();
    loop {
        match builder.next()? {
            Event::StreamEnd => return Ok(Node::Map(all)),
            Event::StreamStart | Event::DocumentStart | Event::DocumentEnd | Event::Nothing => {}
            event => {
                if let Node::Map(entries) = builder.node(event, 0)? {
                    if all.len() + entries.len() > MAX_KEYS {
                        return builder.error(KeyError::TooMany);
                    }
                    for (key, node) in entries {
                        if !all.iter().any(|(known, _)| *known == key) {
                            all.push((key, node));
                        }
                    }
                }
            }
        }
    }
}

/// Whether a text begins like YAML or JSON, so that an error is one of syntax.
pub(super) fn begins(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.take(1).any(|line| {
        let is_key = |key: &str| !key.is_empty() && !key.contains(['=', '[', '<']);
        line.starts_with(['{', '%', '-']) || line.split_once(':').is_some_and(|(key, _)| is_key(key))
    })
}

/// Converts OpenCV's dialect to YAML: `%YAML:1.0` is no directive, and some writers omit the space after a colon.
fn plain_yaml(text: &str) -> String {
    let line = |line: &str| if line.starts_with('%') { String::new() } else { line.replace(":[", ": [") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

struct Builder<'a> {
    parser: Parser<std::str::Chars<'a>>,
    line: usize,
}

impl Builder<'_> {
    fn next(&mut self) -> Result<Event, LineError> {
        let (event, marker) =
            self.parser.next_token().map_err(|e| LineFault::Yaml(e.info().to_owned()).at(e.marker().line()))?;
        self.line = marker.line();
        Ok(event)
    }

    fn error<T>(&self, fault: impl Into<LineFault>) -> Result<T, LineError> {
        Err(fault.into().at(self.line))
    }

    fn node(&mut self, event: Event, depth: usize) -> Result<Node, LineError> {
        if depth > MAX_DEPTH {
            return self.error(LineFault::TooDeep);
        }
        match event {
            Event::Scalar(text, ..) => Ok(Node::Word(text)),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => return Ok(Node::List(items)),
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut entries: Vec<(String, Node)> = Vec::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => return Ok(Node::Map(entries)),
                        Event::Scalar(key, ..) => key,
                        _ => return self.error(LineFault::KeyNoWord),
                    };
                    check_key(&entries, &key).or_else(|err| self.error(err))?;
                    let value = self.next()?;
                    entries.push((key, self.node(value, depth + 1)?));
                }
            }
            Event::Alias(_) => self.error(LineFault::Alias),
            _ => self.error(LineFault::Incomplete),
        }
    }
}

/// Formats numbers exactly. PyYAML, which ROS and Kalibr use, reads a number with an exponent as text unless it has a point and the
/// exponent a sign.
pub(crate) fn list(numbers: &[f64]) -> String {
    let number = |v: &f64| {
        let text = format!("{v:?}");
        let Some((digits, exponent)) = text.split_once('e') else { return text };
        let point = if digits.contains('.') { "" } else { ".0" };
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        format!("{digits}{point}e{sign}{exponent}")
    };
    format!("[{}]", numbers.iter().map(number).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opencv_matrices_lists_rows_and_groups_are_found() {
        let found = parse(
            "%YAML:1.0\n---\nA: !!opencv-matrix\n   rows: 1\n   cols: 2\n   dt: d\n   data:[ 1., -2.5e-3 ]\n\
             left:\n  B: [[1, 2], [3, .Nan]]\nsize: [ 640, 480 ]\nimage_width: 640\nmodel: fisheye\n",
        )
        .unwrap();
        let a = found.get(&["A"]).unwrap().matrix("A").unwrap();
        assert_eq!((a.shape, a.data), (Some((1, 2)), vec![1.0, -0.0025]));
        let b = found.get(&["left"]).unwrap().get(&["B"]).unwrap().matrix("B").unwrap();
        assert_eq!(b.shape, Some((2, 2)));
        assert!(b.data[3].is_nan());
        assert_eq!(found.get(&["size"]).unwrap().matrix("size").unwrap().data, [640.0, 480.0]);
        assert_eq!(found.get(&["image_width"]).unwrap().number(), Some(640.0));
        assert_eq!(found.get(&["model"]).unwrap().word(), Some("fisheye"));
    }

    #[test]
    fn json_is_read_too() {
        let found =
            parse("{\n\t\"K1\": { \"type_id\": \"opencv-matrix\", \"rows\": 1, \"cols\": 1, \"data\": [ 7.5 ] } }")
                .unwrap();
        assert_eq!(found.get(&["K1"]).unwrap().matrix("K1").unwrap().data, [7.5]);
    }

    #[test]
    fn what_cannot_be_says_its_line() {
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        assert!(refused("a: [1, 2\nb: }").contains("line 2"));
        let text = refused("K1: 1\nK2: 2\nK1: 3\n");
        assert!(text.contains("line 3") && text.contains("K1 is there twice"), "{text}");
        assert!(refused("a: &x [1]\nb: *x\n").contains("aliases"));
        assert!(refused(&"[".repeat(100_000)).contains("ecursion limit"), "{}", refused(&"[".repeat(100_000)));
        let many = (0..5000).map(|i| format!("k{i}: 1\n")).collect::<Vec<_>>().concat();
        assert!(refused(&many).contains("more keys") && refused(&many.replace('\n', "\n---\n")).contains("more keys"));
        assert!(refused(&"- ".repeat(100_000)).contains("nested too deep"));
        assert!(refused(&format!("{}: 1\n", "k".repeat(200))).contains("more than those of any calibration"));
        assert!(refused("\"\\u001b[2J\": 1\n\"\\u001b[2J\": 1\n").contains("the key \\u{1b}[2J is there twice"));
    }
}
