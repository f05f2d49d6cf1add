//! The operations on definitions of tools. This module must not know how definitions are compared.

use std::time::Instant;

use http::Response;
use serde_json::json;
use transport::net::Body;

use super::super::answers::ok;
use super::super::request::ManagementRequest;
use super::super::table::{Answered, Operation, QueryKind, get, now, post, query};
use super::shapes::{Approved, ChangedServers, DefinitionReview, WantedApproval};
use crate::insight::tool_history::{self, ToolHistory};
use gateway::changes::{self as ask, Refusal};
use gateway::management::definitions::{self, Approval};

pub(super) const OPERATIONS: &[Operation] = &[
    get(
        "/api/definitions",
        "listChangedServers",
        "Lists the servers with tools that await approval.",
        |request| now(Ok(servers(request))),
    )
    .giving::<ChangedServers>(),
    get(
        "/api/mcp-servers/{server}/definitions",
        "reviewDefinitions",
        "Shows the changes to a server's tools that await approval.",
        |request| Box::pin(review(request)),
    )
    .asking(&[query("full", QueryKind::Flag, "Returns texts in full, and adds both definitions.")])
    .giving::<DefinitionReview>(),
    get(
        "/api/mcp-servers/{server}/tool-history",
        "getToolHistory",
        "Shows when a server's tools appeared, changed and vanished, newest first.",
        |request| Box::pin(history(request)),
    )
    .giving::<ToolHistory>(),
    post(
        "/api/mcp-servers/{server}/definitions/approve",
        "approveDefinitions",
        "Approves the definitions that a server lists now.",
        |request| Box::pin(approve(request)),
    )
    .taking::<WantedApproval>()
    .giving::<Approved>(),
];

fn servers(request: &ManagementRequest) -> Response<Body> {
    ok(&definitions::servers(&request.shard))
}

async fn review(request: &mut ManagementRequest) -> Answered {
    let id = request.named("server");
    ask::server(&request.standing, &id)?;
    Ok(ok(&definitions::review(&request.shard, &id, request.flag("full")).await?))
}

async fn history(request: &mut ManagementRequest) -> Answered {
    let id = request.named("server");
    ask::server(&request.standing, &id)?;
    Ok(ok(&tool_history::history(&request.shard, &id).await?))
}

async fn approve(request: &mut ManagementRequest) -> Answered {
    let (id, started) = (request.named("server"), Instant::now());
    ask::server(&request.standing, &id)?;
    let wanted: WantedApproval = request.typed().await?;
    let made = approved(request, &id, wanted).await;
    let what = made.as_ref().map(|tools| format!("approved: {}", definitions::named(tools)));
    request.note(started, &made, &what.unwrap_or_default());
    Ok(ok(&json!({ "id": id, "approved": made? })))
}

async fn approved(
    request: &ManagementRequest,
    id: &str,
    wanted: WantedApproval,
) -> Result<Vec<String>, Refusal> {
    let WantedApproval { tools, all, revision } = wanted;
    if all.unwrap_or(false) == tools.is_some() {
        return Err(Refusal::request("name the tools to approve as `tools`, or send `\"all\": true`"));
    }
    let by = request.identity.principal.id.clone();
    definitions::approve(&request.shard, id, Approval { tools, revision, by }).await
}
