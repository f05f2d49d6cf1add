//! A response that is too long to be held: its id is exchanged while its bytes pass, and nothing else is touched.
//!
//! Only the shape is followed (strings, brackets, the members of the outer object); what stands inside is the
//! receiver's to judge.

use bytes::Bytes;

/// The most nested arrays and objects.
const MAX_DEPTH: u32 = crate::json::MAX_DEPTH;

/// The longest key of the outer object that is looked at.
const MAX_KEY: usize = 16;

/// The reason why a passing response cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamFault {
    /// The text is no JSON object.
    #[error("the answer is not a JSON object")]
    Shape,
    /// The id is missing, stands twice or is another request's.
    #[error("the answer carries another id than its request")]
    Id,
    /// Nested too deeply.
    #[error("the answer is nested too deeply")]
    Depth,
    /// The text ended too early.
    #[error("the answer broke off")]
    Truncated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    /// In the outer object, before a key or its end.
    Key,
    InKey,
    Colon,
    Value,
    /// In the value of the outer `id`.
    Id,
    /// In a value, outside of strings.
    Deep,
    String,
    Escape,
    /// Behind a value of the outer object.
    Behind,
    After,
}

/// The bytes outside of strings that matter.
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

/// Exchanges the id of one response while it passes.
#[derive(Debug)]
pub struct IdSwap {
    expected: Bytes,
    replacement: Bytes,
    state: State,
    kinds: u128,
    depth: u32,
    key: Vec<u8>,
    id: Vec<u8>,
    swapped: bool,
}

impl IdSwap {
    /// Expects the id `expected` (a number of ours, as JSON text) and puts `replacement` (JSON text) in its place.
    pub fn new(expected: Bytes, replacement: Bytes) -> Self {
        Self {
            expected,
            replacement,
            state: State::Before,
            kinds: 0,
            depth: 0,
            key: Vec::new(),
            id: Vec::new(),
            swapped: false,
        }
    }

    /// How many bytes longer (or shorter) the response gets.
    pub fn growth(&self) -> i64 {
        let length = |b: &Bytes| i64::try_from(b.len()).unwrap_or(i64::MAX);
        length(&self.replacement) - length(&self.expected)
    }

    /// Takes the next piece and gives what can go on, in order.
    ///
    /// # Errors
    /// [`StreamFault`]: the response must be broken off.
    pub fn push(&mut self, chunk: &Bytes, out: &mut impl FnMut(Bytes)) -> Result<(), StreamFault> {
        let mut from = 0;
        let mut at = 0;
        while at < chunk.len() {
            at = self.skip(chunk, at);
            let Some(&b) = chunk.get(at) else { break };
            if self.state == State::Id && matches!(b, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t') {
                self.finish_id()?;
                out(self.replacement.clone());
                from = at;
            }
            let was_id = self.state == State::Id;
            self.step(b)?;
            if self.state == State::Id {
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

    /// Says whether the response is whole.
    ///
    /// # Errors
    /// [`StreamFault`] when it is not.
    pub fn finish(&self) -> Result<(), StreamFault> {
        match self.state {
            State::After if self.swapped => Ok(()),
            State::After => Err(StreamFault::Id),
            _ => Err(StreamFault::Truncated),
        }
    }

    /// Skips what nothing depends on: the plain part of a string, or of a value without strings and brackets.
    fn skip(&self, chunk: &[u8], at: usize) -> usize {
        let rest = &chunk[at..];
        match self.state {
            State::String => memchr::memchr2(b'"', b'\\', rest).map_or(chunk.len(), |n| at + n),
            State::Deep => {
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
        self.state = State::Behind;
        Ok(())
    }

    fn step(&mut self, b: u8) -> Result<(), StreamFault> {
        let space = matches!(b, b' ' | b'\n' | b'\r' | b'\t');
        match self.state {
            State::Deep => return self.deep(b),
            State::String if b == b'\\' => self.state = State::Escape,
            // The string is skipped up to its end or an escape.
            State::String => self.leave_value(State::Deep),
            State::Escape => self.state = State::String,
            State::InKey => self.in_key(b)?,
            State::Id if self.id.len() < self.expected.len() => self.id.push(b),
            State::Id => return Err(StreamFault::Id),
            _ if space => {}
            State::Before if b == b'{' => self.state = State::Key,
            State::Key if b == b'"' => {
                self.key.clear();
                self.state = State::InKey;
            }
            State::Colon if b == b':' => self.state = State::Value,
            State::Value => return self.value(b),
            State::Behind if b == b',' => self.state = State::Key,
            State::Behind if b == b'}' => self.state = State::After,
            _ => return Err(StreamFault::Shape),
        }
        Ok(())
    }

    fn in_key(&mut self, b: u8) -> Result<(), StreamFault> {
        match b {
            b'"' => self.state = State::Colon,
            // An envelope with escaped keys is nobody's habit; it could hide an id from us.
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
            self.state = State::Id;
            return Ok(());
        }
        match b {
            b'"' => self.state = State::String,
            b'{' | b'[' => self.open(b)?,
            b',' | b'}' | b']' | b':' => return Err(StreamFault::Shape),
            _ => self.state = State::Deep,
        }
        Ok(())
    }

    fn open(&mut self, b: u8) -> Result<(), StreamFault> {
        if self.depth == MAX_DEPTH {
            return Err(StreamFault::Depth);
        }
        self.depth += 1;
        self.kinds = (self.kinds << 1) | u128::from(b == b'{');
        self.state = State::Deep;
        Ok(())
    }

    /// A byte of a value, outside of strings.
    fn deep(&mut self, b: u8) -> Result<(), StreamFault> {
        match b {
            b'"' => self.state = State::String,
            b'{' | b'[' => return self.open(b),
            b'}' | b']' if self.depth > 0 => {
                if (self.kinds & 1 == 1) != (b == b'}') {
                    return Err(StreamFault::Shape);
                }
                self.kinds >>= 1;
                self.depth -= 1;
                self.leave_value(State::Deep);
            }
            // A number or a word of the outer object ends here.
            b',' if self.depth == 0 => self.state = State::Key,
            b'}' if self.depth == 0 => self.state = State::After,
            b']' => return Err(StreamFault::Shape),
            _ => {}
        }
        Ok(())
    }

    /// Where a string or a bracket ends: behind a member of the outer object, or still deep in one.
    fn leave_value(&mut self, deep: State) {
        self.state = if self.depth == 0 { State::Behind } else { deep };
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
