//! Introductions of peers: reads and writes `initialize` and `server/discover`.

use std::borrow::Cow;

use bytes::Bytes;

use super::{CacheHint, CacheableResult, Era, Lifecycle, by_version, results};
use crate::json::{Elements, Members, Span, Splice, quote, unquote};
use crate::mcp::{Method, Notice, meta};
use crate::rpc::{Frame, FrameKind, Id, RpcError, code, result_response};

/// The client's introduction in `initialize`.
#[derive(Debug, Clone)]
pub struct ClientHello {
    /// The version that the client asks for; if that is a number, its digits as written.
    pub version: String,
    /// The same version as received, JSON: a string, or a number in MCP "1".
    pub version_json: Bytes,
    /// The params of `initialize` as received, for an upstream that serves this client alone.
    pub params: Bytes,
    /// The client's capabilities as received: a JSON object.
    pub capabilities: Bytes,
    /// The client's name and version as received, a JSON object.
    pub info: Option<Bytes>,
    /// True if a server may ask the client questions, because the client declares sampling, elicitation or roots.
    pub can_be_asked: bool,
}

/// A server's introduction.
#[derive(Debug, Clone)]
pub struct ServerHello {
    /// The era of this link.
    pub era: &'static Era,
    /// The server's capabilities as received: a JSON object.
    pub capabilities: Bytes,
    /// The server's name and version as received: a JSON object.
    pub info: Bytes,
    /// The server's instructions for clients.
    pub instructions: Option<String>,
}

/// The reason why an introduction is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HelloFault {
    /// A member is missing or of another type.
    #[error("\"{0}\" {1}")]
    Member(&'static str, &'static str),
    /// The server answered with an unknown version.
    #[error("the server uses protocol version {0}, which is unknown")]
    Version(String),
    /// The server answered with a version other than the required one.
    #[error("it uses protocol version {speaks}, not {asked}")]
    Other {
        /// The required version.
        asked: &'static str,
        /// The server's version.
        speaks: &'static str,
    },
    /// The server does not support the requested stateless version.
    #[error("the server does not support protocol version {asked}{}{listed}", if listed.is_empty() { "" } else { "; it supports " })]
    NotSpoken {
        /// The requested version.
        asked: &'static str,
        /// The versions that the server lists instead.
        listed: String,
    },
}

/// The longest version that a client can ask for, in bytes as written. The version appears in answers and in the log.
const MAX_VERSION: usize = 256;

/// The version at `span`: a string, or a number in MCP "1".
fn version_at(frame: &Frame, span: Span) -> Option<Cow<'_, str>> {
    match span.of(frame.text()) {
        number @ [b'-' | b'0'..=b'9', ..] => std::str::from_utf8(number).ok().map(Cow::Borrowed),
        _ => frame.string(span),
    }
}

/// Reads the params of `initialize`.
///
/// # Errors
/// [`HelloFault::Member`] for a member that the schema requires.
pub fn client_hello(frame: &Frame) -> Result<ClientHello, HelloFault> {
    let text = frame.text();
    let params = frame.params().ok_or(HelloFault::Member("params", "is required"))?;
    let get = |key| params.unique(text, key).map_err(|_| HelloFault::Member(key, "occurs twice"));
    let asked = get("protocolVersion")?
        .filter(|span| span.len() <= MAX_VERSION)
        .and_then(|span| Some((span, version_at(frame, span)?)));
    let (version_span, version) =
        asked.ok_or(HelloFault::Member("protocolVersion", "is required and must be a short string"))?;
    let capabilities = get("capabilities")?
        .ok_or(HelloFault::Member("capabilities", "is required and must be an object"))?;
    let members = Members::of_value(text, capabilities)
        .ok_or(HelloFault::Member("capabilities", "is required and must be an object"))?;
    let can_be_asked =
        ["sampling", "elicitation", "roots"].iter().any(|key| members.get(text, key).is_some());
    // The params are copied, because a session keeps them, and a slice would keep the whole buffer that they arrived
    // in.
    let whole = params.members.span();
    let copy = Bytes::copy_from_slice(whole.of(text));
    let own = |span: Span| copy.slice(span.start() - whole.start()..span.end() - whole.start());
    Ok(ClientHello {
        version: version.into_owned(),
        version_json: own(version_span),
        capabilities: own(capabilities),
        info: get("clientInfo")?.filter(|span| span.of(text)[0] == b'{').map(own),
        can_be_asked,
        params: copy.clone(),
    })
}

/// Reads the result of the request that opens era `asked`: `initialize` or `server/discover`.
///
/// # Errors
/// [`HelloFault`] if a member is missing or the version is not acceptable.
pub fn server_hello(frame: &Frame, asked: &'static Era) -> Result<ServerHello, HelloFault> {
    let text = frame.text();
    let result = frame
        .payload()
        .and_then(|span| Members::of_value(text, span))
        .ok_or(HelloFault::Member("result", "must be an object"))?;
    let era = match asked.lifecycle {
        Lifecycle::Handshake => answered_version(frame, &result)?,
        Lifecycle::Stateless => offered_version(frame, &result, asked)?,
    };
    let info = match asked.lifecycle {
        Lifecycle::Handshake => result.get(text, "serverInfo"),
        Lifecycle::Stateless => result
            .get(text, "_meta")
            .and_then(|span| Members::of_value(text, span))
            .and_then(|own| own.get(text, meta::SERVER_INFO)),
    };
    let object = |span: Option<Span>| match span {
        Some(span) if span.of(text)[0] == b'{' => span.share(text),
        _ => Bytes::from_static(b"{}"),
    };
    Ok(ServerHello {
        era,
        capabilities: object(result.get(text, "capabilities")),
        info: object(info),
        instructions: result
            .get(text, "instructions")
            .and_then(|span| frame.string(span))
            .map(Cow::into_owned),
    })
}

fn answered_version(frame: &Frame, result: &Members) -> Result<&'static Era, HelloFault> {
    let version = result
        .get(frame.text(), "protocolVersion")
        .and_then(|span| version_at(frame, span))
        .ok_or(HelloFault::Member("protocolVersion", "is missing from the answer"))?;
    by_version(&version)
        .filter(|era| era.lifecycle == Lifecycle::Handshake)
        .ok_or_else(|| HelloFault::Version(version.into_owned()))
}

fn offered_version(frame: &Frame, result: &Members, asked: &'static Era) -> Result<&'static Era, HelloFault> {
    let list = result
        .get(frame.text(), "supportedVersions")
        .and_then(|span| Elements::of_value(frame.text(), span))
        .ok_or(HelloFault::Member("supportedVersions", "is missing from the answer"))?;
    let spoken = list.iter().any(|span| frame.string(span).is_some_and(|v| v == asked.version));
    if spoken {
        return Ok(asked);
    }
    Err(HelloFault::NotSpoken { asked: asked.version, listed: named(frame, &list) })
}

/// The first few short versions of a list, for messages.
fn named(frame: &Frame, list: &Elements) -> String {
    let short = list.iter().filter(|span| span.len() <= 32).take(8);
    short.filter_map(|span| version_at(frame, span)).collect::<Vec<_>>().join(", ")
}

/// The versions that an error lists as supported, for messages; empty if it lists none.
pub fn supported_versions(error: &Frame) -> String {
    let list = supported(error);
    list.map(|list| named(error, &list)).unwrap_or_default()
}

fn supported(frame: &Frame) -> Option<Elements> {
    let text = frame.text();
    let error = frame.payload().filter(|_| frame.kind() == FrameKind::Error)?;
    let data = Members::of_value(text, RpcError::of_value(text, error)?.data?)?;
    Elements::of_value(text, data.get(text, "supported")?)
}

/// Returns true if an error rejects a protocol version but lists it as supported. The request is then worth another try.
pub fn refused_but_supported(frame: &Frame, asked: &Era) -> bool {
    let text = frame.text();
    let error = frame.payload().and_then(|span| RpcError::of_value(text, span));
    error.is_some_and(|error| error.code == code::UNSUPPORTED_VERSION)
        && supported(frame).is_some_and(|list| {
            list.iter().any(|span| frame.string(span).is_some_and(|v| v == asked.version))
        })
}

/// Builds an `initialize` request on behalf of a client of `era`. `params` is a JSON object, whose version is
/// replaced with the one that `era` offers.
pub fn initialize_request(id: &Id, era: &Era, params: &Bytes) -> Bytes {
    initialize(id, &quote(era.offered), params)
}

/// Like [`initialize_request`], but the request offers `era` and no other version.
pub fn initialize_request_exactly(id: &Id, era: &Era, params: &Bytes) -> Bytes {
    initialize(id, &era.version_json(), params)
}

fn initialize(id: &Id, version: &str, params: &Bytes) -> Bytes {
    let params = match Members::of_document(params, crate::json::MAX_DEPTH) {
        Ok(members) => {
            let mut splice = Splice::new(params);
            match members.get(params, "protocolVersion") {
                Some(span) => splice.replace(span, version.as_bytes()),
                None => splice.set(&members, b"protocolVersion", version.as_bytes()),
            };
            splice.finish()
        }
        Err(_) => params.clone(),
    };
    request(id, Method::Initialize.name(), &params)
}

/// The notification that ends the handshake.
pub fn initialized() -> Bytes {
    results::notice(Notice::Initialized.name(), b"")
}

/// A `server/discover` request of the gateway itself.
pub fn discover_request(id: &Id, era: &Era, client_info: &str) -> Bytes {
    let params = format!("{{{}}}", own_meta(era, "{}", client_info));
    request(id, Method::Discover.name(), params.as_bytes())
}

/// The member `"_meta":{…}` for a stateless request of the gateway itself; empty in eras without an envelope.
pub fn own_meta(era: &Era, capabilities: &str, client_info: &str) -> String {
    if era.lifecycle == Lifecycle::Handshake {
        return String::new();
    }
    format!(
        "\"_meta\":{{\"{}\":{},\"{}\":{capabilities},\"{}\":{client_info}}}",
        meta::PROTOCOL_VERSION,
        quote(era.version),
        meta::CLIENT_CAPABILITIES,
        meta::CLIENT_INFO,
    )
}

/// The answer to `initialize`. `asked` is the requested version as the client wrote it, JSON. If that version means
/// `era`, the answer repeats the client's spelling.
pub fn initialize_result(
    id: &Id,
    era: &Era,
    asked: &[u8],
    capabilities: &str,
    server_info: &str,
    instructions: Option<&str>,
) -> Bytes {
    let mut result = b"{\"protocolVersion\":".to_vec();
    if means(asked, era) {
        result.extend_from_slice(asked);
    } else {
        result.extend_from_slice(era.version_json().as_bytes());
    }
    result.extend_from_slice(b",\"capabilities\":");
    result.extend_from_slice(capabilities.as_bytes());
    result.extend_from_slice(b",\"serverInfo\":");
    result.extend_from_slice(&introduced(server_info.as_bytes(), era));
    let instructions = instructions.filter(|_| era.shapes.instructions);
    result.extend_from_slice(instructions_member(instructions).as_bytes());
    result.push(b'}');
    result_response(id, &result)
}

/// Returns true if a version as written (a JSON string or number) means `era`.
fn means(asked: &[u8], era: &Era) -> bool {
    let inside = asked.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    unquote(inside.unwrap_or(asked))
        .and_then(|version| by_version(&version))
        .is_some_and(|found| found == era)
}

/// The name and version of a peer, a JSON object, without members that `era` may reject.
pub fn identity(info: &[u8], era: &Era) -> Bytes {
    if !era.shapes.strict {
        return Bytes::copy_from_slice(info);
    }
    without(info, &["title", "description", "icons", "websiteUrl"])
}

/// An object without these members.
fn without(info: &[u8], keys: &[&str]) -> Bytes {
    let Ok(members) = Members::of_document(info, crate::json::MAX_DEPTH) else {
        return Bytes::copy_from_slice(info);
    };
    let mut splice = Splice::new(info);
    for key in keys {
        splice.remove(&members, key.as_bytes());
    }
    splice.finish()
}

/// The gateway's own name and version, a JSON object, without members that `era` does not define.
fn introduced(info: &[u8], era: &Era) -> Bytes {
    let info = identity(info, era);
    if era.shapes.described || era.shapes.strict {
        return info;
    }
    without(&info, &["description", "icons", "websiteUrl"])
}

/// The result of `server/discover`, as an object without its request's id.
pub fn discover_result(
    era: &Era,
    capabilities: &str,
    server_info: &str,
    instructions: Option<&str>,
    cache: CacheHint,
) -> CacheableResult {
    let versions: Vec<String> = super::stateless_versions().map(quote).collect();
    let members = format!(
        "\"supportedVersions\":[{}],\"capabilities\":{capabilities}{}",
        versions.join(","),
        instructions_member(instructions),
    );
    CacheableResult::new(era, members.as_bytes(), cache, server_info)
}

fn instructions_member(instructions: Option<&str>) -> String {
    instructions.map(|text| format!(",\"instructions\":{}", quote(text))).unwrap_or_default()
}

fn request(id: &Id, method: &str, params: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(64 + params.len());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.json());
    out.extend_from_slice(b",\"method\":");
    out.extend_from_slice(quote(method).as_bytes());
    out.extend_from_slice(b",\"params\":");
    out.extend_from_slice(params);
    out.push(b'}');
    Bytes::from(out)
}
