//! The ways to connect a client.

use std::net::IpAddr;

use http::Uri;
use pages::model::{ConnectPage, ForeignText};
use pages::page;

use super::super::page_reply::{self, Shown};
use super::super::page_request::PageRequest;
use super::client_snippet::snippets;
use super::texts;
use crate::call::consent::base;
use crate::process::Shard;

/// Shows the snippets.
pub(in super::super) async fn show(request: &PageRequest) -> Shown {
    let (shard, query) = (&request.shard, &request.query);
    let standing = request.standing();
    let profiles = texts(standing.config().profiles.keys());
    let chosen = query.shown("profile");
    let first = || profiles.first().cloned().unwrap_or_default();
    let profile = if profiles.contains(&chosen) { chosen } else { first() };
    let url = url(shard, profile.raw());
    let header = header(shard);
    let clients =
        snippets(profile.raw(), &url, header.as_ref().map(|(name, value)| (name.raw(), value.raw())));
    let client = query.text("client");
    let client = clients.iter().find(|one| one.id == client).or(clients.first()).map(|one| one.id);
    let data = ConnectPage {
        profiles,
        profile,
        notes: notes(shard, &url),
        url: url.into(),
        header,
        client: client.unwrap_or_default().to_owned(),
        clients,
        test: None,
    };
    page_reply::ok(page::connect(&request.frame(), &data))
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
        notes.push("Only clients on this machine reach this address. Clients in the web, such as claude.ai or ChatGPT, need a public address with https (`publicUrl`).".into());
    } else if parsed.as_ref().and_then(Uri::scheme_str) == Some("http") {
        notes.push("This address has no https, so everything that clients send can be read on the way. Configure `tls`, or a proxy with https.".into());
    }
    if !shard.door.asks() {
        notes.push("Everybody who reaches this address may use its tools. Set `auth: { keys: true }` to admit only clients with a key.".into());
    }
    notes
}
