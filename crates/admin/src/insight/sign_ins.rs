//! The people who have signed in with their account at a site. This module must not know how people sign in.

use std::sync::Arc;

use login::{AuthorizationServer, ListedGrant};
use schemars::JsonSchema;
use serde::Serialize;

use super::moment::PointInTime;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// The sign-ins that have not ended, the newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignInList {
    pub(crate) sign_ins: Vec<ListedSignIn>,
}

/// A sign-in: a client may use the account of a person at a site.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedSignIn {
    pub(crate) id: String,
    /// The name of the account at the site.
    pub(crate) user: String,
    /// The address of the site.
    pub(crate) site: String,
    /// The name of the client, which the client itself has chosen.
    pub(crate) client: String,
    pub(crate) client_id: String,
    pub(crate) since: PointInTime,
    /// The time of the last use, to within ten minutes.
    pub(crate) used: PointInTime,
}

fn listed(grant: ListedGrant) -> ListedSignIn {
    ListedSignIn {
        id: grant.id,
        user: grant.user,
        site: grant.site,
        client: grant.client,
        client_id: grant.client_id,
        since: PointInTime(grant.created_ms),
        used: PointInTime(grant.used_ms),
    }
}

fn server(shard: &Arc<Shard>) -> Result<&Arc<AuthorizationServer>, Refusal> {
    let nobody = || {
        let message = "Nobody can sign in here: `auth.login` is not configured.";
        Refusal::new(404, "NO_SIGN_IN", message)
    };
    shard.door.sign_in().ok_or_else(nobody)
}

/// Returns the people who have signed in.
///
/// # Errors
/// Fails if nobody can sign in here, or if the file of sign-ins cannot be read.
pub(crate) async fn sign_ins(shard: &Arc<Shard>) -> Result<SignInList, Refusal> {
    let all = server(shard)?.list().await.map_err(Refusal::internal)?;
    Ok(SignInList { sign_ins: all.into_iter().map(listed).collect() })
}

/// Ends a sign-in: its tokens stop working immediately, and its password is deleted at the site. Returns the person
/// and the site.
///
/// # Errors
/// Fails if there is no such sign-in.
pub(crate) async fn end(shard: &Arc<Shard>, id: &str) -> Result<String, Refusal> {
    let server = server(shard)?;
    let missing =
        || Refusal::new(404, "SIGN_IN_NOT_FOUND", "There is no such sign-in. It may have ended already.");
    let all = server.list().await.map_err(Refusal::internal)?;
    let grant = all.into_iter().find(|grant| grant.id == id).ok_or_else(missing)?;
    let ended = server.end(id, shard.door.unix_ms()).await.map_err(Refusal::internal)?;
    if ended { Ok(format!("{} at {}", grant.user, grant.site)) } else { Err(missing()) }
}
