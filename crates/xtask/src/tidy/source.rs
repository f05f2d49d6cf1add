//! One Rust file as the rules see it: masked code, lines, functions, and the ranges that are tests.

use super::lexer::{Masked, is_word, mask};
use std::ops::Range;

/// A Rust file with the data that the rules need.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path, relative to the top of the checkout, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) masked: Masked,
    lines: Vec<usize>,
    tests: Vec<Range<usize>>,
    whole_is_test: bool,
    /// True in the crates that are not part of the product.
    is_tool: bool,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let masked = mask(text);
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let tests = test_items(&masked.code).into_iter().map(|item| item.span).collect();
        let whole_is_test = path.ends_with("/tests.rs")
            || path.ends_with("_tests.rs")
            || ["/tests/", "/benches/", "/examples/"].iter().any(|part| path.contains(part));
        let is_tool = ["crates/testkit/", "crates/xtask/"].iter().any(|part| path.starts_with(part));
        Self { path: path.to_owned(), text: text.to_owned(), masked, lines, tests, whole_is_test, is_tool }
    }

    /// Marks the whole file as a test; used if another file includes this one by `#[cfg(test)] mod`.
    pub(crate) fn mark_as_test(&mut self) {
        self.whole_is_test = true;
    }

    /// The names of the modules that this file includes only for tests and that are in separate files.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        test_items(&self.masked.code).into_iter().filter_map(|item| item.file_module).collect()
    }

    /// The crate's folder name: `proto` for `crates/proto/src/lib.rs`.
    pub(crate) fn krate(&self) -> &str {
        self.path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or("")
    }

    /// The line (from 1) of a byte offset.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// The number of lines.
    pub(crate) fn length(&self) -> usize {
        self.text.lines().count()
    }

    /// Returns true if the offset is in code that is not part of the product: tests, and the crates of tools.
    pub(crate) fn is_test(&self, at: usize) -> bool {
        self.is_tool || self.is_test_code(at)
    }

    /// Returns true if the offset is in code that is compiled only for tests.
    pub(crate) fn is_test_code(&self, at: usize) -> bool {
        self.whole_is_test || self.tests.iter().any(|range| range.contains(&at))
    }

    /// The words of the code (names, keywords, numbers) with their offsets.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        words(&self.masked.code)
    }

    /// The code after an offset, without leading blanks.
    pub(crate) fn after(&self, at: usize) -> &str {
        self.masked.code.get(at..).unwrap_or("").trim_start()
    }

    /// Every function that has a body, in order, including nested ones.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let code = &self.masked.code;
        let mut found = Vec::new();
        for (at, word) in self.words() {
            if word != "fn" {
                continue;
            }
            let Some((name_at, name)) = words(&code[at + 2..]).next() else { continue };
            if !code[at + 2..at + 2 + name_at].trim().is_empty() {
                continue; // a function type or a macro's placeholder
            }
            if let Some(Range { end, .. }) = body(code, at) {
                found.push(Function {
                    name: name.to_owned(),
                    first_line: self.line(at),
                    last_line: self.line(end - 1),
                });
            }
        }
        found
    }
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = code.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_word(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        (start < at).then(|| (start, &code[start..at]))
    })
}

/// The braces of the item that starts at `at`; none if it ends with `;`.
fn body(code: &str, at: usize) -> Option<Range<usize>> {
    let mut nested = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => nested += 1,
            b')' | b']' => nested = nested.saturating_sub(1),
            b'{' if nested == 0 => return Some(offset..closing(code, offset)),
            b';' if nested == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The offset just past the brace that closes the one at `open`.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return offset + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

struct TestItem {
    span: Range<usize>,
    file_module: Option<String>,
}

/// The items under `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn test_items(code: &str) -> Vec<TestItem> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("#[cfg(") {
        let attribute_end = code[at..].find(']').map_or(code.len(), |end| at + end + 1);
        let condition = &code[at + 6..attribute_end];
        if !words(condition).any(|(_, word)| word == "test")
            || words(condition).any(|(_, word)| word == "not")
        {
            continue;
        }
        let end = body(code, attribute_end)
            .map(|braces| braces.end)
            .or_else(|| code[attribute_end..].find(';').map(|end| attribute_end + end + 1))
            .unwrap_or(code.len());
        let item = &code[attribute_end..end];
        let mut names = words(item).skip_while(|(_, word)| *word != "mod").skip(1);
        let file_module = (item.ends_with(';') && words(item).any(|(_, word)| word == "mod"))
            .then(|| names.next().map(|(_, name)| name.to_owned()))
            .flatten();
        found.push(TestItem { span: at..end, file_module });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Function, Source};

    fn functions(text: &str) -> Vec<(String, usize, usize)> {
        let source = Source::new("crates/proto/src/a.rs", text);
        source
            .functions()
            .into_iter()
            .map(|Function { name, first_line, last_line }| (name, first_line, last_line))
            .collect()
    }

    #[test]
    fn a_function_runs_from_fn_to_its_closing_brace() {
        let text =
            "fn a(x: [u8; 4]) -> [u8; 2] {\n  let s = \"}\"; // }\n  '}';\n  r#\"}\"#;\n}\nfn b() {}\n";
        assert_eq!(functions(text), [("a".into(), 1, 5), ("b".into(), 6, 6)]);
    }

    #[test]
    fn declarations_types_and_placeholders_are_no_functions() {
        assert_eq!(
            functions(
                "trait T { fn a(&self); }\ntype F = fn(u8) -> u8;\nmacro_rules! m { () => { fn $n() {} } }"
            ),
            []
        );
        assert_eq!(functions("fn r#type() {\n}"), [("type".into(), 1, 2)]);
    }

    #[test]
    fn nested_functions_are_counted_too() {
        assert_eq!(functions("fn a() {\n fn b() {\n }\n}"), [("a".into(), 1, 4), ("b".into(), 2, 3)]);
    }

    #[test]
    fn tests_are_told_from_the_rest() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\n#[cfg(test)]\nmod odd;\n#[cfg(not(test))]\nfn c() {}\n";
        let source = Source::new("crates/proto/src/a.rs", text);
        let at = |needle| text.find(needle).expect("in the sample");
        assert!(!source.is_test(at("fn a")));
        assert!(source.is_test(at("fn b")));
        assert!(!source.is_test(at("fn c")));
        assert_eq!(source.test_modules(), ["odd"]);
        assert!(Source::new("crates/proto/src/x/tests.rs", "fn a() {}").is_test(0));
        assert!(Source::new("crates/server/tests/e2e.rs", "fn a() {}").is_test(0));
    }
}
