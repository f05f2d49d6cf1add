//! One proxy: its address and credentials, read from a URL. This module must not know which requests it is for.

use std::fmt;
use std::hash::{Hash, Hasher};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use http::uri::Authority;
use secrecy::{ExposeSecret, SecretString};

/// An HTTP proxy. `Display` and `Debug` show host and port only.
#[derive(Clone)]
pub struct ForwardProxy {
    secure: bool,
    host: Box<str>,
    port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<SecretString>,
    password: Option<SecretString>,
}

/// The reason why a text is not the URL of a usable proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProxyUrlFault {
    /// The scheme belongs to another kind of proxy.
    #[error("only HTTP proxies are supported, so the URL must begin with http:// or https://")]
    Scheme,
    /// The URL has no valid host and port.
    #[error("the URL has no valid host and port")]
    Host,
    /// Something follows the port.
    #[error("the URL must end after the port")]
    Path,
    /// The user name or the password cannot be sent.
    #[error("the user name and password in the URL must be percent-encoded text without control characters")]
    Credentials,
}

impl ForwardProxy {
    /// Reads `http://user:password@host:port`. Without a scheme, the proxy is reached over plain HTTP. The default port is
    /// that of the scheme.
    ///
    /// # Errors
    /// Returns the fault, which does not quote the text.
    pub fn parse(url: &str) -> Result<Self, ProxyUrlFault> {
        let url = url.trim();
        let (secure, rest) = match url.split_once("://") {
            None => (false, url),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some(_) => return Err(ProxyUrlFault::Scheme),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
        if place.contains(['/', '?', '#']) {
            return Err(ProxyUrlFault::Path);
        }
        let authority: Authority = place.parse().map_err(|_| ProxyUrlFault::Host)?;
        let has_port = authority.as_str().len() > authority.host().len();
        let port = match authority.port_u16() {
            Some(port) if port > 0 => port,
            None if !has_port => {
                if secure {
                    443
                } else {
                    80
                }
            }
            _ => return Err(ProxyUrlFault::Host),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if host.is_empty() {
            return Err(ProxyUrlFault::Host);
        }
        let (authorization, password) = match user {
            None => (None, None),
            Some(user) => credentials(user)?,
        };
        Ok(Self { secure, host: host.into(), port, authorization, password })
    }

    /// Returns true if the connection to the proxy uses TLS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// The proxy's host; an IPv6 address has no brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The proxy's port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The value of `Proxy-Authorization`, marked as sensitive.
    pub fn authorization(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(self.authorization.as_ref()?.expose_secret()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The texts that no message may contain.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let encoded = self.authorization.as_ref().map(ExposeSecret::expose_secret);
        let encoded = encoded.map(|value| value.trim_start_matches("Basic "));
        encoded.into_iter().chain(self.password.as_ref().map(ExposeSecret::expose_secret))
    }

    fn key(&self) -> (bool, &str, u16, Option<&str>) {
        let authorization = self.authorization.as_ref().map(ExposeSecret::expose_secret);
        (self.secure, &self.host, self.port, authorization)
    }
}

/// Reads `user:password`, percent-encoded, as the value of `Proxy-Authorization` (RFC 7617, 2) and the password.
fn credentials(text: &str) -> Result<(Option<SecretString>, Option<SecretString>), ProxyUrlFault> {
    if text.is_empty() {
        return Ok((None, None));
    }
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let sound = |text: &str| {
        let text = decoded(text).ok_or(ProxyUrlFault::Credentials)?;
        if text.chars().any(char::is_control) { Err(ProxyUrlFault::Credentials) } else { Ok(text) }
    };
    let (user, password) = (sound(user)?, SecretString::from(sound(password)?));
    // A colon would move the border between name and password.
    if user.contains(':') {
        return Err(ProxyUrlFault::Credentials);
    }
    let pair = SecretString::from(format!("{user}:{}", password.expose_secret()));
    let value = format!("Basic {}", BASE64_STANDARD.encode(pair.expose_secret()));
    let password = Some(password).filter(|password| !password.expose_secret().is_empty());
    Ok((Some(value.into()), password))
}

/// The text without percent-encoding (RFC 3986, 2.1); `None` if an escape is incomplete, or the result is not UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let code = digit()? * 16 + digit()?;
        out.push(u8::try_from(code).ok()?);
    }
    String::from_utf8(out).ok()
}

impl PartialEq for ForwardProxy {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ForwardProxy {}

impl Hash for ForwardProxy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for ForwardProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Debug for ForwardProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForwardProxy({self})")
    }
}
