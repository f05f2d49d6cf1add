//! The corpus: messages in files, with marked spans that differ between the two sides of the gateway.
//!
//! A file contains messages under lines `== title | note`; its first lines, which begin with `#`, describe it. A span is
//! marked as `«id»`, `«name»`, `«token»` (progress), `«state»`, `«request»` (the ID in a notification) or `«uri»`.
//! `«retry»` marks the position of a member `requestState`, and `«envelope»` that of a stateless request's metadata.

use std::path::Path;

/// One message of the corpus.
#[derive(Clone)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// The method of the message, or the one that it answers.
    pub(crate) note: String,
    pub(crate) text: String,
}

/// The messages of `corpus/FOLDER/FILE.txt`.
pub(crate) fn sections(folder: &str, file: &str) -> Vec<Section> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let path = root.join(folder).join(file).with_extension("txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut found = Vec::new();
    for part in text.trim_start_matches("== ").split("\n== ").filter(|part| !part.starts_with('#')) {
        let (head, body) = part.split_once('\n').expect("a message under its title");
        let (title, note) = head.split_once(" | ").unwrap_or((head, ""));
        let body = body.strip_suffix('\n').unwrap_or(body);
        found.push(Section {
            title: format!("{folder}/{file}: {title}"),
            note: note.into(),
            text: body.into(),
        });
    }
    assert!(!found.is_empty(), "{} holds no messages", path.display());
    found
}

/// A message with its spans.
pub(crate) struct Template {
    title: String,
    /// The texts around the spans: one more than there are spans.
    around: Vec<String>,
    spans: Vec<String>,
}

impl Template {
    /// Reads a section.
    pub(crate) fn new(section: &Section) -> Self {
        Self::of(&section.title, &section.text)
    }

    /// Reads a text with marks.
    pub(crate) fn of(title: &str, text: &str) -> Self {
        let mut pieces = text.split('«');
        let mut around = vec![pieces.next().unwrap_or_default().to_owned()];
        let mut spans = Vec::new();
        for piece in pieces {
            let (span, rest) = piece.split_once('»').expect("a mark that ends");
            spans.push(span.to_owned());
            around.push(rest.to_owned());
        }
        Self { title: title.to_owned(), around, spans }
    }

    /// The same message over a pipe, where a line break inside a message becomes a space.
    pub(crate) fn on_one_line(mut self, pipe: bool) -> Self {
        if pipe {
            self.around.iter_mut().for_each(|text| *text = text.replace('\n', " "));
        }
        self
    }

    /// The message with these texts in its spans.
    pub(crate) fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut out = self.around[0].clone();
        for (span, rest) in self.spans.iter().zip(&self.around[1..]) {
            let value = values.iter().find(|(name, _)| name == span);
            out.push_str(value.unwrap_or_else(|| panic!("{}: nothing for «{span}»", self.title)).1);
            out.push_str(rest);
        }
        out
    }

    /// Checks that `text` equals this message byte for byte, except for the spans; returns their texts.
    pub(crate) fn read(&self, text: &str) -> Spans {
        let mut at = self.expect(text, 0, &self.around[0]);
        let mut found = Vec::new();
        for (span, rest) in self.spans.iter().zip(&self.around[1..]) {
            let end = at + scalar(&text[at..]);
            found.push((span.clone(), text[at..end].to_owned()));
            at = self.expect(text, end, rest);
        }
        assert_eq!(at, text.len(), "{}: something follows: {}", self.title, &text[at..]);
        Spans { title: self.title.clone(), found }
    }

    fn expect(&self, text: &str, at: usize, part: &str) -> usize {
        let came = &text.as_bytes()[at.min(text.len())..];
        let same = came.iter().zip(part.as_bytes()).take_while(|(a, b)| a == b).count();
        assert!(
            same == part.len(),
            "{}: differs at byte {}\nwanted …{}\ncame   …{}\nwhole  {text}",
            self.title,
            at + same,
            String::from_utf8_lossy(&part.as_bytes()[same.saturating_sub(20)..]),
            String::from_utf8_lossy(&came[same.saturating_sub(20)..]),
        );
        at + part.len()
    }
}

/// The length of the JSON string or number at the head of `text`.
fn scalar(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'"') {
        return bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count();
    }
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

/// The texts of a message's spans.
pub(crate) struct Spans {
    title: String,
    found: Vec<(String, String)>,
}

impl Spans {
    /// The text of a span, in its original spelling.
    pub(crate) fn get(&self, span: &str) -> &str {
        let found = self.found.iter().find(|(name, _)| name == span);
        &found.unwrap_or_else(|| panic!("{}: no «{span}»", self.title)).1
    }

    /// The text of a span, if it is marked.
    pub(crate) fn find(&self, span: &str) -> Option<&str> {
        self.found.iter().find(|(name, _)| name == span).map(|(_, text)| text.as_str())
    }
}

/// The members of a JSON object, in their original spelling. Of several members with the same name, the last one counts.
pub(crate) fn members(text: &str) -> std::collections::HashMap<String, String> {
    let members: std::collections::HashMap<String, &serde_json::value::RawValue> =
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    members.into_iter().map(|(key, value)| (key, value.get().to_owned())).collect()
}

/// A member of a message's result, in its original spelling.
pub(crate) fn result_member(answer: &str, name: &str) -> String {
    let result = members(answer).remove("result").unwrap_or_else(|| panic!("no result: {answer}"));
    members(&result).remove(name).unwrap_or_else(|| panic!("no {name}: {answer}"))
}
