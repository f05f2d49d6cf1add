//! Results and notifications of the gateway itself, in the form of an era.

use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;

use super::{Asks, Era};
use crate::json::{Members, Span, quote};
use crate::mcp::{Notice, meta};
use crate::rpc::{Frame, Id, result_response};

/// The clients that a cached result may be served to (MCP 2026-07-28, caching).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheScope {
    /// Anyone may be served from the cache.
    Public,
    /// Only the client that asked may be served from the cache.
    Private,
}

/// The time for which a result may be cached, and the clients that it may be served to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheHint {
    /// The time for which the result stays fresh, in milliseconds.
    pub ttl_ms: u64,
    /// The clients that the result may be served to.
    pub scope: CacheScope,
}

impl CacheHint {
    /// A hint that allows no caching.
    pub const NONE: Self = Self { ttl_ms: 0, scope: CacheScope::Private };

    /// Combines the hints of two merged results.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { ttl_ms: self.ttl_ms.min(other.ttl_ms), scope: self.scope.max(other.scope) }
    }

    /// Reads the hint of a result; without one, the result may not be cached.
    pub fn of_result(text: &[u8], result: &Members) -> Self {
        let ttl_ms = result
            .get(text, "ttlMs")
            .and_then(|span| std::str::from_utf8(span.of(text)).ok()?.parse().ok())
            .unwrap_or(0);
        let public = result.get(text, "cacheScope").is_some_and(|span| span.of(text) == b"\"public\"");
        Self { ttl_ms, scope: if public { CacheScope::Public } else { CacheScope::Private } }
    }
}

/// A complete result that caches may keep. Its time to live runs out while the result is stored, so it is written again
/// each time the result is sent (2026-07-28, "Caching").
#[derive(Debug, Clone)]
pub struct CacheableResult {
    text: Bytes,
    ttl: Option<Span>,
}

impl CacheableResult {
    /// A complete result as a JSON object, as built by [`complete`].
    pub fn new(era: &Era, members: &[u8], cache: CacheHint, server_info: &str) -> Self {
        let (text, ttl) = written(era, members, Some(cache), server_info);
        Self { text, ttl }
    }

    /// The result, with its original time to live.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// The result as pieces of one JSON text, none of them copied. Its time to live is the number of milliseconds
    /// that `remaining` returns; in eras without a time to live, `remaining` is not called.
    pub fn pieces(&self, remaining: impl FnOnce() -> u64) -> impl Iterator<Item = Bytes> {
        let (head, ttl, tail) = match self.ttl {
            None => (self.text.clone(), None, None),
            Some(ttl) => {
                let written = Bytes::from(remaining().to_string());
                (self.text.slice(..ttl.start()), Some(written), Some(self.text.slice(ttl.end()..)))
            }
        };
        std::iter::once(head).chain(ttl).chain(tail)
    }
}

/// A complete result as a JSON object: `members` (without braces) plus the members that the era adds.
pub fn complete(era: &Era, members: &[u8], cache: Option<CacheHint>, server_info: &str) -> Bytes {
    written(era, members, cache, server_info).0
}

/// Returns the result of [`complete`], and the span of its time to live.
fn written(era: &Era, members: &[u8], cache: Option<CacheHint>, server_info: &str) -> (Bytes, Option<Span>) {
    let mut ttl = None;
    let mut out = Vec::with_capacity(members.len() + 160);
    out.push(b'{');
    out.extend_from_slice(members);
    if era.typed_results {
        if !members.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(b"\"resultType\":\"complete\"");
        if let Some(cache) = cache {
            let scope = if cache.scope == CacheScope::Public { "public" } else { "private" };
            out.extend_from_slice(b",\"ttlMs\":");
            let start = out.len();
            out.extend_from_slice(cache.ttl_ms.to_string().as_bytes());
            ttl = Some(Span::new(start, out.len()));
            out.extend_from_slice(format!(",\"cacheScope\":\"{scope}\"").as_bytes());
        }
        out.extend_from_slice(format!(",\"_meta\":{{\"{}\":{server_info}}}", meta::SERVER_INFO).as_bytes());
    }
    out.push(b'}');
    (Bytes::from(out), ttl)
}

/// The finder for results that ask for input. The finder is built only once, because building one costs more than most searches.
static QUESTIONS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("input_required"));

/// The members of a result that asks the client for input; `None` for any other answer.
pub fn is_input_required(era: &Era, answer: &Frame) -> Option<Members> {
    // Hardly any answer asks for input, and this search is far cheaper than parsing each answer.
    if era.asks != Asks::InputRequired || QUESTIONS.find(answer.text()).is_none() {
        return None;
    }
    let text = answer.text();
    let result = Members::of_value(text, answer.payload()?)?;
    let kind = result.get(text, "resultType")?;
    (kind.of(text) == b"\"input_required\"").then_some(result)
}

/// Returns true if the beginning of an answer shows that the answer does not ask for input.
pub fn says_complete(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"\"resultType\":\"complete\"").is_some()
}

/// A notification; `params` are the contents of its params object, which is omitted if they are empty.
pub fn notice(method: &str, params: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(64 + params.len());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    out.extend_from_slice(quote(method).as_bytes());
    if !params.is_empty() {
        out.extend_from_slice(b",\"params\":{");
        out.extend_from_slice(params);
        out.push(b'}');
    }
    out.push(b'}');
    Bytes::from(out)
}

/// The first message of a listen stream. `honoured` is the part of the filter that the server honors, a JSON
/// object.
pub fn acknowledged(listen: &Id, honoured: &str) -> Bytes {
    let params = format!("{},\"notifications\":{honoured}", subscription(listen));
    notice(Notice::Acknowledged.name(), params.as_bytes())
}

/// The last message of a listen stream that the server closes.
pub fn listen_result(listen: &Id) -> Bytes {
    result_response(listen, format!("{{\"resultType\":\"complete\",{}}}", subscription(listen)).as_bytes())
}

/// The `_meta` member that ties a notification to its listen request.
fn subscription(listen: &Id) -> String {
    format!("\"_meta\":{{\"{}\":{listen}}}", meta::SUBSCRIPTION_ID)
}
