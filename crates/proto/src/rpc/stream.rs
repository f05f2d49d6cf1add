//! A response that is too long to be buffered: its id is replaced while its bytes are forwarded, and nothing else is changed.
//!
//! Only the structure is tracked (strings, brackets, the members of the outer object); the receiver judges the
//! contents.

use bytes::Bytes;

/// The maximum nesting depth of arrays and objects.
const MAX_DEPTH: u32 = crate::json::MAX_DEPTH;

/// The number of bytes that are kept of each key of the outer object; this is enough to recognize `id`.
const MAX_KEY: usize = 16;

/// The reason why the forwarded bytes are not a valid response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamFault {
    /// The text is not a JSON object.
    #[error("the answer is not a JSON object")]
    Shape,
    /// The id is missing, occurs twice or belongs to another request.
    #[error("the answer's id differs from the request's")]
    Id,
    /// The text is nested too deeply.
    #[error("the answer is nested too deeply")]
    Depth,
    /// The text ended early.
    #[error("the answer ended early")]
    Truncated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamState {
    Before,
    /// In the outer object, before a key or the closing brace.
    Key,
    InKey,
    Colon,
    Value,
    /// In the value of the outer `id`.
    Id,
    /// In a value, outside strings.
    Deep,
    String,
    Escape,
    /// After a value of the outer object.
    Behind,
    After,
}

/// The bytes outside strings that need a closer look.
const STRUCTURE: [bool; 256] = {
    let mut table = [false; 256];
    let marks = b"\"{}[],";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

/// Replaces the id of one response while the response is forwarded.
#[derive(Debug)]
pub struct IdSwap {
    expected: Bytes,
    replacement: Bytes,
    state: StreamState,
    kinds: u128,
    depth: u32,
    key: Vec<u8>,
    id: Vec<u8>,
    swapped: bool,
}

impl IdSwap {
    /// Expects the id `expected` (one of our numbers, as JSON text) and replaces it with `replacement` (JSON text).
    pub fn new(expected: Bytes, replacement: Bytes) -> Self {
        Self {
            expected,
            replacement,
            state: StreamState::Before,
            kinds: 0,
            depth: 0,
            key: Vec::new(),
            id: Vec::new(),
            swapped: false,
        }
    }

    /// The number of bytes by which the response grows; negative if it shrinks.
    pub fn growth(&self) -> i64 {
        let length = |b: &Bytes| i64::try_from(b.len()).unwrap_or(i64::MAX);
        length(&self.replacement) - length(&self.expected)
    }

    /// Takes the next chunk and emits the bytes that can be passed on, in order.
    ///
    /// # Errors
    /// [`StreamFault`]: abort the response.
    pub fn push(&mut self, chunk: &Bytes, out: &mut impl FnMut(Bytes)) -> Result<(), StreamFault> {
        let mut from = 0;
        let mut at = 0;
        while at < chunk.len() {
            at = self.skip(chunk, at);
            let Some(&b) = chunk.get(at) else { break };
            if self.state == StreamState::Id && matches!(b, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t') {
                self.finish_id()?;
                out(self.replacement.clone());
                from = at;
            }
            let was_id = self.state == StreamState::Id;
            self.step(b)?;
            if self.state == StreamState::Id {
                if !was_id && at > from {
                    out(chunk.slice(from..at));
                }
                from = at + 1;
            }
            at += 1;
        }
        if from < chunk.len() {
            out(chunk.slice(from..));
        }
        Ok(())
    }

    /// Checks that the response is complete.
    ///
    /// # Errors
    /// [`StreamFault`] if it is not.
    pub fn finish(&self) -> Result<(), StreamFault> {
        match self.state {
            StreamState::After if self.swapped => Ok(()),
            StreamState::After => Err(StreamFault::Id),
            _ => Err(StreamFault::Truncated),
        }
    }

    /// Skips bytes that change no state: the plain part of a string, or of a value without strings and brackets.
    fn skip(&self, chunk: &[u8], at: usize) -> usize {
        let rest = &chunk[at..];
        match self.state {
            StreamState::String => memchr::memchr2(b'"', b'\\', rest).map_or(chunk.len(), |n| at + n),
            StreamState::Deep => {
                rest.iter().position(|b| STRUCTURE[usize::from(*b)]).map_or(chunk.len(), |n| at + n)
            }
            _ => at,
        }
    }

    fn finish_id(&mut self) -> Result<(), StreamFault> {
        if self.swapped || self.id != self.expected {
            return Err(StreamFault::Id);
        }
        self.swapped = true;
        self.state = StreamState::Behind;
        Ok(())
    }

    fn step(&mut self, b: u8) -> Result<(), StreamFault> {
        let space = matches!(b, b' ' | b'\n' | b'\r' | b'\t');
        match self.state {
            StreamState::Deep => return self.deep(b),
            StreamState::String if b == b'\\' => self.state = StreamState::Escape,
            // The string is skipped up to its end or the next escape.
            StreamState::String => self.leave_value(StreamState::Deep),
            StreamState::Escape => self.state = StreamState::String,
            StreamState::InKey => self.in_key(b)?,
            StreamState::Id if self.id.len() < self.expected.len() => self.id.push(b),
            StreamState::Id => return Err(StreamFault::Id),
            _ if space => {}
            StreamState::Before if b == b'{' => self.state = StreamState::Key,
            StreamState::Key if b == b'"' => {
                self.key.clear();
                self.state = StreamState::InKey;
            }
            StreamState::Colon if b == b':' => self.state = StreamState::Value,
            StreamState::Value => return self.value(b),
            StreamState::Behind if b == b',' => self.state = StreamState::Key,
            StreamState::Behind if b == b'}' => self.state = StreamState::After,
            _ => return Err(StreamFault::Shape),
        }
        Ok(())
    }

    fn in_key(&mut self, b: u8) -> Result<(), StreamFault> {
        match b {
            b'"' => self.state = StreamState::Colon,
            // No known peer escapes the keys of an envelope, and an escaped key could hide an id.
            b'\\' => return Err(StreamFault::Shape),
            _ if self.key.len() < MAX_KEY => self.key.push(b),
            _ => {}
        }
        Ok(())
    }

    fn value(&mut self, b: u8) -> Result<(), StreamFault> {
        if self.key == b"id" {
            self.id.clear();
            self.id.push(b);
            self.state = StreamState::Id;
            return Ok(());
        }
        match b {
            b'"' => self.state = StreamState::String,
            b'{' | b'[' => self.open(b)?,
            b',' | b'}' | b']' | b':' => return Err(StreamFault::Shape),
            _ => self.state = StreamState::Deep,
        }
        Ok(())
    }

    fn open(&mut self, b: u8) -> Result<(), StreamFault> {
        if self.depth == MAX_DEPTH {
            return Err(StreamFault::Depth);
        }
        self.depth += 1;
        self.kinds = (self.kinds << 1) | u128::from(b == b'{');
        self.state = StreamState::Deep;
        Ok(())
    }

    /// Handles a byte of a value, outside strings.
    fn deep(&mut self, b: u8) -> Result<(), StreamFault> {
        match b {
            b'"' => self.state = StreamState::String,
            b'{' | b'[' => return self.open(b),
            b'}' | b']' if self.depth > 0 => {
                if (self.kinds & 1 == 1) != (b == b'}') {
                    return Err(StreamFault::Shape);
                }
                self.kinds >>= 1;
                self.depth -= 1;
                self.leave_value(StreamState::Deep);
            }
            // A number or a literal of the outer object ends here.
            b',' if self.depth == 0 => self.state = StreamState::Key,
            b'}' if self.depth == 0 => self.state = StreamState::After,
            b']' => return Err(StreamFault::Shape),
            _ => {}
        }
        Ok(())
    }

    /// Leaves a string, an array or an object. If it was the value of a member of the outer object, the state
    /// becomes [`StreamState::Behind`], otherwise `deep`.
    fn leave_value(&mut self, deep: StreamState) {
        self.state = if self.depth == 0 { StreamState::Behind } else { deep };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swap(text: &[u8], cut: usize) -> Result<Vec<u8>, StreamFault> {
        let mut swap = IdSwap::new(Bytes::from_static(b"77"), Bytes::from_static(br#""client \"id\"""#));
        let mut out = Vec::new();
        for chunk in text.chunks(cut) {
            swap.push(&Bytes::copy_from_slice(chunk), &mut |piece| out.extend_from_slice(&piece))?;
        }
        swap.finish().map(|()| out)
    }

    #[test]
    fn only_the_outer_id_changes_however_the_text_is_cut() {
        for (text, want) in [
            (
                r#"{"jsonrpc":"2.0","id":77,"result":{"id":77,"a":["}","\"id\":77"]}}"#,
                r#"{"jsonrpc":"2.0","id":"client \"id\"","result":{"id":77,"a":["}","\"id\":77"]}}"#,
            ),
            (
                r#" { "result" : {"x":1e2 , "y":[[],{}]} , "id" : 77 } "#,
                r#" { "result" : {"x":1e2 , "y":[[],{}]} , "id" : "client \"id\"" } "#,
            ),
            (
                r#"{"id":77,"error":{"code":1},"z":null,"w":-1.5}"#,
                r#"{"id":"client \"id\"","error":{"code":1},"z":null,"w":-1.5}"#,
            ),
            (r#"{"result":"id\\","id":77}"#, r#"{"result":"id\\","id":"client \"id\""}"#),
        ] {
            for cut in 1..text.len() {
                let got = swap(text.as_bytes(), cut).map(|b| String::from_utf8(b).unwrap());
                assert_eq!(got.as_deref(), Ok(want), "cut {cut}");
            }
        }
    }

    #[test]
    fn what_is_no_answer_of_ours_is_broken_off() {
        for (text, fault) in [
            (r#"{"id":78,"result":{}}"#, StreamFault::Id),
            (r#"{"id":777,"result":{}}"#, StreamFault::Id),
            (r#"{"id":7,"result":{}}"#, StreamFault::Id),
            (r#"{"id":77,"result":{},"id":77}"#, StreamFault::Id),
            (r#"{"result":{}}"#, StreamFault::Id),
            (r#"{"id":77,"result":{"#, StreamFault::Truncated),
            (r#"{"id":77,"result":{]}"#, StreamFault::Shape),
            (r#"[{"id":77}]"#, StreamFault::Shape),
            (r#"{"id":77} x"#, StreamFault::Shape),
            (r#"{"i\u0064":77}"#, StreamFault::Shape),
            (r#"{"id":77,}"#, StreamFault::Shape),
            ("garbage", StreamFault::Shape),
        ] {
            for cut in [1, 3, text.len()] {
                assert_eq!(swap(text.as_bytes(), cut), Err(fault), "{text} cut {cut}");
            }
        }
        let deep = format!("{{\"result\":{}", "[".repeat(200));
        assert_eq!(swap(deep.as_bytes(), 50), Err(StreamFault::Depth));
    }
}
