//! What consent of a server's users takes: who Dragoman is to the server's authorization server, and where browsers find
//! Dragoman. It must not know how consent is asked for.

use schemars::JsonSchema;

use super::auth::{safe_url, scope};
use super::check::{self, Flaw};
use super::parse::Entry;
use super::pieces;
use super::read::{Reader, clip};
use super::suggest;
use super::text::Text;
use super::written;

/// The keys below `oauth` of a server that mean something here.
const KEYS: &[&str] = &["clientId", "clientSecret", "issuer", "issuerCallback", "scopes", "shared"];

/// Who Dragoman is to the authorization server of a server over HTTP, where it cannot register itself.
#[derive(Debug, Clone, PartialEq, Default, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct OAuthClient {
    /// The name under which Dragoman was registered there. Dragoman registers itself when left out.
    #[schemars(with = "Option<String>")]
    pub client_id: Option<Text>,
    /// The secret that goes with the name, if it has one. It needs `issuer`.
    #[schemars(with = "Option<String>")]
    pub client_secret: Option<Text>,
    /// The authorization server that knows the client: its issuer, a URL. Users are sent to no other one, and no other one
    /// is shown the secret. Whichever the server names when left out.
    pub issuer: Option<String>,
    /// Send browsers back to the redirect URI of this client's issuer instead of `/oauth/callback`. Needed where clients at
    /// several authorization servers are registered by hand and this one does not name itself in its answers (`iss`,
    /// RFC 9207). The refusal of such an answer names the URI to register.
    #[schemars(default)]
    pub issuer_callback: bool,
    /// What users are asked to allow; what the server itself asks for when left out.
    #[schemars(with = "Option<written::OneOrMany<String>>")]
    pub scopes: Vec<String>,
    /// True if one consent, whoever gives it, counts for all callers. Where callers say who they are, each gives its
    /// own when left out.
    #[schemars(default)]
    pub shared: bool,
}

/// `oauth` of a server over HTTP, as clients write it.
pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry) -> Option<OAuthClient> {
    let mut fields = reader.fields(
        &entry.value,
        "a mapping with `clientId`, `clientSecret`, `issuer`, `issuerCallback`, `scopes`, `shared`",
    )?;
    let client_id = fields.take("clientId").map(|entry| {
        reader.within("clientId", |reader| {
            let text = reader.text(&entry.value, "the client's name as a text")?;
            reader.sound(&entry.value.at, written_word(&text)).map(|()| text)
        })
    });
    let issuer = fields.take("issuer").map(|entry| reader.within("issuer", |reader| site(reader, entry)));
    let client_secret = fields.take("clientSecret").map(|secret| {
        reader.within("clientSecret", |reader| {
            if client_id.is_none() {
                let mend = "add `clientId`, the name that it was given for";
                reader.fault(&secret.key_at, "a secret without a name", mend);
            }
            if issuer.is_none() {
                let message = "a secret that would be shown to whichever authorization server is named";
                let mend = "add `issuer`, the URL of the authorization server that knows the client";
                reader.fault(&secret.key_at, message, mend);
            }
            let text = reader.secret_text(&secret.value, "the client's secret as a text")?;
            reader.sound(&secret.value.at, written_word(&text)).map(|()| text)
        })
    });
    let scopes = fields.take("scopes").map(|entry| pieces::texts(reader, entry, scope));
    let issuer_callback = reader.flag_in(&mut fields, "issuerCallback", false);
    let shared = reader.flag_in(&mut fields, "shared", false);
    for entry in fields.rest() {
        note(reader, entry);
    }
    Some(OAuthClient {
        client_id: client_id.flatten(),
        client_secret: client_secret.flatten(),
        issuer: issuer.flatten(),
        issuer_callback,
        scopes: scopes.unwrap_or_default(),
        shared,
    })
}

/// Other clients write more there: a port of their own, addresses that Dragoman finds by itself.
fn note(reader: &mut Reader<'_>, entry: &Entry) {
    let key = clip(&entry.key);
    let near = suggest::nearest(&entry.key, KEYS.iter().copied());
    reader.within(&entry.key, |reader| {
        if let Some(near) = near {
            let mend = format!("did you mean `{near}`?");
            reader.fault(&entry.key_at, format!("unknown key `{key}`"), mend);
        } else {
            let message = format!("`{key}` is not used by Dragoman");
            reader.note(&entry.key_at, message, "nothing to do; it may stay");
        }
    });
}

/// A client's name or secret (RFC 6749, appendix A.1 and A.2).
fn written_word(text: &Text) -> Result<(), Flaw> {
    if !text.expose().is_empty() && text.expose().bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
        return Ok(());
    }
    Err(Flaw::new("this is empty, or has characters that are not of ASCII", "copy it from where it was made"))
}

/// `publicUrl`: where browsers find this gateway.
pub(super) fn public_url(reader: &mut Reader<'_>, entry: &Entry) -> Option<String> {
    site(reader, entry)
}

/// An address below which there is more: through TLS, or on this machine; without the slash at its end.
fn site(reader: &mut Reader<'_>, entry: &Entry) -> Option<String> {
    let text = reader.text(&entry.value, "a URL")?;
    reader.sound_text(&entry.value.at, &text, check::site_url(&text).and_then(|()| safe_url(&text)))?;
    Some(text.expose().trim_end_matches('/').to_owned())
}
