//! The settings for the consent of a server's users: Dragoman's identity at the server's authorization server, and
//! the address at which browsers find Dragoman. It must not know how consent is requested.

use super::auth::{safe_url, scope};
use super::check::{self, Flaw};
use super::parse::Entry;
use super::read::{Reader, clip};
use super::rows::section;
use super::section::keys;
use super::spellings::{Flag, Maybe, Parsed, Secret, Sound, texts};
use super::suggest;
use super::text::Text;

section! {
    /// Dragoman's client at the authorization server of a server over HTTP, for servers where it cannot register itself.
    pub struct OAuthClient: "a mapping with `clientId`, `clientSecret`, `issuer`, `issuerCallback`, `scopes`, `shared`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            let Some(secret) = entry.value.entry("clientSecret") else { return };
            for (key, message, help) in [
                ("clientId", "a secret without a name", "add `clientId`, the name that it was given for"),
                (
                    "issuer",
                    "a secret that would be shown to whichever authorization server is named",
                    "add `issuer`, the URL of the authorization server that knows the client",
                ),
            ] {
                if entry.value.entry(key).is_none() {
                    reader.within("clientSecret", |reader| reader.fault(&secret.key_at, message, help));
                }
            }
        }

        /// Other clients have more keys here: a port of their own, or addresses that Dragoman discovers
        /// itself.
        fn rest(reader: &mut Reader<'_>, rest: &[&Entry]) {
            let near = |entry: &Entry| suggest::nearest(&entry.key, keys::<Self>()).is_some();
            let (ours, others): (Vec<&Entry>, Vec<&Entry>) = rest.iter().partition(|entry| near(entry));
            reader.refuse(&ours, &keys::<Self>());
            for entry in others {
                let message = format!("`{}` is not used by Dragoman", clip(&entry.key));
                reader.within(&entry.key, |r| r.note(&entry.key_at, message, "nothing to do; it may stay"));
            }
        }

        fn adapt(schema: &mut schemars::Schema, _: &mut schemars::SchemaGenerator) {
            schema.remove("additionalProperties");
        }
    } [
        /// The name under which Dragoman is registered there.
        "clientId" client_id: Option<Text> = Maybe(Sound("the client's name as a text", visible)),
            absent "Dragoman registers itself";
        /// The secret for the name, if there is one. It requires `issuer`.
        "clientSecret" client_secret: Option<Text> = Maybe(Secret("the client's secret as a text", visible));
        /// The authorization server that knows the client: its issuer, a URL. Users are sent to no other one, and no other one
        /// gets the secret.
        "issuer" issuer: Option<String> = Maybe(Parsed("a URL", site)), absent "the one that the server names";
        /// Sends browsers back to the redirect URI of this client's issuer instead of `/oauth/callback`. It is required if clients
        /// at several authorization servers are registered by hand and this one does not name itself in its answers (`iss`,
        /// RFC 9207). The error for such an answer names the URI to register.
        "issuerCallback" issuer_callback: bool = Flag;
        /// The scopes that users are asked to allow.
        "scopes" scopes: Vec<String> = texts(scope),
            absent "what the server asks for";
        /// Lets one consent, whoever gives it, count for all callers. By default each authenticated caller gives its own.
        "shared" shared: bool = Flag;
    ]
}

/// Checks a client's name or secret (RFC 6749, appendix A.1 and A.2).
fn visible(text: &Text) -> Result<(), Flaw> {
    if !text.expose().is_empty() && text.expose().bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
        return Ok(());
    }
    Err(Flaw::new("this is empty, or has characters that are not of ASCII", "copy it from where it was made"))
}

/// Checks an address to which paths are appended: with TLS, or on this machine. Returns it without its final
/// slash.
pub(super) fn site(address: &Text) -> Result<String, Flaw> {
    check::site_url(address)?;
    safe_url(address)?;
    Ok(address.expose().trim_end_matches('/').to_owned())
}
