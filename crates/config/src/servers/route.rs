//! The route to a server: `proxy`, and the files of `tls` for connections to it. This module must not know the
//! contents of files, or how connections are made.

use std::path::{Path, PathBuf};

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::forward_proxy::ForwardProxy;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{File, Optional, ServerText, Spelling};
use crate::syntax::parse::Entry;
use crate::values::check::Flaw;
use crate::values::text::Text;

/// The proxy for requests to a server.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ProxyRule {
    /// The proxy that the environment names for the server's host, if there is one.
    #[default]
    Environment,
    /// No proxy.
    Direct,
    /// The proxy at this URL, which may contain credentials.
    Through(Text),
}

/// `none`, `environment`, or the URL of a proxy.
pub(crate) struct ProxySpelling;

impl Spelling<ProxyRule> for ProxySpelling {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&ProxyRule>) -> Option<ProxyRule> {
        let what = "the URL of a proxy, or `none`";
        let text = ServerText { what, secret: true, check: |_| Ok(()) }.read(reader, entry, None)?;
        match text.expose() {
            "none" => return Some(ProxyRule::Direct),
            "environment" => return Some(ProxyRule::Environment),
            _ => {}
        }
        let flaw = |why: &dyn std::fmt::Display| {
            let help = "write it like http://proxy.example.com:3128, or write `none`";
            Flaw::new(format!("this is not the URL of a usable proxy: {why}"), help)
        };
        // Without this check, every word would count as a host.
        let parsed = if text.expose().contains("://") {
            ForwardProxy::parse(text.expose()).map_err(|why| flaw(&why))
        } else {
            Err(flaw(&"it has no scheme"))
        };
        reader.sound(&entry.value.at, parsed).map(|_| ProxyRule::Through(text))
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }

    fn written(&self, rule: &ProxyRule) -> Value {
        match rule {
            ProxyRule::Environment => Value::Null,
            ProxyRule::Direct => json!("none"),
            ProxyRule::Through(url) => json!(url.shown()),
        }
    }

    fn shown(&self, rule: &ProxyRule) -> Value {
        match rule {
            ProxyRule::Environment => Value::Null,
            ProxyRule::Direct => json!("none"),
            ProxyRule::Through(url) => json!(url.shown()),
        }
    }
}

section! {
    /// The files for TLS connections to a server. The files are read again when they change.
    pub struct ClientTls: "a mapping with `ca`, or with `cert` and `key`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, sound: bool) {
            let (has, lacks) = match (&self.cert, &self.key) {
                (Some(_), None) => ("cert", "key"),
                (None, Some(_)) => ("key", "cert"),
                (None, None) if sound && self.ca.is_none() => {
                    let help = "write ca: FILE, or cert: FILE and key: FILE, or remove `tls`";
                    reader.fault(&entry.key_at, "`tls` does not name a file", help);
                    return;
                }
                _ => return,
            };
            let Some(written) = entry.value.entry(has).filter(|_| sound) else { return };
            reader.within(has, |reader| {
                let message = format!("`{has}` has no `{lacks}`");
                reader.fault(&written.key_at, message, "name both the client's certificate and its private key");
            });
        }
    } [
        /// PEM: certificates of authorities. One of these authorities must have issued the server's certificate. For requests to
        /// the server's authorization server, these authorities are trusted in addition to those of the system. A relative path is
        /// resolved from the configuration's folder.
        "ca" ca: Option<PathBuf> = Optional(File), absent "the system's certificate authorities";
        /// PEM: the certificate that Dragoman shows to the server, followed by those of intermediate authorities. Dragoman shows
        /// the certificate only to this server.
        "cert" cert: Option<PathBuf> = Optional(File), absent "none";
        /// PEM: the private key of the certificate, not encrypted.
        "key" key: Option<PathBuf> = Optional(File), absent "none";
    ]
}

impl ClientTls {
    /// The same files, with relative paths resolved against `folder`.
    #[must_use]
    pub fn from_folder(&self, folder: &Path) -> Self {
        let at = |file: &Option<PathBuf>| file.as_ref().map(|file| folder.join(file));
        Self { ca: at(&self.ca), cert: at(&self.cert), key: at(&self.key) }
    }
}
