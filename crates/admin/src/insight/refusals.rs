//! The reasons why recorded calls did not reach a tool. The record contains only an outcome and a code, so the reason is
//! derived from the present rules and consents. This module must not know how reasons are shown.

use std::collections::HashMap;
use std::sync::Arc;

use proto::rpc::code;
use upstream::oauth::KnownConsent;

use super::access::{AccessChecker, AccessQuestion, AskedCaller};
use super::calls::RecordedCall;
use gateway::key_names::NO_KEY;
use gateway::process::Shard;

/// The maximum number of different access checks for one list of calls.
const MOST_QUESTIONS: usize = 200;

/// The method of the calls for which the rules are checked.
const CALL: &str = "tools/call";

/// Finds reasons for several calls.
pub(crate) struct CallRefusals {
    shard: Arc<Shard>,
    checker: Option<AccessChecker>,
    /// The results of access checks, by profile, tool, caller and address.
    known: HashMap<[String; 4], Option<String>>,
    consents: Option<Vec<KnownConsent>>,
}

impl CallRefusals {
    pub(crate) fn new(shard: &Arc<Shard>) -> Self {
        Self { shard: shard.clone(), checker: None, known: HashMap::new(), consents: None }
    }

    /// Returns the reason why a call did not reach a tool; `None` if the reason is unknown.
    pub(crate) async fn reason(&mut self, call: &RecordedCall) -> Option<String> {
        let is_rate = call.code == Some(429);
        match call.outcome {
            "denied" if call.method == CALL && !is_rate => self.rule(call).await,
            "error" if call.tries == 0 => match &call.server {
                Some(server) => self.consent(server, call).await,
                None if call.code == Some(i64::from(code::METHOD_NOT_FOUND)) => {
                    Some("no server of this profile offers this to the caller".to_owned())
                }
                None => None,
            },
            _ => None,
        }
    }

    async fn rule(&mut self, call: &RecordedCall) -> Option<String> {
        let tool = call.tool.clone()?;
        let address = call.address.clone().unwrap_or_default();
        let key = [call.profile.clone(), tool.clone(), call.principal.clone(), address.clone()];
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if self.known.len() >= MOST_QUESTIONS {
            return None;
        }
        if self.checker.is_none() {
            self.checker = Some(AccessChecker::open(&self.shard).await);
        }
        let caller = AskedCaller {
            id: Some(call.principal.clone()),
            address: address.parse().ok(),
            ..AskedCaller::default()
        };
        let question = AccessQuestion { profile: call.profile.clone(), tool, arguments: None, caller };
        let answer = self.checker.as_mut()?.answer(question).await.ok();
        // A key that was revoked later says nothing about the call.
        let answer = answer.filter(|answer| !answer.reason.starts_with(NO_KEY));
        let now = "a rule or a limit stopped the call; a call with other arguments may be allowed now";
        let reason = answer.map(|answer| if answer.allowed { now.to_owned() } else { answer.reason });
        self.known.insert(key, reason.clone());
        reason
    }

    async fn consent(&mut self, server: &str, call: &RecordedCall) -> Option<String> {
        let spec = self.shard.gateway.snapshot.upstreams.iter().find(|spec| *spec.name == *server)?;
        if !spec.own_consent {
            return None;
        }
        if self.consents.is_none() {
            self.consents = Some(self.shard.gateway.process.consents.list().await);
        }
        let own = self.consents.iter().flatten().find(|known| {
            let is_caller = known.caller.as_ref().is_some_and(|caller| *caller.id == *call.principal);
            *known.server == *server && is_caller
        })?;
        let reason = if own.status.given {
            "the server could not be reached, or the caller had not given its consent yet"
        } else {
            "waits for consent: the caller has not given the server its consent"
        };
        Some(reason.to_owned())
    }
}
