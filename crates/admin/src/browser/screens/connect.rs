//! The ways to connect a client.

use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;
use pages::model::{ConnectPage, ForeignText, PageFrame};
use pages::{Markup, page, route};

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::super::page_stream::PageStream;
use super::super::self_test::RunningTest;
use super::client_snippet::snippets;
use super::texts;
use crate::insight::moment::PointInTime;
use gateway::call::consent::base;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// Shows the snippets.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let (shard, query) = (&request.shard, &request.query);
    let standing = request.standing();
    let profiles = texts(standing.config().profiles.keys());
    let test = find(request, query.text("test"));
    let of_test = || test.as_ref().map(|test| test.profile.as_str().into()).unwrap_or_default();
    let chosen = Some(query.shown("profile")).filter(|one| !one.is_empty()).unwrap_or_else(of_test);
    let first = || profiles.first().cloned().unwrap_or_default();
    let (profile, unknown) =
        if profiles.contains(&chosen) { (chosen, None) } else { (first(), Some(chosen)) };
    let url = url(shard, profile.raw());
    let header = header(shard);
    let clients =
        snippets(profile.raw(), &url, header.as_ref().map(|(name, value)| (name.raw(), value.raw())));
    let client = query.text("client");
    let client = clients.iter().find(|one| one.id == client).or(clients.first()).map(|one| one.id);
    let data = ConnectPage {
        profiles,
        profile,
        unknown: unknown.filter(|name| !name.is_empty()),
        notes: notes(shard, &url),
        url: url.into(),
        header,
        client: client.unwrap_or_default().to_owned(),
        clients,
        test: test.map(|test| test.shown()),
    };
    page_reply::ok(page::connect(&request.frame(), &data))
}

/// Returns a self-test of this session.
fn find(request: &PageRequest, id: &str) -> Option<Arc<RunningTest>> {
    let found = request.state.test(id)?;
    request.session.owns(&found.owner).then_some(found)
}

/// Starts or stops a self-test.
pub(in super::super) async fn test(request: &PageRequest) -> PageResult {
    let form = &request.form;
    let test = match form.chosen("stop") {
        Some(id) => {
            let missing =
                || Refusal::new(404, "TEST_NOT_FOUND", "There is no such self-test. It may have ended.");
            let test = find(request, &id).ok_or_else(missing)?;
            test.stop();
            test
        }
        None => request.state.begin_test(
            &request.shard,
            request.session.form_token.clone(),
            (form.text("profile").to_owned(), form.text("client").to_owned()),
        )?,
    };
    // The form that stops a test names only the test.
    let pairs = [("profile", test.profile.as_str()), ("client", &test.client), ("test", &test.id)];
    Ok(page_reply::to(&format!("{}#test-title", route::with_query(route::CONNECT, &pairs))))
}

/// Streams a self-test: its current state is sent after every change.
pub(in super::super) async fn events(request: &PageRequest) -> PageResult {
    let missing = || Refusal::new(404, "TEST_NOT_FOUND", "There is no such self-test. It may have ended.");
    let test = find(request, request.query.text("test")).ok_or_else(missing)?;
    let (stream, response) = PageStream::open(request)?;
    let frame = request.frame_without_notice();
    transport::task::spawn(async move {
        let send = async {
            let mut changes = test.changes();
            loop {
                let is_over = test.is_over();
                let frame = PageFrame { now: PointInTime::now().0, ..frame.clone() };
                stream.send("replace", None, page::connect_test(&frame, &test.shown()));
                if is_over || changes.changed().await.is_err() {
                    return stream.send("end", None, Markup::default());
                }
            }
        };
        tokio::select! { () = send => {}, () = stream.over() => {} }
    });
    Ok(response)
}

/// Returns the address of a profile for clients.
pub(super) fn url(shard: &Shard, profile: &str) -> String {
    let addresses =
        shard.gateway.process.serving.as_ref().map(|serving| serving.addresses()).unwrap_or_default();
    let base = base(shard.gateway.standing.config(), &addresses).unwrap_or_default();
    format!("{}/mcp/{profile}", base.trim_end_matches('/'))
}

/// Returns the header that clients have to send; `None` if no authentication is needed.
fn header(shard: &Shard) -> Option<(ForeignText, ForeignText)> {
    if !shard.door.asks() {
        return None;
    }
    let auth = &shard.gateway.standing.config().auth;
    if auth.login.is_some() && !auth.keys && auth.bearer.is_none() {
        // Clients sign in by themselves.
        return None;
    }
    let value = match () {
        () if auth.keys => "Bearer YOUR_KEY",
        () if !auth.users.is_empty() || auth.site.is_some() => "Basic BASE64_OF_NAME:PASSWORD",
        () => "Bearer YOUR_TOKEN",
    };
    Some(("Authorization".into(), value.into()))
}

fn notes(shard: &Shard, url: &str) -> Vec<ForeignText> {
    let mut notes = Vec::new();
    let parsed: Option<Uri> = url.parse().ok();
    let host = parsed.as_ref().and_then(Uri::host).unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if is_here {
        notes.push("Only clients on this machine can reach this address. Web clients, such as claude.ai or ChatGPT, need a public address with https (`publicUrl`).".into());
    } else if parsed.as_ref().and_then(Uri::scheme_str) == Some("http") {
        notes.push("This address does not use https, so everything that clients send can be read in transit. Configure `tls`, or put a proxy with https in front.".into());
    }
    if !shard.door.asks() {
        notes.push("Anyone who can reach this address may use its tools. Set `auth: { keys: true }` to admit only clients with a key.".into());
    }
    notes
}
