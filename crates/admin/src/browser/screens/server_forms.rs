//! The forms on the page of a server: restart, enable, change, approve, remove.

use std::time::Instant;

use http::Response;
use pages::model::{ConfirmPage, ForeignText};
use pages::page;
use pages::route::{self, ServerAction};
use serde_json::json;
use transport::net::Body;

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::server::{self, RefusedChange};
use crate::insight::{configuration, consents, servers};
use gateway::admission::identity::Identity;
use gateway::changes::{self, Refusal};
use gateway::management::definitions::{self, Approval};
use gateway::management::restart::restart;

/// Performs the action that the path names.
pub(in super::super) async fn act(request: &PageRequest) -> PageResult {
    let Some(action) = ServerAction::from_name(request.named(1)) else { return Ok(page_reply::missing()) };
    let (shard, id) = (&request.shard, request.named(0));
    changes::server(&shard.gateway.standing, id)?;
    let own_page = route::server(id);
    if let Some(page) = question(action, id).and_then(|ask| request.unsure(ask)) {
        return Ok(page);
    }
    Ok(match action {
        ServerAction::Restart => {
            let started = Instant::now();
            let outcome = restart(shard, id).await;
            request.note(Subject::Server(id), started, &outcome, "restarted");
            done(request, outcome, &own_page, "The server was restarted.")
        }
        ServerAction::Refresh => {
            let fetched = servers::tools(shard, &Identity::anyone(None), id, true).await;
            let fetched = fetched.map_err(|why| Refusal::new(502, "SERVER_UNAVAILABLE", why));
            done(request, fetched, &own_page, "The lists were fetched again.")
        }
        ServerAction::Enable => switch(request, true).await,
        ServerAction::Disable => switch(request, false).await,
        ServerAction::Login => login(request).await,
        ServerAction::Change => change(request).await?,
        ServerAction::Approve => approve(request).await?,
        ServerAction::Remove => remove(request).await?,
    })
}

/// Returns the question before an action that interrupts the calls of the server.
fn question(action: ServerAction, id: &str) -> Option<ConfirmPage> {
    let (question, effect, words) = match action {
        ServerAction::Restart => (
            "Restart the server?",
            "Its connections are closed and its processes end. Running calls fail, and the server starts again at the next request.",
            "Restart the server",
        ),
        ServerAction::Disable => (
            "Disable the server?",
            "Its running calls end, and clients no longer see its tools until you enable it again.",
            "Disable the server",
        ),
        _ => return None,
    };
    let (subject, back) = (id.into(), route::server(id));
    Some(ConfirmPage { question, subject, effect, words, back, ..ConfirmPage::default() })
}

async fn switch(request: &PageRequest, active: bool) -> Response<Body> {
    let id = request.named(0).to_owned();
    let own_page = route::server(&id);
    let subject = id.clone();
    let edited = request.edit(Subject::Server(&subject), move |standing| {
        let then = changes::change_server(standing, &id, &json!({ "isActive": active }))?;
        Ok((id, then))
    });
    let text = if active { "The server is enabled." } else { "The server is disabled." };
    done(request, edited.await, &own_page, text)
}

async fn login(request: &PageRequest) -> Response<Body> {
    let (id, started) = (request.named(0), Instant::now());
    let begun = consents::start(&request.shard, id).await;
    request.note(Subject::Server(id), started, &begun, "requested a consent page");
    match begun {
        Ok(consent) => page_reply::to(&consent.url),
        Err(refusal) => done(request, Err::<(), _>(refusal), &route::server(id), ""),
    }
}

async fn change(request: &PageRequest) -> PageResult {
    let id = request.named(0).to_owned();
    let (text, etag) = (request.form.get("text").unwrap_or_default(), request.form.text("etag"));
    let made = match (
        configuration::configuration(&request.shard).revision == etag,
        serde_json::from_str(text),
    ) {
        (false, _) => Err(Refusal::new(
            412,
            "OUTDATED",
            "The configuration has changed since this page was loaded. Reload the page, and make the change again.",
        )),
        (true, Err(e)) => Err(Refusal::request(format!("The entry is not valid JSON: {e}"))),
        (true, Ok(body)) => {
            let (id, subject) = (id.clone(), id.clone());
            let edited = request.edit(Subject::Server(&subject), move |standing| {
                let body: serde_json::Value = body;
                let then = changes::change_server(standing, &id, &body)?;
                Ok((id, then))
            });
            edited.await
        }
    };
    let fault = match made {
        Ok(made) => {
            return Ok(done(request, Ok(made), &route::server(&id), "The change is saved and in force."));
        }
        Err(refusal) => refusal.message,
    };
    let refused = RefusedChange { text: text.to_owned(), etag: etag.to_owned(), fault };
    let data = server::data(request, Some(refused)).await?;
    Ok(page_reply::unusable(page::server(&request.frame(), &data)))
}

async fn approve(request: &PageRequest) -> PageResult {
    let (id, started, form) = (request.named(0), Instant::now(), &request.form);
    let all = form.get("all") == Some("yes");
    let tools: Vec<String> = form.all("tool").filter_map(route::name_of).collect();
    if !all && tools.is_empty() {
        return Err(Refusal::new(
            422,
            "NOTHING_CHOSEN",
            "No tool was chosen, so nothing was approved. Choose tools, and try again.",
        ));
    }
    let approval = Approval {
        tools: (!all).then_some(tools),
        revision: Some(form.text("revision").to_owned()),
        by: request.session.by.name().into(),
    };
    let made = definitions::approve(&request.shard, id, approval).await;
    let named = made.as_ref().map(|tools| definitions::named(tools)).unwrap_or_default();
    request.note(Subject::Server(id), started, &made, &format!("approved {named}"));
    let shown = ForeignText::from(named).label();
    Ok(done(request, made, &route::server(id), &format!("Approved: {shown}.")))
}

async fn remove(request: &PageRequest) -> PageResult {
    let id = request.named(0).to_owned();
    if request.form.get("confirm") != Some(id.as_str()) {
        return Err(Refusal::new(
            422,
            "NOT_CONFIRMED",
            "The typed name is not the name of the server, so the server was not removed.",
        ));
    }
    let (own_page, subject) = (route::server(&id), id.clone());
    let edited = request.edit(Subject::Server(&subject), move |standing| {
        Ok((String::new(), changes::remove_server(standing, &id)?))
    });
    let edited = edited.await;
    let to = if edited.is_ok() { route::SERVERS } else { &own_page };
    Ok(done(request, edited, to, &format!("The server {subject} was removed.")))
}
