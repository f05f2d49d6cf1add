//! The `use` lines and the inline paths of one file, outside of its tests.

use crate::tidy::Source;
use crate::tidy::lexer::is_word;

/// A path as written, with `use` trees flattened.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// Offset in the file.
    pub(super) at: usize,
    pub(super) segments: Vec<String>,
    /// True if the path is in the code, not on a `use` line.
    pub(super) is_inline: bool,
}

/// A name that a `use` line brings into its module.
#[derive(Debug, Clone)]
pub(super) struct Imported {
    /// The name of the item in the importing module; `*` for all names of a module.
    pub(super) name: String,
    pub(super) path: Written,
    /// True for `pub use` with any visibility, which re-exports a name and is not an import.
    pub(super) is_public: bool,
}

/// All paths that one file imports or uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) names: Vec<Imported>,
    inline: Vec<Written>,
}

impl Uses {
    pub(super) fn of(source: &Source) -> Self {
        let code = &source.masked.code;
        let mut uses = Self::default();
        let mut end_of_use = 0;
        for (at, word) in source.words() {
            if source.is_test_code(at) || at < end_of_use {
                continue;
            }
            if word == "use" && !preceded_by_path(code, at) {
                let end = code[at..].find(';').map_or(code.len(), |length| at + length);
                let is_public = is_public(code, at);
                Tree::new(code, at + "use".len(), end).read(&[], &mut |name, path| {
                    uses.names.push(Imported { name, path, is_public });
                });
                end_of_use = end;
            } else if !preceded_by_path(code, at) && code[at + word.len()..].starts_with("::") {
                uses.inline.push(Written { at, segments: inline(code, at), is_inline: true });
            }
        }
        uses
    }

    /// The imports that count: private `use` lines and inline paths.
    pub(super) fn imports(&self) -> impl Iterator<Item = &Written> {
        let named = self.names.iter().filter(|it| !it.is_public).map(|it| &it.path);
        named.chain(&self.inline)
    }
}

/// Returns true if the word follows `::` (so it is a later segment) or `.` (so it is a method with type arguments).
fn preceded_by_path(code: &str, at: usize) -> bool {
    let before = code[..at].trim_end();
    before.ends_with("::") || (before.ends_with('.') && !before.ends_with(".."))
}

fn is_public(code: &str, at: usize) -> bool {
    let before = code[..at].trim_end();
    let before = match before.strip_suffix(')') {
        Some(inner) => inner.rfind('(').map_or("", |open| inner[..open].trim_end()),
        None => before,
    };
    before.ends_with("pub") && !before[..before.len() - 3].ends_with(|it: char| is_word(it as u8))
}

fn inline(code: &str, mut at: usize) -> Vec<String> {
    let mut segments = Vec::new();
    loop {
        let length = code[at..].bytes().take_while(|byte| is_word(*byte)).count();
        if length == 0 {
            return segments;
        }
        segments.push(code[at..at + length].to_owned());
        at += length;
        if !code[at..].starts_with("::") {
            return segments;
        }
        at += 2;
    }
}

/// A parser of one `use` line.
struct Tree<'a> {
    tokens: Vec<(usize, &'a str)>,
    next: usize,
}

impl<'a> Tree<'a> {
    /// Parses the text between `use` and its semicolon.
    fn new(code: &'a str, from: usize, end: usize) -> Self {
        let mut tokens = Vec::new();
        let mut at = from;
        while at < end {
            let rest = &code[at..end];
            let length = match rest.bytes().take_while(|byte| is_word(*byte)).count() {
                0 if rest.starts_with("::") => 2,
                0 => 1,
                word => word,
            };
            if !rest.starts_with(char::is_whitespace) {
                tokens.push((at, &rest[..length]));
            }
            at += length;
        }
        Self { tokens, next: 0 }
    }

    fn take(&mut self) -> Option<(usize, &'a str)> {
        let token = self.tokens.get(self.next).copied();
        self.next += 1;
        token
    }

    fn skip(&mut self, expected: &str) -> bool {
        let found = self.tokens.get(self.next).is_some_and(|(_, token)| *token == expected);
        self.next += usize::from(found);
        found
    }

    fn read(&mut self, prefix: &[String], found: &mut impl FnMut(String, Written)) {
        let mut path = prefix.to_vec();
        while let Some((at, token)) = self.take() {
            match token {
                "{" => {
                    while self.next < self.tokens.len() && !self.skip("}") {
                        self.read(&path, found);
                        self.skip(",");
                    }
                    return;
                }
                "*" => return found("*".to_owned(), Written { at, segments: path, is_inline: false }),
                // This is the module in front of the braces itself.
                "self" if !prefix.is_empty() && path.len() == prefix.len() => {}
                word => path.push(word.to_owned()),
            }
            if self.skip("::") {
                continue;
            }
            let alias = self.skip("as").then(|| self.take()).flatten().map(|(_, name)| name.to_owned());
            if let Some(name) = alias.or_else(|| path.last().cloned()) {
                found(name, Written { at, segments: path, is_inline: false });
            }
            return;
        }
    }
}
