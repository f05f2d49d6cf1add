//! The paths of the management API for definitions of tools. This module must not know how definitions are compared.

use http::Method;
use serde_json::{Value, json};

use super::routes::{Answered, ManagementRequest, nothing, ok, only};
use crate::admission::audit::CallOutcome;
use crate::changes as ask;
use crate::changes::Refusal;
use crate::management::audit::{self, ManagementAction};
use crate::management::definitions::{self, Approval};

impl ManagementRequest<'_> {
    /// Lists the servers with tools that await approval.
    pub(super) fn changed_servers(&self, method: &Method, rest: &[&str]) -> Answered {
        match (method.as_str(), rest) {
            ("GET", []) => Ok(ok(&definitions::servers(self.shard))),
            (_, []) => Ok(only("GET")),
            _ => Err(nothing()),
        }
    }

    /// Answers a request about the definitions of one server.
    pub(super) async fn definitions(&mut self, method: &Method, id: &str, rest: &[&str]) -> Answered {
        ask::server(&self.standing, id)?;
        match (method.as_str(), rest) {
            ("GET", []) => {
                let is_full = matches!(self.asked_for("full").as_deref(), Some("true" | "1"));
                Ok(ok(&definitions::review(self.shard, id, is_full).await?))
            }
            ("POST", ["approve"]) => {
                let body = self.json().await?;
                let made = self.approve(id, &body).await;
                let what = made.as_ref().map(|tools| format!("approved: {}", definitions::named(tools)));
                let mut action = ManagementAction {
                    outcome: CallOutcome::Ok,
                    ..ManagementAction::denied(&self.identity, self.action.clone(), 0)
                };
                (action.server, action.status) = (Some(id), None);
                match &what {
                    Ok(what) => action.what = Some(what),
                    Err(refusal) => {
                        (action.outcome, action.status) = (CallOutcome::Error, Some(refusal.status));
                    }
                }
                audit::record(self.shard, &action);
                Ok(ok(&json!({ "id": id, "approved": made? })))
            }
            (_, []) => Ok(only("GET")),
            (_, ["approve"]) => Ok(only("POST")),
            _ => Err(nothing()),
        }
    }

    async fn approve(&self, id: &str, body: &Value) -> Result<Vec<String>, Refusal> {
        let is_all = body.get("all").is_some_and(|all| all == true);
        let name = |tool: &Value| tool.as_str().map(str::to_owned);
        let tools: Option<Vec<String>> = match body.get("tools") {
            None => None,
            Some(tools) => {
                let tools = tools.as_array().and_then(|tools| tools.iter().map(name).collect());
                Some(tools.ok_or_else(|| Refusal::request("`tools` must be a list of names of tools"))?)
            }
        };
        if is_all == tools.is_some() {
            return Err(Refusal::request("name the tools to approve as `tools`, or send `\"all\": true`"));
        }
        let revision = match body.get("revision") {
            None | Some(Value::Null) => None,
            Some(revision) => {
                Some(name(revision).ok_or_else(|| Refusal::request("`revision` must be a string"))?)
            }
        };
        let by = self.identity.principal.id.clone();
        definitions::approve(self.shard, id, Approval { tools, revision, by }).await
    }
}
