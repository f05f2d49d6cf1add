//! The normal form of a tool's definition: the members that decide how people and models use the tool, in a spelling that
//! does not depend on the protocol version, the order of members or white space. This module must not know fingerprints.
//!
//! | member | is compared |
//! |---|---|
//! | `name`, `title`, `description`, `inputSchema`, `annotations` | yes |
//! | `outputSchema` | if it describes an object, because older versions allow no other output schema |
//! | `icons` | no: models do not see them, and the picture behind an address can change in any case |
//! | `execution` | no: only one version has it |
//! | `_meta` and unknown members | no: clients do not show them to models, and servers put changing values there |
//!
//! If one of these members occurs twice, both occurrences are kept, because readers disagree about which one counts. Numbers keep
//! their spelling. In a definition of more than 256 KiB, the members above are compared as they are written: a server could
//! nest such a definition so that sorting it at each level takes too long.

use bytes::Bytes;
use proto::json::{Members, Span, quote_into, unquote};

/// The members that are compared.
const MEMBERS: [&[u8]; 6] =
    [b"annotations", b"description", b"inputSchema", b"name", b"outputSchema", b"title"];

/// The length of a definition, in bytes, above which its members keep their spelling.
const LARGE: usize = 256 * 1024;

/// Returns the normal form of a tool as JSON text; `tool` is the tool's validated text.
pub fn normal_form(tool: &[u8]) -> Bytes {
    let text = tool.trim_ascii();
    if text.first() != Some(&b'{') {
        // Items are objects, so this fallback is never used; the text itself is a safe answer.
        return Bytes::copy_from_slice(text);
    }
    let mut form =
        FormWriter { text, at: 0, out: Vec::with_capacity(text.len()), is_large: text.len() > LARGE };
    form.object(ObjectRole::Tool);
    Bytes::from(form.out)
}

/// Returns true if a schema describes an object: every version with output schemas allows such a schema. In some versions, a
/// schema without a type describes an object.
fn describes_object(schema: &[u8]) -> bool {
    let Some(members) = Members::of_value(schema, Span::new(0, schema.len())) else { return false };
    members.get(schema, "type").is_none_or(|kind| kind.of(schema) == b"\"object\"")
}

/// The role of an object in a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObjectRole {
    /// The whole tool; only some of its members are compared.
    Tool,
    /// An output schema, which gets a type if it has none.
    OutputSchema,
    /// Any other object.
    Plain,
}

/// A member or an element that has been written.
struct WrittenPart {
    start: usize,
    /// The end of the text by which the part is sorted.
    key_end: usize,
    end: usize,
}

/// Reads a validated text once, from its beginning to its end, and writes the normal form.
struct FormWriter<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<u8>,
    /// True if the members of the tool are copied unchanged, because the definition is large.
    is_large: bool,
}

impl<'a> FormWriter<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Moves to the next byte that is not white space.
    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Writes an object with its members in the order of their keys.
    fn object(&mut self, role: ObjectRole) {
        self.at += 1;
        self.out.push(b'{');
        let mut members: Vec<WrittenPart> = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'"') => members.extend(self.member(role, members.is_empty())),
                _ => break,
            }
        }
        self.at += 1;
        if role == ObjectRole::OutputSchema
            && !members.iter().any(|part| self.out[part.start..part.key_end] == *b"\"type\"")
        {
            if !members.is_empty() {
                self.out.push(b',');
            }
            let start = self.out.len();
            self.out.extend_from_slice(b"\"type\":\"object\"");
            members.push(WrittenPart { start, key_end: start + b"\"type\"".len(), end: self.out.len() });
        }
        self.sort(members);
        self.out.push(b'}');
    }

    /// Writes a member, unless it is not compared.
    fn member(&mut self, role: ObjectRole, is_first: bool) -> Option<WrittenPart> {
        let before = self.out.len();
        if !is_first {
            self.out.push(b',');
        }
        let start = self.out.len();
        let written = self.string();
        string(&mut self.out, written);
        let key_end = self.out.len();
        let name = self.out.get(start + 1..key_end - 1).unwrap_or_default();
        let is_set = name == b"required";
        let is_schema = role == ObjectRole::Tool && name == b"outputSchema";
        let is_compared = role != ObjectRole::Tool || MEMBERS.contains(&name);
        self.space();
        self.at += usize::from(self.peek() == Some(b':'));
        self.space();
        self.out.push(b':');
        let value = self.out.len();
        match role {
            ObjectRole::Tool if self.is_large => self.value_as_written(),
            _ if is_schema => self.value(ObjectRole::OutputSchema, is_set),
            _ => self.value(ObjectRole::Plain, is_set),
        }
        if is_compared && (!is_schema || describes_object(&self.out[value..])) {
            return Some(WrittenPart { start, key_end, end: self.out.len() });
        }
        self.out.truncate(before);
        None
    }

    /// Writes a value. `is_set` is true if the order of the value's elements has no meaning: `required` lists names, and some
    /// servers list them in a new order each time.
    fn value(&mut self, role: ObjectRole, is_set: bool) {
        match self.peek() {
            Some(b'{') => self.object(role),
            Some(b'[') => self.array(is_set),
            Some(b'"') => {
                let written = self.string();
                string(&mut self.out, written);
            }
            _ => self.scalar(),
        }
    }

    fn array(&mut self, is_set: bool) {
        self.at += 1;
        self.out.push(b'[');
        let (mut elements, mut is_first) = (Vec::new(), true);
        loop {
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') | None => break,
                Some(_) => {
                    if !is_first {
                        self.out.push(b',');
                    }
                    is_first = false;
                    let start = self.out.len();
                    self.value(ObjectRole::Plain, false);
                    if is_set {
                        elements.push(WrittenPart { start, key_end: self.out.len(), end: self.out.len() });
                    }
                }
            }
        }
        self.at += 1;
        if elements.iter().all(|part| self.out.get(part.start) == Some(&b'"')) {
            self.sort(elements);
        }
        self.out.push(b']');
    }

    /// Copies a number, `true`, `false` or `null` unchanged.
    fn scalar(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
        let length = rest.iter().position(is_end).unwrap_or(rest.len()).max(1);
        self.out.extend_from_slice(rest.get(..length).unwrap_or_default());
        self.at += length;
    }

    /// Copies a member's value unchanged.
    fn value_as_written(&mut self) {
        let (start, mut depth) = (self.at, 0_usize);
        while let Some(byte) = self.peek() {
            match byte {
                b',' | b'}' | b']' if depth == 0 => break,
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        let written = self.text.get(start..self.at).unwrap_or_default();
        self.out.extend_from_slice(written.trim_ascii_end());
    }

    /// Reads a string, and returns the text between its quotes.
    fn string(&mut self) -> &'a [u8] {
        let start = self.at + 1;
        let mut end = start;
        while let Some(byte) = self.text.get(end) {
            match byte {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        self.text.get(start..end.min(self.text.len())).unwrap_or_default()
    }

    /// Sorts the parts that were written last, with a comma between them. The order is stable: members with the same key
    /// stay in the order of the text.
    fn sort(&mut self, mut parts: Vec<WrittenPart>) {
        let key = |part: &WrittenPart| self.out.get(part.start..part.key_end).unwrap_or_default();
        let Some(first) = parts.first().map(|part| part.start) else { return };
        if parts.is_sorted_by(|a, b| key(a) <= key(b)) {
            return;
        }
        parts.sort_by(|a, b| key(a).cmp(key(b)));
        let written = self.out.split_off(first);
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.out.extend_from_slice(&written[part.start - first..part.end - first]);
        }
    }
}

/// Writes a string in its shortest spelling; `written` is the text between its quotes.
fn string(out: &mut Vec<u8>, written: &[u8]) {
    if let Some(text) = unquote(written) {
        quote_into(out, &text);
    } else {
        // Half of a surrogate pair, which no `str` can hold.
        out.push(b'"');
        out.extend_from_slice(written);
        out.push(b'"');
    }
}
