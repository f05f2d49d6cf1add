//! Today's rules and consents, applied to recorded calls that did not reach a tool. They can differ from the rules at the
//! time of the call, so they are shown as today's, beside the recorded reason. This module must not know how they are shown.

use std::collections::HashMap;
use std::sync::Arc;

use upstream::oauth::KnownConsent;

use super::access::{AccessAnswer, AccessChecker, AccessQuestion, AskedCaller};
use super::calls::RecordedCall;
use gateway::key_names::NO_KEY;
use gateway::process::Shard;
use store::audit::ReasonKind;

/// The maximum number of different access checks for one list of calls.
const MOST_QUESTIONS: usize = 200;

/// The method of the calls for which the rules are checked.
const CALL: &str = "tools/call";

/// The present rules and consents, for several calls.
pub(crate) struct PresentRules {
    shard: Arc<Shard>,
    checker: Option<AccessChecker>,
    /// The results of access checks, by profile, tool, caller and address.
    known: HashMap<[String; 4], Option<String>>,
    consents: Option<Vec<KnownConsent>>,
}

impl PresentRules {
    pub(crate) fn new(shard: &Arc<Shard>) -> Self {
        Self { shard: shard.clone(), checker: None, known: HashMap::new(), consents: None }
    }

    /// Returns what today's rules would do with a call that was stopped; `None` if they say nothing about it.
    pub(crate) async fn verdict(&mut self, call: &RecordedCall) -> Option<String> {
        let is_unexplained = call.reason.is_none();
        match call.outcome {
            "denied" if call.method == CALL && (is_unexplained || call.reason == Some(ReasonKind::Rule)) => {
                self.rule(call).await
            }
            "error" if call.tries == 0 && is_unexplained => self.consent(call.server.as_deref()?, call).await,
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
        let verdict = answer.as_ref().map(in_words);
        self.known.insert(key, verdict.clone());
        verdict
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
        let verdict = if own.status.given {
            "the caller has given its consent to the server by now"
        } else {
            "the caller has not given its consent to the server until now"
        };
        Some(verdict.to_owned())
    }
}

fn in_words(answer: &AccessAnswer) -> String {
    if answer.allowed {
        "today's rules would allow a call of this tool, at least with some arguments".to_owned()
    } else {
        format!("today's rules would deny the call: {}", answer.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_about_today() {
        let answer = |allowed, reason: &str| AccessAnswer {
            allowed,
            reason: reason.to_owned(),
            rule: None,
            effect: None,
            server: None,
            own_name: None,
            rules: Vec::new(),
        };
        assert_eq!(
            in_words(&answer(false, "rule 4 of `access` denies it")),
            "today's rules would deny the call: rule 4 of `access` denies it"
        );
        assert!(in_words(&answer(true, "no rule denies it")).starts_with("today's rules would allow"));
    }
}
