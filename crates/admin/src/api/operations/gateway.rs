//! The operations on the gateway itself: its configuration, limits and health, and this API. This module must not know how
//! any of these is gathered.

use std::time::Instant;

use http::header::{ETAG, HeaderValue, IF_NONE_MATCH};
use http::{Response, StatusCode};
use serde_json::Value;
use transport::net::Body;

use super::super::answers::ok;
use super::super::request::ManagementRequest;
use super::super::table::{Answered, Operation, QueryKind, get, now, post, query};
use crate::insight::configuration::{self, ConfigurationInForce, Reload, RuntimeChanges};
use crate::insight::gateway_log::{self, LogLines, LogQuery};
use crate::insight::health::{self, GatewayHealth};
use crate::insight::limits::{self, LimitsInUse};
use crate::insight::replicas::{self, ReplicaList};
use gateway::front::http::answer as http_answer;
use gateway::management::admin_link::{self, AdminLink};

pub(super) const OPERATIONS: &[Operation] = &[
    get(
        "/api/health",
        "getHealth",
        "Lists the problems that need an operator's attention, and what to do about each.",
        |request| now(Ok(show_health(request))),
    )
    .giving::<GatewayHealth>(),
    get(
        "/api/log",
        "listLogLines",
        "Lists the last lines of the gateway's own log, oldest first.",
        |request| now(Ok(show_log(request))),
    )
    .asking(&[
        query("after", QueryKind::Number(0, u64::MAX), "Only lines after the line with this number."),
        query(
            "level",
            QueryKind::Word(gateway_log::LEVELS),
            "Only lines of this level, or of a more severe one.",
        ),
        query("server", QueryKind::Text, "Only lines about this server."),
        query(
            "limit",
            QueryKind::Number(1, gateway_log::MOST_LINES),
            "The maximum number of lines; 200 if omitted.",
        ),
    ])
    .giving::<LogLines>(),
    get("/api/limits", "getLimits", "Shows limits and how much of each is in use.", |request| {
        Box::pin(show_limits(request))
    })
    .giving::<LimitsInUse>(),
    get(
        "/api/replicas",
        "listReplicas",
        "Lists the gateways of the cluster, and shows the state of the store that they share.",
        |request| now(replicas::replicas(&request.shard).map(|list| ok(&list))),
    )
    .giving::<ReplicaList>(),
    get(
        "/api/configuration",
        "getConfiguration",
        "Shows the configuration in force, with masked secrets.",
        |request| now(Ok(show_configuration(request))),
    )
    .giving::<ConfigurationInForce>(),
    get(
        "/api/configuration/changes",
        "listRuntimeChanges",
        "Shows how the configuration in force differs from the file, because of changes made at run time.",
        |request| now(Ok(show_changes(request))),
    )
    .giving::<RuntimeChanges>(),
    post(
        "/api/configuration/reload",
        "reloadConfiguration",
        "Reads the configuration file again.",
        |request| Box::pin(reload(request)),
    )
    .giving::<Reload>(),
    post("/api/admin/links", "createAdminLink", "Creates a one-time link to the admin pages.", |request| {
        now(create_link(request))
    })
    .giving::<AdminLink>()
    .on_the_control_socket(),
    get("/api/openapi.json", "getOpenApi", "Returns this description of the API.", |request| {
        now(Ok(ok((request.document)())))
    })
    .giving::<Value>(),
];

fn show_health(request: &ManagementRequest) -> Response<Body> {
    ok(&health::health(&request.shard))
}

fn show_log(request: &ManagementRequest) -> Response<Body> {
    let limit = request.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(200);
    ok(&gateway_log::lines(LogQuery {
        after: request.number("after").unwrap_or(0),
        level: request.asked_for("level").filter(|word| !word.is_empty()),
        server: request.asked_for("server").filter(|name| !name.is_empty()),
        limit,
    }))
}

async fn show_limits(request: &mut ManagementRequest) -> Answered {
    Ok(ok(&limits::limits(&request.shard).await))
}

fn show_configuration(request: &ManagementRequest) -> Response<Body> {
    let configuration = configuration::configuration(&request.shard);
    let tag = format!("\"{}\"", configuration.revision);
    let known = request.headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let response = if is_known { http_answer::empty(StatusCode::NOT_MODIFIED) } else { ok(&configuration) };
    tagged(response, &tag)
}

fn tagged(mut response: Response<Body>, tag: &str) -> Response<Body> {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

fn show_changes(request: &ManagementRequest) -> Response<Body> {
    ok(&configuration::changes(&request.shard))
}

async fn reload(request: &mut ManagementRequest) -> Answered {
    let started = Instant::now();
    let reloaded = configuration::reload(&request.shard).await;
    request.note(started, &reloaded, &"reloaded the file");
    Ok(ok(&reloaded?))
}

fn create_link(request: &ManagementRequest) -> Answered {
    let started = Instant::now();
    let link = admin_link::create(&request.shard.gateway);
    request.note(started, &link, &"created: a one-time link to the admin pages");
    Ok(ok(&link?))
}
