//! `cluster`: several gateways that work as one, and the store that they share.

use std::fmt;
use std::net::SocketAddr;

use secrecy::{ExposeSecret, SecretString};

use crate::forward_proxy::decoded;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{Flag, MergedSection, Optional, Parsed, Secret, path};
use crate::servers::route::ClientTls;
use crate::serving::listen::OneAddress;
use crate::syntax::parse::Entry;
use crate::values::check::Flaw;
use crate::values::text::Text;

section! {
    /// Lets several gateways work as one. All of them need the same configuration, apart from their addresses and names.
    pub struct Cluster: "a mapping with `store` and `keyRing`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, sound: bool) {
            if let Some(address) = entry.value.entry("address")
                && self.address.is_some_and(|address| address.ip().is_unspecified())
            {
                let message = "the other gateways cannot connect to this address";
                let help = "write the address of this machine in the network of the gateways, such as 10.0.0.7:8810";
                reader.within("address", |reader| reader.fault(&address.value.at, message, help));
            }
            let Some(store) = entry.value.entry("store").filter(|_| sound) else { return };
            let Ok(url) = StoreUrl::parse(self.store.expose()) else { return };
            let may_be_read = !url.is_secure && !url.is_on_this_machine();
            reader.within("store", |reader| {
                if may_be_read {
                    let message = "others can read the password of the store, and the times of requests, in transit";
                    let help = "write rediss://, unless you trust the network between Dragoman and the store";
                    reader.note(&store.key_at, message, help);
                } else if self.tls.is_some() && !url.is_secure {
                    reader.note(&store.key_at, "`tls` has no effect without rediss://", "write rediss://, or remove `tls`");
                }
            });
        }
    } [
        /// The URL of the store that all gateways share: Valkey, or Redis 7.0 or later. `redis://user:password@host:6379/0`, or
        /// `rediss://` for a connection with TLS.
        "store" store: Text = Secret("a URL", |url| StoreUrl::parse(url.expose()).map(|_| ()).map_err(StoreUrlFault::flaw)),
            default Text::plain(""), needed "store: redis://127.0.0.1:6379";
        /// The file with the keys that seal the shared data. It must have the same content on all machines, and it replaces `keyRing` at the top level.
        "keyRing" key_ring: Text = path(), default Text::plain(""), needed "keyRing: /run/secrets/dragoman-keyring", see "[keyring.md](keyring.md)";
        /// The address at which this gateway accepts requests that the other gateways of the cluster pass on, such as `10.0.0.7:8810`. Clients
        /// must not be able to reach it. Without it, some requests succeed only at one gateway.
        "address" address: Option<SocketAddr> = Optional(OneAddress), absent "none", see "[below](#requests-that-are-passed-on)";
        /// Copies the events of clients' event streams to the store, so that a client can resume a stream at another gateway after the gateway
        /// that sent the events has ended.
        "replay" replay: bool = Flag, default true, see "[below](#events-that-are-sent-again)";
        /// The prefix of all key names in the store. Give each cluster its own prefix if several clusters share a store.
        "prefix" prefix: String = Parsed("a prefix", prefix), default "dragoman".to_owned();
        /// The name of this gateway on pages and in the log.
        "name" name: Option<String> = Optional(Parsed("a name", name)), absent "the name of the machine";
        /// The files for TLS to the store.
        "tls" tls: Option<ClientTls> = Optional(MergedSection), absent "the system's certificate authorities, no client certificate";
    ]
}

fn prefix(text: &Text) -> Result<String, Flaw> {
    let text = text.expose();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if (1..=64).contains(&text.len()) && text.chars().all(fits) {
        return Ok(text.to_owned());
    }
    Err(Flaw::new(
        "a prefix can have up to 64 letters, digits and the characters - _ .",
        "write prefix: dragoman",
    ))
}

fn name(text: &Text) -> Result<String, Flaw> {
    let text = text.expose();
    if (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err(Flaw::new(
        "a name must have 1 to 64 visible ASCII characters and no space",
        "write, for example, name: gateway-1",
    ))
}

/// The address and the credentials of a store. `Display` and `Debug` show host and port only.
#[derive(Clone)]
pub struct StoreUrl {
    /// True if the connection uses TLS.
    pub is_secure: bool,
    /// The host, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The name of an ACL user.
    pub user: Option<String>,
    /// The password.
    pub password: Option<SecretString>,
    /// The number of the database.
    pub database: u32,
}

/// The reason why a text is not the URL of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreUrlFault {
    /// The scheme is neither `redis` nor `rediss`.
    #[error("the URL of the store must begin with redis:// or rediss://")]
    Scheme,
    /// There is no valid host or port.
    #[error("the URL of the store has no valid host and port")]
    Host,
    /// Something other than a number follows the host.
    #[error("after the host, the URL of the store may contain only the number of a database: /0")]
    Database,
    /// The credentials are not percent-encoded text.
    #[error("the user name and password in the URL of the store must be percent-encoded")]
    Credentials,
}

impl StoreUrlFault {
    fn flaw(self) -> Flaw {
        Flaw::new(self.to_string(), "write redis://user:password@host:6379/0, or rediss:// for TLS")
    }
}

impl StoreUrl {
    /// Reads `redis://user:password@host:port/database`. The default port is 6379, the default database 0. Without
    /// a colon, the text before `@` is a user name.
    ///
    /// # Errors
    /// Returns the fault, which does not quote the text.
    pub fn parse(url: &str) -> Result<Self, StoreUrlFault> {
        let (scheme, rest) = url.trim().split_once("://").ok_or(StoreUrlFault::Scheme)?;
        let is_secure = match scheme {
            "redis" => false,
            "rediss" => true,
            _ => return Err(StoreUrlFault::Scheme),
        };
        let (credentials, rest) =
            rest.rsplit_once('@').map_or((None, rest), |(before, rest)| (Some(before), rest));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = match database {
            "" => 0,
            number => number.parse().map_err(|_| StoreUrlFault::Database)?,
        };
        let authority: http::uri::Authority = authority.parse().map_err(|_| StoreUrlFault::Host)?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = match authority.port_u16() {
            Some(port) if port > 0 => port,
            None if authority.as_str().len() == authority.host().len() => 6379,
            _ => return Err(StoreUrlFault::Host),
        };
        if host.is_empty() {
            return Err(StoreUrlFault::Host);
        }
        let (user, password) = credentials.map_or(Ok((None, None)), user_and_password)?;
        Ok(Self { is_secure, host, port, user, password, database })
    }

    /// Returns true if the host is this machine.
    fn is_on_this_machine(&self) -> bool {
        let is_loopback = self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        is_loopback || self.host.eq_ignore_ascii_case("localhost")
    }
}

type Credentials = (Option<String>, Option<SecretString>);

fn user_and_password(text: &str) -> Result<Credentials, StoreUrlFault> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let sound = |text: &str| decoded(text).ok_or(StoreUrlFault::Credentials);
    let (user, password) = (sound(user)?, SecretString::from(sound(password)?));
    let user = Some(user).filter(|user| !user.is_empty());
    Ok((user, Some(password).filter(|password| !password.expose_secret().is_empty())))
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_url_are_read() {
        let url = StoreUrl::parse("rediss://gate%77ay:p%40ss@[::1]:7000/3").unwrap();
        assert_eq!((url.is_secure, url.host.as_str(), url.port, url.database), (true, "::1", 7000, 3));
        assert_eq!(url.user.as_deref(), Some("gateway"));
        assert_eq!(url.password.as_ref().map(ExposeSecret::expose_secret), Some("p@ss"));
        assert_eq!(format!("{url} {url:?}"), "[::1]:7000 StoreUrl([::1]:7000)");
        let url = StoreUrl::parse("redis://store").unwrap();
        assert_eq!((url.is_secure, url.to_string().as_str(), url.database), (false, "store:6379", 0));
        assert!(url.user.is_none() && url.password.is_none());
        assert!(StoreUrl::parse("redis://:secret@store").unwrap().user.is_none());
    }

    #[test]
    fn texts_that_are_no_url_of_a_store_have_a_fault() {
        let fault = |url| StoreUrl::parse(url).unwrap_err();
        assert_eq!(fault("http://store"), StoreUrlFault::Scheme);
        assert_eq!(fault("store:6379"), StoreUrlFault::Scheme);
        assert_eq!(fault("redis://"), StoreUrlFault::Host);
        assert_eq!(fault("redis://store:0"), StoreUrlFault::Host);
        assert_eq!(fault("redis://store:99999"), StoreUrlFault::Host);
        assert_eq!(fault("redis://store/zero"), StoreUrlFault::Database);
        assert_eq!(fault("redis://a%:b@store"), StoreUrlFault::Credentials);
    }
}
