//! Permutations of a shader: its text, with the files that it includes, for one choice of values.
//!
//! WGSL has neither generics nor arrays of bindings. So a file may have directives, each on a line of its own:
//! - `#include STEM` stands for another file.
//! - `#if NAME` or `#if NAME == VALUE`, perhaps `#else`, and `#end` enclose lines that only some permutations have. Without a value,
//!   the name has to be `true`.
//! - `#for NAME in FIRST..END` and `#end` enclose lines that are repeated for each number.
//!
//! In other lines and in stems `#{NAME}` is a value, and `#{NAME - 1}` the number before it. `@binding(#)` is the next binding.

use std::fmt::Display;

/// Returns the text of the file `stem.wgsl` with these values of the names that it and its included files have.
///
/// # Panics
/// There is no such file, or a directive is wrong or names something without a value: a mistake in the shader.
pub fn source(stem: &str, values: &[(&'static str, &dyn Display)]) -> String {
    let values = values.iter().map(|(name, value)| (*name, value.to_string())).collect();
    let mut writer = Writer { values, text: String::new() };
    writer.include(stem);
    writer.text
}

struct Writer {
    /// Names and their values; the last one of a name counts.
    values: Vec<(&'static str, String)>,
    text: String,
}

impl Writer {
    fn include(&mut self, stem: &str) {
        self.write(&super::text(stem).lines().collect::<Vec<_>>());
    }

    fn write(&mut self, mut lines: &[&'static str]) {
        while let [line, rest @ ..] = lines {
            lines = rest;
            let (directive, argument) = line.split_once(' ').unwrap_or((line, ""));
            match directive {
                "#include" => self.include(&self.filled(argument)),
                "#if" => {
                    let (name, wanted) = argument.split_once(" == ").unwrap_or((argument, "true"));
                    let [then, otherwise, rest] = split_block(lines);
                    self.write(if self.value(name) == wanted { then } else { otherwise });
                    lines = rest;
                }
                "#for" => {
                    let (name, range) = argument.split_once(" in ").expect("#for NAME in FIRST..END");
                    let (first, end) = range.split_once("..").expect("#for NAME in FIRST..END");
                    let [body, _, rest] = split_block(lines);
                    for number in self.number(first)..self.number(end) {
                        self.values.push((name, number.to_string()));
                        self.write(body);
                        self.values.pop();
                    }
                    lines = rest;
                }
                _ => {
                    let mut line = self.filled(line);
                    if line.contains("@binding(#)") {
                        let next = self.text.matches("@binding(").count();
                        line = line.replace("@binding(#)", &format!("@binding({next})"));
                    }
                    self.text.extend([line.as_str(), "\n"]);
                }
            }
        }
    }

    fn filled(&self, line: &str) -> String {
        let mut parts = line.split("#{");
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (expression, rest) = part.split_once('}').expect("#{NAME}");
            filled.extend([&self.value(expression), rest]);
        }
        filled
    }

    fn value(&self, expression: &str) -> String {
        if let Some((name, less)) = expression.split_once(" - ") {
            return (self.number(name) - self.number(less)).to_string();
        }
        let found = self.values.iter().rev().find(|(name, _)| *name == expression);
        found.map_or_else(|| panic!("{expression} has no value"), |(_, value)| value.clone())
    }

    fn number(&self, expression: &str) -> u32 {
        expression.parse().or_else(|_| self.value(expression).parse()).expect("a number")
    }
}

/// Splits the lines behind `#if` or `#for` into those of the block, those behind its `#else`, and those behind its `#end`.
fn split_block<'a>(lines: &'a [&'static str]) -> [&'a [&'static str]; 3] {
    let mut depth = 0;
    let mut middle = None;
    for (at, line) in lines.iter().enumerate() {
        match line.split(' ').next().unwrap_or_default() {
            "#if" | "#for" => depth += 1,
            "#else" if depth == 0 => middle = Some(at),
            "#end" if depth == 0 => {
                let otherwise = middle.map_or(&[][..], |middle| &lines[middle + 1..at]);
                return [&lines[..middle.unwrap_or(at)], otherwise, &lines[at + 1..]];
            }
            "#end" => depth -= 1,
            _ => {}
        }
    }
    panic!("a block without #end")
}

#[cfg(test)]
mod tests {
    use super::Writer;

    fn written(text: &'static str) -> String {
        let values = [("COUNT", "3"), ("ON", "true"), ("OFF", "false"), ("KIND", "b")];
        let values = values.map(|(name, value)| (name, value.to_owned())).into();
        let mut writer = Writer { values, text: String::new() };
        writer.write(&text.lines().collect::<Vec<_>>());
        writer.text
    }

    #[test]
    fn directives_choose_and_repeat_lines() {
        assert_eq!(
            written("#for i in 1..COUNT\n@binding(#) a_#{i} b_#{i - 1}\n#end"),
            "@binding(0) a_1 b_0\n@binding(1) a_2 b_1\n"
        );
        assert_eq!(written("#for i in 0..COUNT - 3\nx\n#end\nz"), "z\n");
        let nested = "#if OFF\n#if ON\na\n#else\nb\n#end\n#else\n#if KIND == b\nc\n#end\n#if KIND == a\nd\n#end\n#end";
        assert_eq!(written(nested), "c\n");
        let lines = written("#include cost/code_#{COUNT - 1}").lines().count();
        assert_eq!(lines, super::super::text("cost/code_2").lines().count());
    }

    #[test]
    #[should_panic(expected = "WORDS has no value")]
    fn name_without_a_value_is_a_mistake() {
        written("#{WORDS}");
    }
}
