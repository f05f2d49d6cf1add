//! The operations on servers. This module must not know how a server is reached.

use std::time::Instant;

use http::{Response, StatusCode};
use transport::net::Body;

use super::super::answers::{answer, empty, ok};
use super::super::request::ManagementRequest;
use super::super::table::{
    Answered, Operation, QueryKind, QueryParameter, delete, get, now, post, put, query,
};
use super::shapes::{ChangedServer, HeaderKey, NewServer, ServerForm, ServerForms};
use crate::insight::catalogue::{self, CataloguePage, CatalogueQuery, ServerTools};
use crate::insight::links::{self, ServerConnections};
use crate::insight::servers::{self, ServerHistory, ServerStatus, ServerStatuses};
use gateway::changes as ask;
use gateway::changes::Refusal;
use gateway::management::restart::restart;

const REFRESH: &[QueryParameter] =
    &[query("refresh", QueryKind::Flag, "Fetches the list from the server again.")];

pub(super) const OPERATIONS: &[Operation] = &[
    get("/api/mcp-servers", "listServers", "Lists the servers.", |request| now(Ok(list(request))))
        .giving::<ServerForms>(),
    post("/api/mcp-servers", "addServer", "Adds a server.", |request| Box::pin(add(request)))
        .taking::<NewServer>()
        .giving::<ServerForm>()
        .status(201),
    get(
        "/api/mcp-servers/batch-status",
        "getServerStatuses",
        "Shows the state of several servers.",
        |request| Box::pin(batch_status(request)),
    )
    .asking(&[query("ids", QueryKind::Text, "The servers, separated by commas; all if omitted.")])
    .giving::<ServerStatuses>(),
    get("/api/mcp-servers/{server}", "getServer", "Shows a server.", |request| now(show(request)))
        .giving::<ServerForm>(),
    put(
        "/api/mcp-servers/{server}",
        "changeServer",
        "Changes a server; omitted fields stay unchanged.",
        |request| Box::pin(change(request)),
    )
    .taking::<ChangedServer>()
    .giving::<ServerForm>(),
    delete(
        "/api/mcp-servers/{server}",
        "removeServer",
        "Removes a server that no profile lists.",
        |request| Box::pin(remove(request)),
    ),
    post(
        "/api/mcp-servers/{server}/api-key",
        "setServerApiKey",
        "Sets the API key that is sent to a server.",
        |request| Box::pin(set_api_key(request)),
    )
    .taking::<HeaderKey>()
    .giving::<ServerForm>(),
    get("/api/mcp-servers/{server}/status", "getServerStatus", "Shows the state of a server.", |request| {
        Box::pin(status(request))
    })
    .giving::<ServerStatus>(),
    get(
        "/api/mcp-servers/{server}/history",
        "getServerHistory",
        "Lists the last changes in a server's state.",
        |request| now(history(request)),
    )
    .giving::<ServerHistory>(),
    get(
        "/api/mcp-servers/{server}/connections",
        "getServerConnections",
        "Lists the open connections to a server, with their processes.",
        |request| Box::pin(connections(request)),
    )
    .giving::<ServerConnections>(),
    post(
        "/api/mcp-servers/{server}/restart",
        "restartServer",
        "Closes all connections to a server, which ends its processes, and connects again.",
        |request| Box::pin(restarted(request)),
    )
    .giving::<ServerStatus>(),
    get(
        "/api/mcp-servers/{server}/tools",
        "listServerTools",
        "Lists the tools as the server reports them.",
        |request| {
            Box::pin(async move {
                let is_fresh = request.flag("refresh");
                tools(request, is_fresh).await
            })
        },
    )
    .asking(REFRESH)
    .giving::<ServerTools>(),
    post(
        "/api/mcp-servers/{server}/refresh",
        "refreshServer",
        "Fetches the server's lists again.",
        |request| Box::pin(tools(request, true)),
    )
    .giving::<ServerTools>(),
    get(
        "/api/items",
        "listItems",
        "Lists the servers' tools, prompts and resources, with their descriptions and hints.",
        |request| Box::pin(items(request)),
    )
    .asking(&[
        query("kind", QueryKind::Word(catalogue::KINDS), "The kind of items; `tools` if omitted."),
        query("server", QueryKind::Text, "Only items of this server."),
        query("search", QueryKind::Text, "Only items whose name or description contains this text."),
        query("held", QueryKind::Flag, "Only tools that await approval."),
        query("offset", QueryKind::Number(0, catalogue::MOST_ITEMS), "The number of items to skip."),
        query("limit", QueryKind::Number(1, 500), "The maximum number of items; 100 if omitted."),
    ])
    .giving::<CataloguePage>(),
];

fn list(request: &ManagementRequest) -> Response<Body> {
    ok(&ask::servers(&request.standing))
}

async fn add(request: &mut ManagementRequest) -> Answered {
    let body = request.json().await?;
    let made = request.edit(move |standing| ask::add_server(standing, &body)).await?;
    Ok(answer(StatusCode::CREATED, &made.of(ask::server)?))
}

/// Returns the state of the servers in the query's `ids=a,b`, or of all servers if the query has no `ids`.
async fn batch_status(request: &mut ManagementRequest) -> Answered {
    let named = request.asked_for("ids");
    let ids: Vec<String> = match named {
        Some(ids) => ids.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect(),
        None => request.standing.config().mcp_servers.keys().cloned().collect(),
    };
    let mut statuses = Vec::new();
    for id in ids {
        ask::server(&request.standing, &id)?;
        servers::examine(&request.shard, &request.identity, &id).await;
        statuses.push(servers::status(&request.shard, &request.identity, &id));
    }
    Ok(ok(&ServerStatuses { statuses }))
}

fn show(request: &ManagementRequest) -> Answered {
    Ok(ok(&ask::server(&request.standing, &request.named("server"))?))
}

async fn change(request: &mut ManagementRequest) -> Answered {
    let (body, id) = (request.json().await?, request.named("server"));
    let made = request.edit(move |standing| {
        let then = ask::change_server(standing, &id, &body)?;
        Ok((id, then))
    });
    Ok(ok(&made.await?.of(ask::server)?))
}

async fn remove(request: &mut ManagementRequest) -> Answered {
    let id = request.named("server");
    request.edit(move |standing| Ok((String::new(), ask::remove_server(standing, &id)?))).await?;
    Ok(empty())
}

async fn set_api_key(request: &mut ManagementRequest) -> Answered {
    let (body, id) = (request.json().await?, request.named("server"));
    let made = request.edit(move |standing| {
        let then = ask::set_api_key(standing, &id, &body)?;
        Ok((id, then))
    });
    Ok(ok(&made.await?.of(ask::server)?))
}

async fn status(request: &mut ManagementRequest) -> Answered {
    let id = request.named("server");
    ask::server(&request.standing, &id)?;
    servers::examine(&request.shard, &request.identity, &id).await;
    Ok(ok(&servers::status(&request.shard, &request.identity, &id)))
}

fn history(request: &ManagementRequest) -> Answered {
    let id = request.named("server");
    ask::server(&request.standing, &id)?;
    Ok(ok(&servers::history(&request.shard, &id)))
}

async fn connections(request: &mut ManagementRequest) -> Answered {
    let id = request.named("server");
    ask::server(&request.standing, &id)?;
    Ok(ok(&links::connections(&request.shard, &id).await))
}

async fn restarted(request: &mut ManagementRequest) -> Answered {
    let (id, started) = (request.named("server"), Instant::now());
    ask::server(&request.standing, &id)?;
    let outcome = restart(&request.shard, &id).await;
    request.note(started, &outcome, &"restarted");
    outcome?;
    Ok(ok(&servers::status(&request.shard, &request.identity, &id)))
}

async fn tools(request: &mut ManagementRequest, is_fresh: bool) -> Answered {
    let id = request.named("server");
    ask::server(&request.standing, &id)?;
    let tools = servers::tools(&request.shard, &request.identity, &id, is_fresh).await;
    let tools = tools.map_err(|why| Refusal::new(502, "SERVER_UNAVAILABLE", why))?;
    servers::examine(&request.shard, &request.identity, &id).await;
    let refusals = servers::refusals(&request.shard, &request.identity, &id);
    let tokens = servers::tokens(&tools);
    Ok(ok(&ServerTools { id, tools, tokens, refusals }))
}

async fn items(request: &mut ManagementRequest) -> Answered {
    let query = CatalogueQuery {
        kind: catalogue::kind(request.asked_for("kind")),
        server: request.chosen("server"),
        search: request.chosen("search"),
        is_held: request.flag("held"),
        offset: request.number("offset").unwrap_or(0),
        limit: request.number("limit").unwrap_or(100),
    };
    Ok(ok(&catalogue::items(&request.shard, query).await?))
}
