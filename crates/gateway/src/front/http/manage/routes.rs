//! The paths of the management API and their operations.

use std::sync::Arc;
use std::time::Instant;

use http::header::{ALLOW, HeaderValue};
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};
use transport::net::{Body, Incoming};

use super::super::entry::Arrived;
use super::super::{answer, body, media};
use super::{ROOT, error, json_response};
use crate::admission::audit::CallOutcome;
use crate::admission::identity::Identity;
use crate::changes as ask;
use crate::changes::edits::Edited;
use crate::changes::{Refusal, Standing};
use crate::management::audit::{self, ManagementAction};
use crate::management::{edit, status};
use crate::process::Shard;
use upstream::oauth::form::pairs;

/// A parsed request.
pub(super) struct ManagementRequest<'a> {
    pub(super) shard: &'a Arc<Shard>,
    pub(super) identity: Identity,
    /// The method and the path of the request.
    pub(super) action: String,
    /// The server and the profile that the path names.
    about: (Option<String>, Option<String>),
    pub(super) standing: Arc<Standing>,
    body: Option<Incoming>,
    headers: http::HeaderMap,
    query: String,
}

pub(super) type Answered = Result<Response<Body>, Refusal>;

/// Answers a request.
pub(super) async fn answer(shard: &Arc<Shard>, identity: Identity, request: Arrived) -> Answered {
    let (head, body) = request.into_parts();
    let path = head.uri.path().strip_prefix(ROOT).unwrap_or_default();
    let steps: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let query = head.uri.query().unwrap_or_default().to_owned();
    let standing = shard.gateway.standing.clone();
    let own = |name: &&str| Some((*name).to_owned());
    let about = match steps.as_slice() {
        ["profiles", slug, "servers", id, ..] => (own(id), own(slug)),
        ["profiles", slug, ..] => (None, own(slug)),
        ["mcp-servers", id, ..] => (own(id), None),
        _ => (None, None),
    };
    let action = super::asked(&head.method, &head.uri);
    let asked = ManagementRequest {
        shard,
        identity,
        action,
        about,
        standing,
        body: Some(body),
        headers: head.headers,
        query,
    };
    match steps.as_slice() {
        ["profiles", rest @ ..] => asked.profiles(&head.method, rest).await,
        ["mcp-servers", rest @ ..] => asked.servers(&head.method, rest).await,
        ["definitions", rest @ ..] => asked.changed_servers(&head.method, rest),
        _ => Err(nothing()),
    }
}

pub(super) fn nothing() -> Refusal {
    Refusal::new(404, "NOT_FOUND", "unknown path; use /api/profiles, /api/mcp-servers or /api/definitions")
}

pub(super) fn ok(body: &Value) -> Response<Body> {
    json_response(StatusCode::OK, body)
}

/// Returns the answer for an unsupported method; `methods` lists the supported ones.
pub(super) fn only(methods: &'static str) -> Response<Body> {
    let mut response = error(405, "METHOD_NOT_ALLOWED", &format!("the supported methods are {methods}"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

impl ManagementRequest<'_> {
    async fn profiles(mut self, method: &Method, rest: &[&str]) -> Answered {
        match (method.as_str(), rest) {
            ("GET", []) => Ok(ok(&ask::profiles(&self.standing))),
            ("POST", []) => {
                let body = self.json().await?;
                let made = self.edit(move |standing| ask::add_profile(standing, &body)).await?;
                Ok(json_response(StatusCode::CREATED, &made.of(ask::profile)?))
            }
            ("GET", ["by-slug" | "by-name", slug] | [slug]) => Ok(ok(&ask::profile(&self.standing, slug)?)),
            ("GET", [slug, "status"]) => {
                ask::profile(&self.standing, slug)?;
                let found = status::profile(&self.shard.now(), &self.identity, slug).await;
                Ok(ok(&found.ok_or_else(nothing)?))
            }
            ("PUT", [slug]) => {
                let (body, slug) = (self.json().await?, (*slug).to_owned());
                let made = self.edit(move |standing| ask::change_profile(standing, &slug, &body)).await?;
                Ok(ok(&made.of(ask::profile)?))
            }
            ("DELETE", [slug]) => {
                let slug = (*slug).to_owned();
                self.edit(move |standing| Ok((String::new(), ask::remove_profile(standing, &slug)?))).await?;
                Ok(answer::empty(StatusCode::NO_CONTENT))
            }
            (_, [slug, "servers", rest @ ..]) => self.profile_servers(method, slug, rest).await,
            (_, []) => Ok(only("GET, POST")),
            (_, ["by-slug" | "by-name", _] | [_, "status"]) => Ok(only("GET")),
            (_, [_]) => Ok(only("GET, PUT, DELETE")),
            _ => Err(nothing()),
        }
    }

    async fn profile_servers(mut self, method: &Method, slug: &str, rest: &[&str]) -> Answered {
        let own = slug.to_owned();
        let id = rest.first().map(|id| (*id).to_owned()).unwrap_or_default();
        match (method.as_str(), rest) {
            ("GET", []) => Ok(ok(&ask::profile_servers(&self.standing, slug)?)),
            ("POST", []) => {
                let body = self.json().await?;
                let made = self.edit(move |standing| {
                    let then = ask::add_server_to_profile(standing, &own, &body)?;
                    Ok((own, then))
                });
                Ok(json_response(StatusCode::CREATED, &made.await?.of(ask::profile_servers)?))
            }
            ("PUT", [_]) => {
                let body = self.json().await?;
                let made = self.edit(move |standing| {
                    let then = ask::change_profile_server(standing, &own, &id, &body)?;
                    Ok((own, then))
                });
                Ok(ok(&made.await?.of(ask::profile_servers)?))
            }
            ("DELETE", [_]) => {
                let made = self.edit(move |standing| {
                    let then = ask::remove_server_from_profile(standing, &own, &id)?;
                    Ok((own, then))
                });
                made.await?;
                Ok(answer::empty(StatusCode::NO_CONTENT))
            }
            ("POST" | "PUT" | "PATCH", [_, "toggle"]) => {
                let made = self.edit(move |standing| {
                    let then = ask::toggle_profile_server(standing, &own, &id)?;
                    Ok((own, then))
                });
                Ok(ok(&made.await?.of(ask::profile_servers)?))
            }
            ("GET", [_, "tools"]) => self.profile_tools(&self.standing, slug, &id).await,
            ("PUT", [_, "tools"]) => {
                let body = self.json().await?;
                let server = id.clone();
                let made = self.edit(move |standing| {
                    let then = ask::set_profile_tools(standing, &own, &server, &body)?;
                    Ok((own, then))
                });
                let made = made.await?;
                self.profile_tools(&made.standing, slug, &id).await
            }
            (_, []) => Ok(only("GET, POST")),
            (_, [_]) => Ok(only("PUT, DELETE")),
            (_, [_, "toggle"]) => Ok(only("POST")),
            (_, [_, "tools"]) => Ok(only("GET, PUT")),
            _ => Err(nothing()),
        }
    }

    /// Returns the tools of a server in a profile, even if the server currently cannot be reached.
    async fn profile_tools(&self, standing: &Standing, slug: &str, id: &str) -> Answered {
        // A request that would be refused anyway does not need the server's list.
        ask::profile_tools(standing, slug, id, &[])?;
        let known = status::tools(&self.shard.now(), &self.identity, id, self.wants_fresh()).await;
        let known = known.map(|tools| status::known(&tools)).unwrap_or_default();
        Ok(ok(&ask::profile_tools(standing, slug, id, &known)?))
    }

    async fn servers(mut self, method: &Method, rest: &[&str]) -> Answered {
        let id = rest.first().map(|id| (*id).to_owned()).unwrap_or_default();
        match (method.as_str(), rest) {
            ("GET", []) => Ok(ok(&ask::servers(&self.standing))),
            ("POST", []) => {
                let body = self.json().await?;
                let made = self.edit(move |standing| ask::add_server(standing, &body)).await?;
                Ok(json_response(StatusCode::CREATED, &made.of(ask::server)?))
            }
            ("GET", ["batch-status"]) => Ok(ok(&self.batch_status().await?)),
            (_, ["batch-status"]) => Ok(only("GET")),
            ("GET", [_]) => Ok(ok(&ask::server(&self.standing, &id)?)),
            ("PUT", [_]) => {
                let body = self.json().await?;
                let made = self.edit(move |standing| {
                    let then = ask::change_server(standing, &id, &body)?;
                    Ok((id, then))
                });
                Ok(ok(&made.await?.of(ask::server)?))
            }
            ("DELETE", [_]) => {
                self.edit(move |standing| Ok((String::new(), ask::remove_server(standing, &id)?))).await?;
                Ok(answer::empty(StatusCode::NO_CONTENT))
            }
            ("POST", [_, "api-key"]) => {
                let body = self.json().await?;
                let made = self.edit(move |standing| {
                    let then = ask::set_api_key(standing, &id, &body)?;
                    Ok((id, then))
                });
                Ok(ok(&made.await?.of(ask::server)?))
            }
            ("GET", [_, "status"]) => {
                ask::server(&self.standing, &id)?;
                status::examine(self.shard, &self.identity, &id).await;
                Ok(ok(&status::status(self.shard, &self.identity, &id)))
            }
            ("GET", [_, "tools"]) => self.tools(&id, self.wants_fresh()).await,
            ("POST", [_, "refresh"]) => self.tools(&id, true).await,
            (_, [_, "definitions", rest @ ..]) => self.definitions(method, &id, rest).await,
            (_, []) => Ok(only("GET, POST")),
            (_, [_, "status" | "tools"]) => Ok(only("GET")),
            (_, [_, "refresh" | "api-key"]) => Ok(only("POST")),
            (_, [_]) => Ok(only("GET, PUT, DELETE")),
            _ => Err(nothing()),
        }
    }

    async fn tools(&self, id: &str, fresh: bool) -> Answered {
        ask::server(&self.standing, id)?;
        let tools = status::tools(self.shard, &self.identity, id, fresh).await;
        let tools = tools.map_err(|why| Refusal::new(502, "SERVER_UNAVAILABLE", why))?;
        status::examine(self.shard, &self.identity, id).await;
        let refusals = status::refusals(self.shard, &self.identity, id);
        let tokens = status::tokens(&tools);
        Ok(ok(&json!({ "id": id, "tools": tools, "tokens": tokens, "refusals": refusals })))
    }

    /// Returns the state of the servers in the query's `ids=a,b`, or of all servers if the query has no `ids`.
    async fn batch_status(&self) -> Result<Value, Refusal> {
        let named = self.asked_for("ids");
        let ids: Vec<&str> = match &named {
            Some(ids) => ids.split(',').filter(|id| !id.is_empty()).collect(),
            None => self.standing.config().mcp_servers.keys().map(String::as_str).collect(),
        };
        let mut all = Vec::new();
        for id in ids {
            ask::server(&self.standing, id)?;
            status::examine(self.shard, &self.identity, id).await;
            all.push(status::status(self.shard, &self.identity, id));
        }
        Ok(json!({ "statuses": all }))
    }

    /// Returns the value of a query parameter.
    pub(super) fn asked_for(&self, name: &str) -> Option<String> {
        pairs(&self.query).into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns true if the query asks for fresh data from the server.
    fn wants_fresh(&self) -> bool {
        matches!(self.asked_for("refresh").as_deref(), Some("true" | "1"))
    }

    /// Reads the body as JSON.
    pub(super) async fn json(&mut self) -> Result<Value, Refusal> {
        if media::check_json(&self.headers).is_err() {
            return Err(Refusal::new(
                415,
                "UNSUPPORTED_MEDIA_TYPE",
                "send JSON, with Content-Type: application/json",
            ));
        }
        let mut body = self.body.take().ok_or_else(|| Refusal::request("the request has no body"))?;
        let text = body::read(self.shard, &mut body).await.map_err(|refused| {
            let status = refused.status().as_u16();
            Refusal::new(status, "INVALID_REQUEST", "the body cannot be read, or is too long")
        })?;
        serde_json::from_slice(&text)
            .map_err(|e| Refusal::request(format!("the body is not valid JSON: {e}")))
    }

    /// Changes the configuration; returns when the change is stored and in force.
    async fn edit(
        &self,
        how: impl FnOnce(&Standing) -> Result<(String, Standing), Refusal> + Send + 'static,
    ) -> Result<Edited, Refusal> {
        let started = Instant::now();
        let made = edit::edit(self.shard, Box::new(how)).await;
        let (server, profile) = (self.about.0.as_deref(), self.about.1.as_deref());
        let mut action = ManagementAction {
            who: self.identity.principal.id.clone(),
            address: self.identity.address(),
            asked: self.action.clone().into(),
            server,
            profile,
            outcome: CallOutcome::Ok,
            status: None,
            what: None,
            took: started.elapsed(),
        };
        match &made {
            Ok(made) => action.what = Some(&made.what),
            Err(refusal) => (action.outcome, action.status) = (CallOutcome::Error, Some(refusal.status)),
        }
        audit::log_and_record(self.shard, &action);
        made
    }
}
