//! The event-stream decoder, compared with a simple parser of the whole stream, and the encoder, compared with the
//! decoder.

use bytes::Bytes;
use proto::codec::sse::{SseDecoder, SseError, SseEvent, encode_comment, encode_event, message_event};

use super::Cut;

type Event = Result<SseEvent, SseError>;

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    let (cut, stream) = Cut::take(input);
    check(stream, &cut);
    let mut fields = stream.splitn(3, |byte| *byte == b'|');
    let mut text = || fields.next().map(String::from_utf8_lossy);
    let (event, id) = (text(), text());
    let data = fields.next().unwrap_or_default();
    round_trip(event.as_deref(), id.as_deref(), Some(stream.len() as u64), data, &cut);
}

/// Checks that the events do not depend on how the stream is cut, and that the decoder never holds more than one event
/// of the permitted length.
pub fn check(stream: &[u8], cut: &Cut) {
    let expected = reference(stream, cut.limit);
    for sizes in [&[][..], &[1], &cut.sizes] {
        let cut = Cut { sizes: sizes.to_vec(), limit: cut.limit };
        assert_eq!(decode(stream, &cut), expected, "{cut:?}");
    }
}

/// Checks that an encoded event is read back as exactly one event, with only those losses that the format makes
/// unavoidable.
pub fn round_trip(event: Option<&str>, id: Option<&str>, retry: Option<u64>, data: &[u8], cut: &Cut) {
    let cut = Cut { limit: usize::MAX, ..cut.clone() };
    let carried = |text: &&str| !text.contains(['\r', '\n']);
    let own = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    let expected = SseEvent {
        event: event.filter(carried).filter(|event| !event.is_empty()).map(own),
        data: Some(Bytes::from(lines(data).join(&b'\n'))),
        id: id.filter(carried).filter(|id| !id.contains('\0')).map(own),
        retry,
    };
    let mut stream = Vec::new();
    encode_comment(&mut stream, data);
    encode_event(&mut stream, event, id, retry, data);
    encode_comment(&mut stream, b"");
    assert_eq!(decode(&stream, &cut), [Ok(expected.clone())]);

    let json = Bytes::copy_from_slice(data);
    let parts = message_event(id, &json);
    let message = SseEvent { event: Some(Bytes::from_static(b"message")), retry: None, ..expected };
    assert_eq!(decode(&parts.concat(), &cut), [Ok(message)]);
    if !data.contains(&b'\r') && !data.contains(&b'\n') {
        assert_eq!(parts[1].as_ptr(), json.as_ptr(), "copied without need");
    }
}

fn decode(stream: &[u8], cut: &Cut) -> Vec<Event> {
    let mut decoder = SseDecoder::new(cut.limit);
    let mut events = Vec::new();
    for chunk in cut.chunks(stream) {
        decoder.push(chunk);
        events.extend(std::iter::from_fn(|| decoder.next_event()));
        assert!(decoder.buffered() <= cut.limit);
    }
    events
}

/// Returns all lines of a text; the last one is the text after the last line ending.
fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = vec![Vec::new()];
    let mut bytes = text.iter().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' => {
                bytes.next_if(|next| **next == b'\n');
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            _ => lines.last_mut().expect("there is always one").push(*byte),
        }
    }
    lines
}

fn reference(stream: &[u8], limit: usize) -> Vec<Event> {
    const BOM: &[u8] = b"\xEF\xBB\xBF";
    if BOM.starts_with(stream) {
        return Vec::new();
    }
    let mut lines = lines(stream.strip_prefix(BOM).unwrap_or(stream));
    let cut_off = lines.pop().unwrap_or_default();
    let mut events = Vec::new();
    let mut block = Block::default();
    for line in lines {
        if line.is_empty() {
            events.extend(std::mem::take(&mut block).end());
        } else if let Some(error) = block.line(&line, limit) {
            events.push(Err(error));
        }
    }
    // This line has no end yet, but it may already be too long.
    events.extend(block.line(&cut_off, limit).map(Err));
    events
}

#[derive(Default)]
struct Block {
    event: SseEvent,
    data: Vec<Vec<u8>>,
    size: usize,
    too_long: bool,
}

impl Block {
    fn line(&mut self, line: &[u8], limit: usize) -> Option<SseError> {
        if self.too_long || line.is_empty() || line[0] == b':' {
            return None;
        }
        self.size += line.len();
        if self.size > limit {
            self.too_long = true;
            return Some(SseError::TooLong { limit });
        }
        let mut halves = line.splitn(2, |byte| *byte == b':');
        let name = halves.next().unwrap_or_default();
        let value = halves.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"event" => self.event.event = Some(Bytes::copy_from_slice(value)),
            b"data" => self.data.push(value.to_vec()),
            b"id" if !value.contains(&0) => self.event.id = Some(Bytes::copy_from_slice(value)),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let text = String::from_utf8_lossy(value);
                self.event.retry = Some(text.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
        None
    }

    fn end(mut self) -> Option<Event> {
        if !self.data.is_empty() {
            self.event.data = Some(Bytes::from(self.data.join(&b'\n')));
        }
        self.event.event = self.event.event.filter(|name| !name.is_empty());
        let counts = self.event.data.is_some() || self.event.id.is_some() || self.event.retry.is_some();
        (counts && !self.too_long).then_some(Ok(self.event))
    }
}
