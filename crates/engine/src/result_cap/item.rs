//! One block of a result's content: the size of its data, and its contents as a resource. This module must not know which
//! blocks are left out.

use proto::bridge::shape::decoded_length;
use proto::json::{Members, Span, quote, string_length, string_value};

/// The media type of plain text, as JSON.
const PLAIN: &str = "\"text/plain\"";

/// The maximum length of a media type that a link repeats, in bytes.
const LONGEST_TYPE: usize = 100;

/// The data of a block.
#[derive(Debug, Clone, Copy)]
enum Data {
    /// A text, between its quotes.
    Text(Span),
    /// Base64, between its quotes, and the media type.
    Blob(Span, Option<Span>),
    /// The contents of a resource, an object.
    Resource(Span),
    /// Anything else: the block itself.
    Block,
}

/// A block of content.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContentItem {
    /// The whole block.
    pub(super) span: Span,
    data: Data,
    /// The size of the block's data, in bytes: the length of a text in UTF-8, or the decoded length of a Base64 string.
    pub(super) size: usize,
}

impl ContentItem {
    /// Reads the block at `span`.
    pub(super) fn of(text: &[u8], span: Span) -> Self {
        let data = Members::of_value(text, span).map_or(Data::Block, |members| data(text, &members));
        let size = match data {
            Data::Text(inner) => string_length(inner.of(text)),
            Data::Blob(inner, _) => blob_length(inner.of(text)),
            Data::Resource(contents) => resource_size(text, contents),
            Data::Block => span.len(),
        };
        Self { span, data, size }
    }

    /// The text of the block, between its quotes; `None` if the block is not a text.
    pub(super) fn text(&self) -> Option<Span> {
        match self.data {
            Data::Text(inner) => Some(inner),
            _ => None,
        }
    }

    /// Writes the block as the contents of a resource; for a text, only the part from the offset `from` on. Returns the media
    /// type as JSON, if it is known.
    pub(super) fn write(&self, out: &mut Vec<u8>, text: &[u8], from: usize, uri: &str) -> Option<String> {
        let uri = quote(uri);
        let head = |kind: &str| format!("{{\"uri\":{uri},\"mimeType\":{kind},");
        match self.data {
            Data::Text(inner) => {
                out.extend_from_slice(head(PLAIN).as_bytes());
                out.extend_from_slice(b"\"text\":\"");
                out.extend_from_slice(&inner.of(text)[from..]);
                out.extend_from_slice(b"\"}");
                Some(PLAIN.to_owned())
            }
            Data::Blob(inner, kind) => {
                let kind = kind.map_or("application/octet-stream".into(), |kind| string_value(kind.of(text)));
                let kind = quote(&kind);
                out.extend_from_slice(head(&kind).as_bytes());
                out.extend_from_slice(b"\"blob\":\"");
                out.extend_from_slice(inner.of(text));
                out.extend_from_slice(b"\"}");
                Some(kind).filter(|kind| kind.len() <= LONGEST_TYPE)
            }
            Data::Resource(contents) => {
                out.extend_from_slice(contents.of(text));
                let members = Members::of_value(text, contents)?;
                let kind = inner(text, members.get(text, "mimeType")?)?;
                Some(quote(&string_value(kind.of(text)))).filter(|kind| kind.len() <= LONGEST_TYPE)
            }
            Data::Block => {
                let kind = "\"application/json\"";
                out.extend_from_slice(head(kind).as_bytes());
                let block = quote(&String::from_utf8_lossy(self.span.of(text)));
                out.extend_from_slice(format!("\"text\":{block}}}").as_bytes());
                Some(kind.to_owned())
            }
        }
    }
}

fn data(text: &[u8], members: &Members) -> Data {
    let string = |key: &str| inner(text, members.get(text, key)?);
    let kind = string("type").map(|kind| string_value(kind.of(text)));
    let resource = || {
        let contents = members.get(text, "resource").filter(|span| span.of(text).first() == Some(&b'{'));
        contents.map(Data::Resource)
    };
    let data = match kind.as_deref() {
        Some("text") => string("text").map(Data::Text),
        Some("image" | "audio") => string("data").map(|data| Data::Blob(data, string("mimeType"))),
        Some("resource") => resource(),
        _ => None,
    };
    data.unwrap_or(Data::Block)
}

fn resource_size(text: &[u8], contents: Span) -> usize {
    let members = Members::of_value(text, contents);
    let string = |key: &str| inner(text, members.as_ref()?.get(text, key)?);
    let written = string("text").map(|inner| string_length(inner.of(text)));
    written.or_else(|| Some(blob_length(string("blob")?.of(text)))).unwrap_or_else(|| contents.len())
}

/// The decoded length of a Base64 string; `written` is the JSON text between the quotes. It is unescaped first, because
/// many JSON encoders write `/` as `\/`.
fn blob_length(written: &[u8]) -> usize {
    decoded_length(string_value(written).as_bytes())
}

/// The span between the quotes of a string.
fn inner(text: &[u8], value: Span) -> Option<Span> {
    let is_string = value.of(text).first() == Some(&b'"');
    is_string.then(|| Span::new(value.start() + 1, value.end() - 1))
}
