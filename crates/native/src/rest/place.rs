//! The address of requests, and the form of a service's errors. A base is the name by which rows refer to an API of
//! a service; a target is the address of that API for one call.

use secrecy::SecretString;
use serde_json::Value;

use super::known::AcceptedCredentials;
use super::offered::ReportedNamespaces;
use super::permalinks::PlainSites;
use super::previous::PreviousContents;
use super::unread::UnreadableKind;
use super::visitor::{VisitorCheck, VisitorVerdicts};
use crate::port::{HttpResponse, Verb};
use crate::server::Mapped;
use crate::tools::{CallFailure, Condition, Values};

/// A request by which a target accepts or refuses credentials.
#[derive(Debug, Clone)]
pub(crate) struct EntryCheck {
    /// The URL of the request.
    pub(crate) url: String,
    /// The name of the API whose error format the target uses when it refuses the credentials.
    pub(crate) base: &'static str,
}

/// An argument with the IDs of other items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    /// The argument that contains the IDs: a number, or a list of numbers or of objects with an `id`. It may also be a
    /// member of the argument `fields`.
    pub(crate) argument: &'static str,
    /// The noun for such an item, for messages.
    pub(crate) noun: &'static str,
    /// The name of the API that lists these items.
    pub(crate) base: &'static str,
    /// The route of the list.
    pub(crate) route: &'static str,
    /// The tool that lists the items.
    pub(crate) lister: &'static str,
}

/// The services behind a server's tools.
pub(crate) trait RequestTargets: Send + Sync {
    /// The target of `base` for this call, with the headers to send there.
    ///
    /// # Errors
    /// Fails if the target is neither configured nor named by the call, or if its credentials are missing.
    fn place(
        &self,
        base: &str,
        values: &Values,
        mapped: Option<&Mapped>,
    ) -> Result<RequestTarget, CallFailure>;

    /// A secret that is sent as a field.
    ///
    /// # Errors
    /// Fails if there is none.
    fn secret(
        &self,
        name: &str,
        _values: &Values,
        _mapped: Option<&Mapped>,
    ) -> Result<SecretString, CallFailure> {
        Err(CallFailure::new(Condition::NoCredentials, format!("no {name} is configured")))
    }

    /// The record of recently accepted credentials, if targets are asked to check credentials.
    fn known(&self) -> Option<&AcceptedCredentials> {
        None
    }

    /// Returns true if a value may be a segment of a path at this target. The value is percent-encoded in any case,
    /// but some servers interpret a path after decoding it.
    fn takes(&self, _base: &str, _segment: &str) -> bool {
        true
    }

    /// Returns true if a call that defines its own request may embed linked resources in its answer.
    fn embeds(&self) -> bool {
        true
    }

    /// Checks that a call may define this request itself.
    ///
    /// # Errors
    /// Fails if the configuration does not allow it.
    fn may(&self, _base: &str, _verb: Verb, _route: &str) -> Result<(), CallFailure> {
        Err(CallFailure::new(Condition::ToolFailed, "this server allows only the requests of its own tools"))
    }

    /// The failure for an answer with an error status.
    fn failure(&self, base: &str, response: &HttpResponse) -> CallFailure;

    /// The failure reported by an answer that has a success status.
    fn refused(&self, _base: &str, _answer: &Value) -> Option<CallFailure> {
        None
    }

    /// Removes the parts of an answer that are not shown to callers.
    fn filter(&self, _base: &str, _answer: &mut Value) {}

    /// A likely cause of an answer that is not JSON.
    fn unread(&self, _kind: UnreadableKind) -> &'static str {
        "is this address correct?"
    }

    /// The known cause of a redirect from one URL to another.
    fn redirected(&self, _from: &str, _to: &str) -> Option<&'static str> {
        None
    }

    /// The record of reported namespaces, if targets are asked for them.
    fn offered(&self) -> Option<&ReportedNamespaces> {
        None
    }

    /// The address to which a URL of `base` has moved at a target with these namespaces; `None` if the URL has not moved.
    fn moved(&self, _base: &str, _namespaces: &[String], _url: &str) -> Option<String> {
        None
    }

    /// The arguments of changes at `base` that refer to other items.
    fn references(&self, _base: &str) -> &'static [Reference] {
        &[]
    }

    /// The content that calls have replaced.
    fn previous(&self) -> Option<&PreviousContents> {
        None
    }

    /// The record of sites that accept routes only as a parameter.
    fn plain_sites(&self) -> Option<&PlainSites> {
        None
    }

    /// The record of verdicts about accounts, if sites treat some accounts as visitors.
    fn visitors(&self) -> Option<&VisitorVerdicts> {
        None
    }

    /// The check to make if `failure` may mean that the site treats the account as a visitor.
    fn visitor_check(&self, _base: &str, _failure: &CallFailure) -> Option<VisitorCheck> {
        None
    }

    /// The question to ask if `failure` may mean that the site lacks the API of this base entirely.
    fn probe(&self, _base: &str, _failure: &CallFailure) -> Option<ApiProbe> {
        None
    }
}

/// A request that finds out if a site has the API that a tool depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApiProbe {
    /// The base and the route to ask.
    pub(crate) ask: (&'static str, &'static str),
    /// The namespaces; the site must have at least one.
    pub(crate) namespaces: &'static [&'static str],
    /// The failure to report if the site has none of these namespaces: its kind and message.
    pub(crate) missing: (Condition, &'static str),
    /// The message to report if the site has one of these namespaces.
    pub(crate) there: &'static str,
}

/// The destination of requests, with the credentials and checks that it needs.
#[derive(Debug, Clone)]
pub(crate) struct RequestTarget {
    /// The URL that paths are appended to, without a slash at its end.
    pub(crate) url: String,
    /// The value of `Authorization`.
    pub(crate) authorization: Option<SecretString>,
    /// Allows requests to public addresses only.
    pub(crate) public_only: bool,
    /// True if the configuration, not a caller, chose the host.
    pub(crate) is_fixed_host: bool,
    /// The request that checks the credentials first, if there is one.
    pub(crate) entry: Option<EntryCheck>,
}
