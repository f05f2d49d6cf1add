//! The settings for the consent of a server's users: Dragoman's identity at the server's authorization server, and the
//! address at which browsers reach Dragoman. This module must not know how consent is requested.

use crate::callers::auth::{safe_url, scope};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::section::keys;
use crate::reading::spellings::{CheckedText, Flag, Optional, Parsed, Secret, Word, texts};
use crate::syntax::parse::Entry;
use crate::values::check::{self, Flaw};
use crate::values::suggest;
use crate::values::text::Text;
use crate::values::wording::clip;
use crate::values::words::words;

section! {
    /// Dragoman's client registration at the authorization server of an HTTP server, for authorization servers at which
    /// Dragoman cannot register itself.
    pub struct OAuthClient: "a mapping with `grant`, `clientId`, `clientSecret`, `issuer`, `issuerCallback`, `scopes`, `shared`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            self.check_grant(reader, entry);
            let Some(secret) = entry.value.entry("clientSecret") else { return };
            for (key, message, help) in [
                ("clientId", "`clientSecret` has no `clientId`", "add `clientId`, the client that the secret belongs to"),
                (
                    "issuer",
                    "without `issuer`, the secret would be sent to any authorization server that the server names",
                    "add `issuer`, the URL of the authorization server that knows the client",
                ),
            ] {
                if entry.value.entry(key).is_none() {
                    reader.within("clientSecret", |reader| reader.fault(&secret.key_at, message, help));
                }
            }
        }

        /// Adds notes for keys that only other MCP clients use, such as the port of their callback, or addresses that
        /// Dragoman discovers itself.
        fn rest(reader: &mut Reader<'_>, rest: &[&Entry]) {
            let near = |entry: &Entry| suggest::nearest(&entry.key, keys::<Self>()).is_some();
            let (ours, others): (Vec<&Entry>, Vec<&Entry>) = rest.iter().partition(|entry| near(entry));
            reader.refuse(&ours, &keys::<Self>());
            for entry in others {
                let message = format!("`{}` is not used by Dragoman", clip(&entry.key));
                reader.within(&entry.key, |r| r.note(&entry.key_at, message, "no change needed; you can keep it"));
            }
        }

        fn adapt(schema: &mut schemars::Schema, _: &mut schemars::SchemaGenerator) {
            schema.remove("additionalProperties");
        }
    } [
        /// The way to get a token: `authorizationCode` asks a user for consent. `clientCredentials` asks nobody: Dragoman
        /// gets one token for all callers, as a client in its own right. `clientCredentials` requires `clientId`,
        /// `clientSecret` and
        /// `issuer`.
        "grant" grant: OAuthGrant = Word, see "[consent.md](consent.md#client-credentials)";
        /// The client id under which Dragoman is registered with the authorization server.
        "clientId" client_id: Option<Text> = Optional(CheckedText("the client's id as a string", visible)),
            absent "Dragoman registers itself";
        /// The client's secret, if there is one. This key requires `issuer`.
        "clientSecret" client_secret: Option<Text> = Optional(Secret("the client's secret as a string", visible));
        /// The issuer URL of the authorization server that knows the client. Users and the secret are not sent to any other
        /// authorization server.
        "issuer" issuer: Option<String> = Optional(Parsed("a URL", site)), absent "the authorization server that the server advertises";
        /// Uses a redirect URI for this client's issuer alone instead of `/oauth/callback`. This is required if clients are
        /// registered by hand at several authorization servers and this issuer does not identify itself in its authorization
        /// responses (`iss`, RFC 9207). The error for such a response shows the URI to register.
        "issuerCallback" issuer_callback: bool = Flag;
        /// The scopes that users are asked to allow; with `clientCredentials`, the scopes that Dragoman requests for itself.
        "scopes" scopes: Vec<String> = texts(scope),
            absent "the scopes that the server requests";
        /// Applies the consent of any one caller to all callers. By default, each authenticated caller gives its own consent.
        "shared" shared: bool = Flag;
    ]
}

words! {
    /// The way to get a token for a server.
    #[derive(Default)]
    pub enum OAuthGrant {
        /// A user gives consent in a browser (RFC 6749, 4.1).
        #[default]
        AuthorizationCode = "authorizationCode",
        /// Dragoman gets a token as a client in its own right (RFC 6749, 4.4).
        ClientCredentials = "clientCredentials",
    }
}

impl OAuthClient {
    /// Returns true if no user is asked for consent.
    pub fn is_machine(&self) -> bool {
        self.grant == OAuthGrant::ClientCredentials
    }

    /// Rejects `clientCredentials` without a client, or together with settings that concern users.
    fn check_grant(&self, reader: &mut Reader<'_>, entry: &Entry) {
        let Some(grant) = entry.value.entry("grant").filter(|_| self.is_machine()) else { return };
        let is_missing = |key: &&str| entry.value.entry(key).is_none();
        let missing: Vec<&str> = ["clientId", "clientSecret"].into_iter().filter(is_missing).collect();
        if !missing.is_empty() {
            let message = format!("`clientCredentials` needs {}", missing.join(" and "));
            let help = "set clientId, clientSecret and issuer to the values of a client that is registered at the \
                        authorization server";
            reader.within("grant", |reader| reader.fault(&grant.value.at, message, help));
        }
        for key in ["issuerCallback", "shared"] {
            let Some(written) = entry.value.entry(key) else { continue };
            let message =
                format!("`{key}` applies to the consent of users, but `clientCredentials` asks for none");
            reader.within(key, |reader| reader.fault(&written.key_at, message, "remove it"));
        }
    }
}

/// Checks a client's name or secret (RFC 6749, appendix A.1 and A.2).
fn visible(text: &Text) -> Result<(), Flaw> {
    if !text.expose().is_empty() && text.expose().bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
        return Ok(());
    }
    Err(Flaw::new(
        "this is empty or contains characters that are not printable ASCII",
        "copy it again from the authorization server",
    ))
}

/// Checks an address to which paths are appended; the address must use TLS or be on this machine. Returns the address
/// without a final slash.
pub(crate) fn site(address: &Text) -> Result<String, Flaw> {
    check::site_url(address)?;
    safe_url(address)?;
    Ok(address.expose().trim_end_matches('/').to_owned())
}
