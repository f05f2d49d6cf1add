//! One request to the management API: its caller, its parameters, its body. This module must not know any operation.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;
use transport::net::Incoming;

use gateway::admission::identity::Identity;
use gateway::changes::edits::Edited;
use gateway::changes::{Refusal, Standing};
use gateway::front::http::{body, media};
use gateway::management::operator::OperatorRequest;
use gateway::process::Shard;

/// The entry point at which a request arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Door {
    /// An address that the gateway listens on.
    Network,
    /// The control socket: the caller is the user that runs the gateway.
    ControlSocket,
}

/// A parsed request.
pub(in super::super) struct ManagementRequest {
    pub(super) shard: Arc<Shard>,
    pub(super) identity: Identity,
    pub(super) door: Door,
    /// The method and the path of the request, as they are recorded.
    pub(super) action: String,
    /// The parameters in the path, by name.
    pub(super) path: Vec<(&'static str, String)>,
    /// The parameters in the query, by name.
    pub(super) query: Vec<(String, String)>,
    pub(super) standing: Arc<Standing>,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Incoming>,
    /// The function that returns the description of the API.
    pub(super) document: fn() -> &'static Value,
}

impl ManagementRequest {
    /// Returns a path parameter by its name in the table of operations.
    pub(super) fn named(&self, name: &str) -> String {
        self.path.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Returns a query parameter.
    pub(super) fn asked_for(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns a query parameter that selects something; an empty one, as forms send it, selects everything.
    pub(super) fn chosen(&self, name: &str) -> Option<String> {
        self.asked_for(name).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// Returns true if a query parameter is set.
    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.asked_for(name), Some("true" | "1"))
    }

    /// Returns a query parameter that is a number; the table of operations has checked it.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.asked_for(name)?.parse().ok()
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
        let text = body::read(&self.shard, &mut body).await.map_err(|refused| {
            let status = refused.status().as_u16();
            Refusal::new(status, "INVALID_REQUEST", "the body cannot be read, or is too long")
        })?;
        serde_json::from_slice(&text)
            .map_err(|e| Refusal::request(format!("the body is not valid JSON: {e}")))
    }

    /// Reads the body as a value of this type.
    pub(super) async fn typed<T: DeserializeOwned>(&mut self) -> Result<T, Refusal> {
        let body = self.json().await?;
        serde_json::from_value(body)
            .map_err(|e| Refusal::request(format!("the body does not have the expected form: {e}")))
    }

    /// Changes the configuration; returns when the change is stored and in force.
    pub(super) async fn edit(
        &self,
        how: impl FnOnce(&Standing) -> Result<(String, Standing), Refusal> + Send + 'static,
    ) -> Result<Edited, Refusal> {
        self.operator().edit(how).await
    }

    /// Records an operation and its outcome in the log and in the record of calls. This is for operations that do
    /// not change the configuration. `what` must contain no secrets.
    pub(super) fn note<T>(
        &self,
        started: Instant,
        outcome: &Result<T, Refusal>,
        what: &(dyn fmt::Display + Sync),
    ) {
        self.operator().note(started, outcome, what);
    }

    fn operator(&self) -> OperatorRequest<'_> {
        OperatorRequest {
            shard: &self.shard,
            who: self.identity.principal.id.clone(),
            address: self.identity.address(),
            asked: self.action.clone(),
            server: self.about("server"),
            profile: self.about("profile"),
        }
    }

    /// Returns the server or profile that the path names.
    fn about(&self, name: &str) -> Option<&str> {
        self.path.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }
}
