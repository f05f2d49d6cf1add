//! The encoder. For any arguments, the output is exactly one event or comment.

use bytes::{BufMut, Bytes, BytesMut};
use memchr::{memchr2, memchr3};

/// The shortest comment, for keeping an idle stream open.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

const MESSAGE: &[u8] = b"event: message\ndata: ";
const END: &[u8] = b"\n\n";

/// Writes one event. Each line of `data` becomes a `data:` line; a reader joins them with LF, regardless of their
/// original line endings. Empty data gives one empty `data:` line, as in the event that opens a resumable stream.
///
/// An event type or id that the format cannot carry (one with CR or LF, or an id with NUL) is left out.
pub fn encode_event(
    out: &mut impl BufMut,
    event: Option<&str>,
    id: Option<&str>,
    retry: Option<u64>,
    data: &[u8],
) {
    head(out, event, id);
    if let Some(retry) = retry {
        out.put_slice(b"retry: ");
        out.put_slice(retry.to_string().as_bytes());
        out.put_slice(b"\n");
    }
    lines(out, b"data: ", data);
    out.put_slice(b"\n");
}

/// Writes `text` as a comment, which readers ignore. Each line of the text becomes a comment line; a blank line
/// follows.
pub fn encode_comment(out: &mut impl BufMut, text: &[u8]) {
    lines(out, b": ", text);
    out.put_slice(b"\n");
}

/// Encodes `json` as a `message` event in three parts, to be written one after the other: the prefix, the text
/// itself and the suffix. The text is shared, not copied, unless it contains raw line breaks; each of its lines
/// then becomes a `data:` line.
pub fn message_event(id: Option<&str>, json: &Bytes) -> [Bytes; 3] {
    let before = if id.is_none() {
        Bytes::from_static(MESSAGE)
    } else {
        let mut before = BytesMut::with_capacity(MESSAGE.len() + 5 + id.map_or(0, str::len));
        head(&mut before, Some("message"), id);
        before.put_slice(b"data: ");
        before.freeze()
    };
    let text = if memchr2(b'\r', b'\n', json).is_none() { json.clone() } else { broken(json) };
    [before, text, Bytes::from_static(END)]
}

/// The text with each line break replaced by the start of another `data:` line.
fn broken(json: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(json.len() + json.len() / 8);
    let mut between: &[u8] = b"";
    for line in EventLines(Some(json)) {
        out.put_slice(between);
        out.put_slice(line);
        between = b"\ndata: ";
    }
    out.freeze()
}

fn head(out: &mut impl BufMut, event: Option<&str>, id: Option<&str>) {
    if let Some(event) = event.filter(|event| memchr2(b'\r', b'\n', event.as_bytes()).is_none()) {
        out.put_slice(b"event: ");
        out.put_slice(event.as_bytes());
        out.put_slice(b"\n");
    }
    if let Some(id) = id.filter(|id| memchr3(b'\r', b'\n', 0, id.as_bytes()).is_none()) {
        out.put_slice(b"id: ");
        out.put_slice(id.as_bytes());
        out.put_slice(b"\n");
    }
}

fn lines(out: &mut impl BufMut, prefix: &[u8], text: &[u8]) {
    for line in EventLines(Some(text)) {
        out.put_slice(prefix);
        out.put_slice(line);
        out.put_slice(b"\n");
    }
}

/// The lines of a text, split as a reader of the stream would split them; at least one.
struct EventLines<'a>(Option<&'a [u8]>);

impl<'a> Iterator for EventLines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.0.take()?;
        let Some(end) = memchr2(b'\r', b'\n', text) else { return Some(text) };
        let behind = end + if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        self.0 = Some(&text[behind..]);
        Some(&text[..end])
    }
}
