//! Checks of values: server names, URLs, headers, commands, paths.
//!
//! Pure functions, each for one value. They do not deal with positions in files; the reader adds these. A message
//! shows a text only in the form that people may see.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::uri::{Authority, Scheme};
use http::{HeaderName, HeaderValue, Uri};

use super::text::Text;
use super::words::is_word_of;

/// A reason to reject a value, and a suggested fix.
#[derive(Debug, PartialEq, Eq)]
pub struct Flaw {
    pub(crate) message: String,
    pub(crate) help: String,
    /// True if the help is derived from the value itself.
    pub(crate) tells_value: bool,
}

impl Flaw {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into(), tells_value: false }
    }

    /// A flaw whose help is derived from the value itself; only for a value that may be shown.
    pub(crate) fn telling(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { tells_value: true, ..Self::new(message, help) }
    }
}

/// The maximum length of a server name, in characters.
pub const MAX_SERVER_NAME: usize = 32;
/// The maximum length of the name of a tool or prompt, in characters.
pub const MAX_PUBLIC_NAME: usize = 64;
/// The maximum length of a profile slug, in characters.
pub const MAX_SLUG: usize = 64;
const MAX_PATH: usize = 256;

/// Headers that belong to the connection or to the protocol, so no configuration may set them.
const OWN_HEADERS: &str = "accept connection content-encoding content-length content-type expect host keep-alive last-event-id \
    mcp-method mcp-name mcp-protocol-version mcp-session-id proxy-authenticate proxy-authorization \
    proxy-connection te trailer transfer-encoding upgrade";

/// Paths that Dragoman serves itself, whatever is configured.
const OWN_PATHS: &[&str] = &["/", "/health", "/ready", "/metrics", "/admin"];
/// Paths at which Dragoman serves profiles.
const PROFILE_PATHS: &[&str] = &["/mcp", "/sse", "/message"];

/// Returns the allowed name that is most like `name`; empty if no character of the name is allowed.
pub fn allowed_server_name(name: &str) -> String {
    let mut better = String::new();
    for c in name.chars() {
        if is_allowed(c) {
            better.push(c);
        } else if !better.ends_with('-') {
            better.push('-');
        }
    }
    while better.contains("__") {
        better = better.replace("__", "_");
    }
    better.truncate(MAX_SERVER_NAME);
    better.trim_matches('-').to_owned()
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

pub(crate) fn server_name(name: &str) -> Result<(), Flaw> {
    let better = allowed_server_name(name);
    let help = if better.is_empty() {
        "write a name such as `files`".to_owned()
    } else {
        format!("write `{better}`")
    };
    if name.is_empty() {
        return Err(Flaw::new("a server needs a name", help));
    }
    if name.chars().count() > MAX_SERVER_NAME {
        return Err(Flaw::new(format!("a server name can have at most {MAX_SERVER_NAME} characters"), help));
    }
    if !name.chars().all(is_allowed) {
        return Err(Flaw::new("a server name can contain only `A-Z a-z 0-9 _ . -`", help));
    }
    if name == "_OTHER" {
        return Err(Flaw::new(
            "`/metrics` uses `_OTHER` for all servers above the cap",
            "write another name",
        ));
    }
    if name.contains("__") {
        return Err(Flaw::new(
            "a server name cannot contain `__`, which separates it from the tool's name",
            help,
        ));
    }
    Ok(())
}

pub(crate) fn slug(name: &str) -> Result<(), Flaw> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if starts_well && name.len() <= MAX_SLUG && name.chars().all(allowed) {
        return Ok(());
    }
    let lower: String =
        name.chars().map(|c| c.to_ascii_lowercase()).map(|c| if allowed(c) { c } else { '-' }).collect();
    let better: String = lower.trim_matches(['-', '_']).chars().take(MAX_SLUG).collect();
    let help = if better.is_empty() {
        "write a name such as `editors`".to_owned()
    } else {
        format!("write `{better}`")
    };
    let message = format!(
        "a profile's name is part of a URL: it must have 1 to {MAX_SLUG} characters of `a-z 0-9 - _`, starting with a letter or \
         digit"
    );
    Err(Flaw::new(message, help))
}

/// Checks a name that clients see: it must be valid in every era and for every client.
pub(crate) fn public_name(name: &str) -> Result<(), Flaw> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if (1..=MAX_PUBLIC_NAME).contains(&name.len()) && name.chars().all(allowed) {
        return Ok(());
    }
    let better: String =
        name.chars().map(|c| if allowed(c) { c } else { '_' }).take(MAX_PUBLIC_NAME).collect();
    let help = if better.is_empty() { "write the new name".to_owned() } else { format!("write `{better}`") };
    Err(Flaw::telling(
        format!(
            "a name that clients see must have 1 to {MAX_PUBLIC_NAME} characters of `A-Z a-z 0-9 _ - . /`"
        ),
        help,
    ))
}

pub(crate) fn url(url: &Text) -> Result<(), Flaw> {
    let example = "write it like https://docs.example.com/mcp";
    let value = url.expose();
    if value.trim() != value || value.is_empty() {
        return Err(Flaw::new("a URL cannot be empty or surrounded by spaces", example));
    }
    if !value.is_ascii() {
        return Err(Flaw::new(
            "a URL can contain only ASCII characters",
            "write the host in Punycode (xn--…), and encode the path with %XX",
        ));
    }
    let Some((scheme, _)) = value.split_once("://") else {
        return Err(Flaw::new("this URL has no scheme", "put `https://` or `http://` in front"));
    };
    if matches!(scheme.to_ascii_lowercase().as_str(), "ws" | "wss") {
        return Err(Flaw::new("MCP has no WebSocket transport", "write the server's https:// address"));
    }
    if value.contains('#') {
        return Err(Flaw::new("a URL cannot have a fragment", "remove the `#` and what follows it"));
    }
    let uri: Uri = value.parse().map_err(|_| Flaw::new("this is not a URL", example))?;
    if uri.scheme() != Some(&Scheme::HTTPS) && uri.scheme() != Some(&Scheme::HTTP) {
        return Err(Flaw::new("a URL must start with `https://` or `http://`", example));
    }
    let authority = uri.authority().ok_or_else(|| Flaw::new("this URL has no host", example))?;
    if authority.as_str().contains('@') {
        let help =
            "remove both from the URL and send a header: headers: { Authorization: \"Bearer ${TOKEN}\" }";
        return Err(Flaw::new("a URL cannot carry a user name or a password", help));
    }
    host_and_port(authority).map_err(|reason| Flaw::new(reason, example))
}

/// Checks an address to which paths are appended: a URL without a query.
pub(crate) fn site_url(address: &Text) -> Result<(), Flaw> {
    url(address)?;
    if address.expose().contains('?') {
        return Err(Flaw::new("this address cannot have a query", "remove the `?` and what follows it"));
    }
    Ok(())
}

/// Returns true if requests to this URL leave this machine unencrypted.
pub(crate) fn is_readable_on_the_way(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_matches(['[', ']']);
    let here = host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    uri.scheme() == Some(&Scheme::HTTP) && !here
}

/// Checks a name that HTTP's Basic scheme can carry (RFC 7617 section 2).
pub(crate) fn basic_name(name: &Text) -> Result<(), Flaw> {
    if name.expose().contains(':') || name.expose().chars().any(char::is_control) {
        return Err(Flaw::new("a user name cannot contain a colon or a control character", "correct it"));
    }
    Ok(())
}

pub(crate) fn basic_password(password: &Text) -> Result<(), Flaw> {
    if password.expose().chars().any(char::is_control) {
        return Err(Flaw::new("a password cannot contain a control character", "remove it"));
    }
    Ok(())
}

/// Checks a short name of letters, digits, `-` and `_`.
pub(crate) fn word(word: &str) -> Result<String, Flaw> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if (1..=64).contains(&word.len()) && word.chars().all(allowed) {
        return Ok(word.to_owned());
    }
    Err(Flaw::new("this name must have 1 to 64 characters from `A-Z a-z 0-9 - _`", "correct it"))
}

fn host_and_port(authority: &Authority) -> Result<(), &'static str> {
    let host = authority.host();
    if host.is_empty() || host == "[]" {
        return Err("this URL has no host");
    }
    let after_host = &authority.as_str()[host.len()..];
    if !after_host.is_empty() && authority.port_u16().is_none_or(|port| port == 0) {
        return Err("the port in this URL is not between 1 and 65535");
    }
    match host.strip_prefix('[') {
        Some(inside) if inside.trim_end_matches(']').parse::<std::net::Ipv6Addr>().is_err() => {
            Err("the text in brackets is not an IPv6 address")
        }
        Some(_) => Ok(()),
        None if host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')) => Ok(()),
        None => Err("the host in this URL contains characters that host names cannot contain"),
    }
}

/// Returns true if a header, in any case, belongs to the protocol or the connection; nobody may configure such a header.
pub fn is_protocol_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    is_word_of(&name, OWN_HEADERS) || name.starts_with("mcp-param-")
}

pub(crate) fn header_name(name: &str) -> Result<HeaderName, Flaw> {
    let parsed = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| Flaw::new("this is not a valid header name", "write a name such as Authorization"))?;
    if is_protocol_header(parsed.as_str()) {
        let message = format!("the `{parsed}` header belongs to the protocol or the connection");
        return Err(Flaw::new(message, "remove it; Dragoman sets this header itself if it is needed"));
    }
    Ok(parsed)
}

pub(crate) fn header_value(value: &Text) -> Result<(), Flaw> {
    let text = value.expose();
    if text.contains(['\r', '\n']) {
        let help = "remove the line break; a file with a token must contain only one line";
        return Err(Flaw::new("a header's value cannot contain a line break", help));
    }
    if !text.is_ascii() || HeaderValue::from_str(text).is_err() {
        return Err(Flaw::new(
            "a header's value can contain only visible ASCII characters",
            "encode other characters in the way that the server requires",
        ));
    }
    if text.trim() != text {
        return Err(Flaw::new(
            "a header's value cannot be surrounded by spaces",
            "remove them; is a variable empty?",
        ));
    }
    Ok(())
}

pub(crate) fn command(command: &Text) -> Result<(), Flaw> {
    let text = command.expose();
    if text.trim().is_empty() {
        return Err(Flaw::new("the command is empty", "write the program to start: command: npx"));
    }
    no_nul(text)
}

/// Rejects NUL, because commands, arguments, folders and environment values reach the child as C strings.
pub(crate) fn no_nul(text: &str) -> Result<(), Flaw> {
    if text.contains('\0') {
        return Err(Flaw::new("a NUL character cannot be passed to a program", "remove it"));
    }
    Ok(())
}

pub(crate) fn no_nul_text(text: &Text) -> Result<(), Flaw> {
    no_nul(text.expose())
}

pub(crate) fn variable(name: &str) -> Result<String, Flaw> {
    if name.is_empty() || name.contains(['=', '\0']) || name.chars().any(char::is_whitespace) {
        let help = "write NAME: value, not NAME=value";
        return Err(Flaw::new(
            "an environment variable's name cannot be empty or contain `=` or spaces",
            help,
        ));
    }
    Ok(name.to_owned())
}

pub(crate) fn listen(text: &str) -> Result<SocketAddr, Flaw> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let port = text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if let (Some(host), Some(port)) = (text.rsplit_once(':').map(|(host, _)| host), port) {
        if host == "localhost" {
            return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
        }
        let help = format!(
            "write 127.0.0.1:{port} for this machine only, or 0.0.0.0:{port} for other machines, too"
        );
        return Err(Flaw::telling("an address to listen on must be an IP address and a port", help));
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        let help = format!("write {}", SocketAddr::new(ip, 8808));
        return Err(Flaw::telling("the port is missing", help));
    }
    Err(Flaw::new("this is not an address to listen on", "write an IP address and a port: 127.0.0.1:8808"))
}

/// Checks the path of an endpoint. If `may_be_own` is true, the path may be one at which Dragoman itself serves a profile.
pub(crate) fn endpoint_path(path: &str, may_be_own: bool) -> Result<(), Flaw> {
    let example = "write an absolute path such as /tools/mcp";
    if !path.starts_with('/') {
        return Err(Flaw::telling(
            "a path must start with `/`",
            format!("write /{}", path.trim_start_matches('/')),
        ));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '~');
    if path.len() > MAX_PATH || !path.chars().all(allowed) {
        let message =
            format!("a path can have at most {MAX_PATH} characters of `A-Z a-z 0-9 / - _ . ~` and no query");
        return Err(Flaw::new(message, example));
    }
    if path.split('/').any(|part| part == "." || part == "..") || path.contains("//") {
        return Err(Flaw::new("a path cannot contain `//`, `/./` or `/../`", example));
    }
    let among = |paths: &[&str]| paths.iter().any(|own| path == *own || path.trim_end_matches('/') == *own);
    if among(OWN_PATHS) || ["/admin/", "/.well-known/"].iter().any(|own| path.starts_with(own)) {
        return Err(Flaw::new("Dragoman already serves something at this path", example));
    }
    if !may_be_own && (among(PROFILE_PATHS) || path.starts_with("/mcp/")) {
        let help = format!("{example}, or set the dialect at this path: dialect: standard");
        return Err(Flaw::new("Dragoman already serves something at this path", help));
    }
    Ok(())
}

/// Checks a host such as `mcp.example.com`, `mcp.example.com:8443`, `192.0.2.7` or `[2001:db8::7]:8443`; returns the host in lower
/// case.
pub(crate) fn allowed_host(text: &Text) -> Result<String, Flaw> {
    host(text.expose())
}

fn host(text: &str) -> Result<String, Flaw> {
    let example = "write it like mcp.example.com or mcp.example.com:8443";
    if text.contains("://") {
        return Err(Flaw::new("a host cannot have a scheme", example));
    }
    let flaw = || Flaw::new("this is not a valid host, with or without a port", example);
    let authority: Authority = text.parse().map_err(|_| flaw())?;
    if text.contains('@') || host_and_port(&authority).is_err() {
        return Err(flaw());
    }
    Ok(text.to_ascii_lowercase())
}

/// Checks an origin such as `https://app.example.com`, without a path, in the form that browsers send; returns the origin in lower
/// case.
pub(crate) fn allowed_origin(text: &Text) -> Result<String, Flaw> {
    let text = text.expose();
    let example = "write it like https://app.example.com, without a path";
    if text == "*" || text.eq_ignore_ascii_case("null") {
        return Err(Flaw::new("this would admit every web page", "list the origins one by one"));
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(Flaw::new("an origin must have a scheme and a host", example));
    };
    let scheme_is_sound = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let host = rest.strip_suffix('/').unwrap_or(rest);
    if !scheme_is_sound || host.contains('/') || self::host(host).is_err() {
        return Err(Flaw::new(
            "an origin must have a scheme, a host and no path; a port is optional",
            example,
        ));
    }
    Ok(format!("{}://{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()))
}
