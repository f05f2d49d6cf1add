//! The reason why a request did not succeed, for its entry in the record of calls. Only requests that fail come here. This
//! module must not know how reasons are shown.

use engine::{Condition, Fault};
use proto::json::{Elements, MAX_DEPTH, Members, unquote};
use proto::rpc::RpcError;
use transport::up::LinkError;

use super::Record;
use crate::admission::audit::{CallOutcome, ReasonKind, RecordedReason};

impl Record {
    /// Records why the request is about to fail, because the fault alone does not show it.
    pub(crate) fn fails_by(&mut self, cause: ReasonKind) {
        self.facts.cause = Some(cause);
    }

    /// Records why the link failed.
    pub(crate) fn link_failed(&mut self, error: &LinkError) {
        let is_sent = self.facts.tries > 0;
        self.fails_by(match error {
            LinkError::Late(_) | LinkError::NotStarted { .. } => ReasonKind::Timeout,
            LinkError::Status { .. } | LinkError::NotAMessage(_) | LinkError::TooLong(_) if is_sent => {
                ReasonKind::ServerError
            }
            LinkError::OutOfMemory(_) => ReasonKind::Gateway,
            LinkError::Closed | LinkError::Broken(_) | LinkError::BrokeOff(_) | LinkError::Child(_)
                if is_sent =>
            {
                ReasonKind::Ended
            }
            _ => ReasonKind::Unavailable,
        });
    }

    /// Gives the reason, with the beginning of the error text.
    pub(super) fn give_reason(&mut self, kind: ReasonKind, text: &str) {
        if self.entry.is_some() {
            let text = self.context.state.audit.reason_text(text);
            self.facts.reason = Some(Box::new(RecordedReason { kind, text }));
        }
    }

    /// Gives the reason that is in a fault.
    pub(super) fn give_reason_of(&mut self, fault: &Fault) {
        let kind = kind_of(fault, self.facts.cause);
        let is_plain = matches!(kind, ReasonKind::UnknownName)
            || kind == ReasonKind::Rule && fault.condition != Condition::DeniedArguments;
        // The client's text for a name that it cannot see explains nothing.
        self.give_reason(kind, if is_plain { "" } else { &fault.message });
    }

    /// Gives the reason that is in the answer of a server or of the gateway itself.
    pub(super) fn give_reason_in(&mut self, body: &[u8], kind: ReasonKind) {
        if self.entry.is_some() {
            let text = error_text(body).unwrap_or_default();
            // A request that was never sent, and was not answered from the cache, was refused by the gateway.
            let is_own = self.facts.tries == 0 && !self.facts.cached;
            self.give_reason(if is_own { ReasonKind::Request } else { kind }, &text);
        }
    }

    /// Returns the reason at the end of the request; `None` if the request succeeded.
    pub(super) fn reason_at_end(&mut self) -> Option<Box<RecordedReason>> {
        if self.facts.outcome == CallOutcome::Ok {
            return None;
        }
        if self.facts.reason.is_none() && self.facts.outcome == CallOutcome::Error {
            let is_parked = self.parked_since.is_some();
            self.give_reason(if is_parked { ReasonKind::Unanswered } else { ReasonKind::Cancelled }, "");
        }
        self.facts.reason.take()
    }
}

fn kind_of(fault: &Fault, cause: Option<ReasonKind>) -> ReasonKind {
    match fault.condition {
        _ if fault.consent.is_some() => ReasonKind::Consent,
        Condition::UpstreamDown => cause.unwrap_or(ReasonKind::Unavailable),
        Condition::UnknownTool | Condition::UnknownPrompt | Condition::UnknownResource if fault.hidden => {
            ReasonKind::Rule
        }
        Condition::UnknownTool | Condition::UnknownPrompt | Condition::UnknownResource => {
            ReasonKind::UnknownName
        }
        Condition::DeniedArguments | Condition::Forbidden => ReasonKind::Rule,
        Condition::HeldTool => ReasonKind::Approval,
        Condition::RateLimited => ReasonKind::TooManyCalls,
        Condition::ToolFailed => ReasonKind::ToolError,
        Condition::UpstreamError => ReasonKind::ServerError,
        Condition::ParseError
        | Condition::InvalidRequest
        | Condition::UnknownMethod
        | Condition::InvalidParams
        | Condition::MissingToolName
        | Condition::InvalidArguments
        | Condition::NotInitialized => ReasonKind::Request,
        _ => ReasonKind::Gateway,
    }
}

/// Returns the message of an error, or the first text of a result that reports a failure.
fn error_text(body: &[u8]) -> Option<String> {
    let members = Members::of_document(body, MAX_DEPTH).ok()?;
    let text = if let Some(error) = members.get(body, "error") {
        RpcError::of_value(body, error)?.message?
    } else {
        let result = Members::of_value(body, members.get(body, "result")?)?;
        let content = Elements::of_value(body, result.get(body, "content")?)?;
        let first = |item| Members::of_value(body, item)?.get(body, "text");
        content.iter().find_map(first)?
    };
    unquote(text.of(body).strip_prefix(b"\"")?.strip_suffix(b"\"")?).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_message_of_an_error_or_the_first_text_of_a_result() {
        let text = |body: &str| error_text(body.as_bytes());
        assert_eq!(
            text(r#"{"id":1,"error":{"code":-1,"message":"no \"disk\""}}"#).as_deref(),
            Some("no \"disk\"")
        );
        let failed = r#"{"id":1,"result":{"content":[{"type":"image"},{"type":"text","text":"gone"}],"isError":true}}"#;
        assert_eq!(text(failed).as_deref(), Some("gone"));
        assert_eq!((text("{}"), text("[1"), text(r#"{"result":{"content":[]}}"#)), (None, None, None));
    }

    #[test]
    fn a_fault_of_a_server_has_the_cause_that_the_call_noted() {
        let fault = Fault::upstream("blog", false, "no answer");
        assert_eq!(kind_of(&fault, None), ReasonKind::Unavailable);
        assert_eq!(kind_of(&fault, Some(ReasonKind::Timeout)), ReasonKind::Timeout);
        let consent = Fault::wants_consent("blog", "https://example.com/");
        assert_eq!(kind_of(&consent, Some(ReasonKind::Ended)), ReasonKind::Consent);
        let unknown = Fault::client(-32602, "unknown").about(Condition::UnknownTool, "x");
        assert_eq!(kind_of(&unknown, None), ReasonKind::UnknownName);
        assert_eq!(kind_of(&unknown.hiding(Some("blog")), None), ReasonKind::Rule);
        let full = Fault::client(-32000, "full").about(Condition::RateLimited, "").with_status(429);
        assert_eq!(kind_of(&full, None), ReasonKind::TooManyCalls);
    }
}
