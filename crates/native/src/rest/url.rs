//! URLs of targets in canonical form. This module must not know what the URLs lead to.

/// The longest URL of a target, in bytes.
const LONGEST_URL: usize = 2000;

/// A base URL from the configuration or a request: `http` or `https`, a host, and optionally a port and a path. It has no
/// account, query or fragment, and only characters that a URL may contain. Surrounding blanks and trailing slashes are
/// removed, and the host is put into canonical form.
///
/// # Errors
/// Returns the fault, in a message that does not repeat the URL.
pub(crate) fn base_url(text: &str) -> Result<String, &'static str> {
    let text = text.trim().trim_end_matches('/');
    let (scheme, behind) = text.split_once("://").ok_or("the URL must begin with http:// or https://")?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => "http",
        "https" => "https",
        _ => return Err("the URL must begin with http:// or https://"),
    };
    if text.len() > LONGEST_URL {
        return Err("the URL is too long");
    }
    let fits =
        |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}');
    if !behind.chars().all(fits) {
        return Err("the URL contains invalid characters; write international names in their ASCII form");
    }
    if behind.contains(['?', '#']) {
        return Err("the URL must not have a query or a fragment");
    }
    let (authority, path) = behind.find('/').map_or((behind, ""), |at| behind.split_at(at));
    if authority.contains('@') {
        return Err("the URL must not contain a user name or a password: give them separately");
    }
    let host = authority.strip_prefix('[').map_or_else(
        || authority.split(':').next().unwrap_or_default(),
        |inside| inside.split(']').next().unwrap_or_default(),
    );
    let in_authority = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    if host.is_empty() || !authority.chars().all(in_authority) {
        return Err("the URL has no host");
    }
    if !has_port(authority) {
        return Err("the URL's port is invalid: write a number from 1 to 65535");
    }
    if path.split('/').any(|part| matches!(part, "." | "..")) {
        return Err("the URL's path must not contain . or .. segments");
    }
    Ok(format!("{scheme}://{}{path}", canonical(scheme, authority)))
}

/// The port of a URL in canonical form: the port in the URL, or the default port of its scheme.
pub(crate) fn port_of(url: &str) -> u16 {
    let (scheme, behind) = url.split_once("://").unwrap_or(("http", url));
    let authority = behind.split('/').next().unwrap_or_default();
    let port_at = authority.rfind(']').map_or(0, |end| end + 1);
    let named = authority
        .get(port_at..)
        .and_then(|rest| rest.split_once(':'))
        .and_then(|(_, port)| port.parse().ok());
    named.unwrap_or(if scheme == "https" { 443 } else { 80 })
}

/// Returns true if an authority names a valid port, or none. An invalid port would be ignored, and the default port would be used.
pub(super) fn has_port(authority: &str) -> bool {
    let port_at = authority.rfind(']').map_or(0, |end| end + 1);
    match authority.get(port_at..).and_then(|rest| rest.split_once(':')) {
        Some((_, port)) => {
            port.is_empty()
                || (port.bytes().all(|byte| byte.is_ascii_digit())
                    && port.parse::<u16>().is_ok_and(|port| port > 0))
        }
        None => true,
    }
}

/// A host and its port in canonical form: in lower case, without the final dot of a fully qualified name (RFC 1034,
/// 3.1) and without the scheme's default port (RFC 3986, 6.2.3). Limits per host therefore apply to all spellings
/// together.
pub(super) fn canonical(scheme: &str, authority: &str) -> String {
    let authority = authority.to_ascii_lowercase();
    let port_at = authority.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match authority[port_at..].find(':') {
        Some(colon) => (&authority[..port_at + colon], &authority[port_at + colon + 1..]),
        None => (authority.as_str(), ""),
    };
    let host = host.strip_suffix('.').filter(|host| !host.is_empty()).unwrap_or(host);
    let usual = if scheme == "https" { "443" } else { "80" };
    if port.is_empty() || port == usual { host.to_owned() } else { format!("{host}:{port}") }
}
