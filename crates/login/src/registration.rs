//! Clients that register (RFC 7591), as clients of 2025-03-26 and 2025-06-18 do. All are public clients and get no
//! secret.

use http::StatusCode;
use serde_json::json;

use crate::AuthorizationServer;
use crate::client_metadata::{ClientMetadata, MetadataFault};
use crate::random;
use crate::response::{self, Reply};

/// The prefix of the ids of registered clients.
const MARK: &str = "dgc_";
/// The maximum size of a registration, in bytes.
const LONGEST: usize = 16 * 1024;

/// Answers a registration.
pub(crate) async fn register(server: &AuthorizationServer, body: &[u8], now_ms: u64) -> Reply {
    let refuse = |code: &str, why: &str| response::error(StatusCode::BAD_REQUEST, code, why);
    if body.len() > LONGEST {
        return refuse("invalid_client_metadata", "this registration is too long");
    }
    let Ok(client) = serde_json::from_slice::<ClientMetadata>(body) else {
        return refuse("invalid_client_metadata", "send the client's metadata as a JSON object");
    };
    let mut client = match client.checked() {
        Ok(client) => client,
        Err(fault @ MetadataFault::Redirect(_)) => return refuse("invalid_redirect_uri", &fault.to_string()),
        Err(fault @ MetadataFault::Other(_)) => return refuse("invalid_client_metadata", &fault.to_string()),
    };
    let Ok(name) = random::name() else { return response::unavailable() };
    client.client_id = format!("{MARK}{name}");
    client.token_endpoint_auth_method = Some("none".to_owned());
    client.grant_types = Some(vec!["authorization_code".to_owned(), "refresh_token".to_owned()]);
    client.response_types = Some(vec!["code".to_owned()]);
    let Ok(metadata) = serde_json::to_string(&client) else { return response::unavailable() };
    let id = client.client_id.clone();
    let (own, text) = (id.clone(), metadata.clone());
    let stored = server.grants.with(move |file| file.register(&own, &text, now_ms)).await;
    if stored.is_err() {
        return response::unavailable();
    }
    if let Err(why) = server.share_client(&id, metadata).await {
        tracing::warn!(
            "a client cannot register, because the gateways of the cluster cannot share it: {why}"
        );
        return response::unavailable();
    }
    let mut shown = json!(client);
    shown["client_id_issued_at"] = json!(now_ms / 1000);
    response::json(StatusCode::CREATED, &shown)
}

/// Returns the registered client with this id.
///
/// # Errors
/// Returns the reason, for the person who signs in.
pub(crate) async fn registered(
    server: &AuthorizationServer,
    id: &str,
    now_ms: u64,
) -> Result<ClientMetadata, String> {
    let unknown = || {
        "Dragoman does not know this client any more. Remove the server from the client, and add it again"
            .to_owned()
    };
    if !id.starts_with(MARK) || id.len() > 64 {
        return Err(unknown());
    }
    let own = id.to_owned();
    let mut found = server.grants.with(move |file| file.client(&own, now_ms)).await?;
    if found.is_none()
        && let Some(metadata) = server.client_elsewhere(id).await.map_err(|why| no_answer(&why))?
    {
        let (own, text) = (id.to_owned(), metadata.clone());
        server.grants.with(move |file| file.register(&own, &text, now_ms)).await?;
        found = Some(metadata);
    }
    found.and_then(|metadata| serde_json::from_str(&metadata).ok()).ok_or_else(unknown)
}

/// Returns the message if the other gateways cannot be asked for a client.
fn no_answer(why: &str) -> String {
    tracing::warn!("cannot find out if a client has registered at another gateway: {why}");
    "Dragoman cannot find out at the moment which client this is. Try again in a minute".to_owned()
}
