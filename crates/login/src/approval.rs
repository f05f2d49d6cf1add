//! The address of the page on which a person approves a client at a site, and the id by which the site recognizes the client.
//! This module must not know browsers.

use secrecy::{ExposeSecret as _, SecretString};
use upstream::oauth::form;

use crate::client_metadata::ClientMetadata;
use crate::random;
use crate::redirect_uri;
use crate::signing_in::CALLBACK;

/// Returns the address of the site's page, with the parameters that this page expects (WordPress,
/// `authorize-application.php`).
pub(crate) fn approval_url(
    approval: &str,
    base: &str,
    client: &ClientMetadata,
    state: &SecretString,
) -> String {
    let state = state.expose_secret();
    let success = format!("{base}{CALLBACK}?{}", form::joined(&[("state", state)]));
    let reject = format!("{base}{CALLBACK}?{}", form::joined(&[("state", state), ("success", "false")]));
    // A site accepts each name once per account, and people sign in more than once.
    let name = format!("{} (Dragoman {})", client.name(), random::short_of(state));
    let id = application_id(base, &client.client_id);
    redirect_uri::with(
        approval,
        &[("app_name", &name), ("app_id", &id), ("success_url", &success), ("reject_url", &reject)],
    )
}

/// Returns the UUID by which a site recognizes a client of this gateway. It is always the same for the same client
/// (RFC 9562, 5.5, with SHA-256).
pub(crate) fn application_id(base: &str, client_id: &str) -> String {
    let digest = random::digest_of(&format!("{base} {client_id}"));
    let mut id: [u8; 16] = [0; 16];
    id.copy_from_slice(&digest[..16]);
    id[6] = (id[6] & 0x0F) | 0x50;
    id[8] = (id[8] & 0x3F) | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(id));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_has_a_lasting_uuid_of_its_own() {
        let id = application_id("https://a.example", "dgc_1");
        assert_eq!(id, application_id("https://a.example", "dgc_1"));
        assert_ne!(id, application_id("https://b.example", "dgc_1"));
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert!(id.as_bytes()[14] == b'5' && b"89ab".contains(&id.as_bytes()[19]), "{id}");
    }
}
