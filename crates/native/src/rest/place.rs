//! The address that requests go to, and the form of a service's errors.

use secrecy::SecretString;
use serde_json::Value;

use super::known::AcceptedCredentials;
use super::offered::Offered;
use super::unread::UnreadableKind;
use crate::port::{HttpResponse, Verb};
use crate::server::Mapped;
use crate::tools::{Condition, Trouble, Values};

/// A request by which a place accepts or refuses credentials.
#[derive(Debug, Clone)]
pub(crate) struct EntryCheck {
    /// The URL of the request.
    pub(crate) url: String,
    /// The base whose errors its refusals are.
    pub(crate) base: &'static str,
}

/// The services behind a server's tools.
pub(crate) trait RequestTargets: Send + Sync {
    /// The place of `base` for this call, with the headers to send there.
    ///
    /// # Errors
    /// If the call has no place to go, or no credentials for it.
    fn place(&self, base: &str, values: &Values, mapped: Option<&Mapped>) -> Result<RequestTarget, Trouble>;

    /// A secret that goes along as a field.
    ///
    /// # Errors
    /// When there is none.
    fn secret(
        &self,
        name: &str,
        _values: &Values,
        _mapped: Option<&Mapped>,
    ) -> Result<SecretString, Trouble> {
        Err(Trouble::new(Condition::NoCredentials, format!("no {name} is configured")))
    }

    /// The record of recently accepted credentials, if places are asked for them.
    fn known(&self) -> Option<&AcceptedCredentials> {
        None
    }

    /// Returns true if a value may be a segment of a path there. It is percent-encoded in any case, but some servers read a
    /// path after it is decoded.
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
    /// If the configuration does not allow it.
    fn may(&self, _base: &str, _verb: Verb, _route: &str) -> Result<(), Trouble> {
        Err(Trouble::new(Condition::ToolFailed, "this server allows only the requests of its own tools"))
    }

    /// The trouble for an answer without success.
    fn trouble(&self, base: &str, response: &HttpResponse) -> Trouble;

    /// The trouble for an answer with a status of success that reports a failure.
    fn refused(&self, _base: &str, _answer: &Value) -> Option<Trouble> {
        None
    }

    /// A likely cause of an answer that is not JSON.
    fn unread(&self, _kind: UnreadableKind) -> &'static str {
        "is this the right address?"
    }

    /// The known cause of a redirect from one URL to another.
    fn redirected(&self, _from: &str, _to: &str) -> Option<&'static str> {
        None
    }

    /// The record of reported namespaces, if places are asked for them.
    fn offered(&self) -> Option<&Offered> {
        None
    }

    /// The new address of a URL of `base` at a place with these namespaces, if it differs.
    fn moved(&self, _base: &str, _namespaces: &[String], _url: &str) -> Option<String> {
        None
    }

    /// The question to ask if `trouble` may mean that the site lacks this base entirely: a request, and the entries of
    /// its answer's list `namespaces` if it has.
    fn doubt(&self, _base: &str, _trouble: &Trouble) -> Option<Doubt> {
        None
    }
}

/// A question whether a site has what a tool stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doubt {
    /// The base and the route to ask.
    pub(crate) ask: (&'static str, &'static str),
    /// The namespaces, one of which must be there.
    pub(crate) namespaces: &'static [&'static str],
    /// The failure to report if the site has none of them: its kind and message.
    pub(crate) missing: (Condition, &'static str),
    /// The message if the site has one of them.
    pub(crate) there: &'static str,
}

/// The destination of requests, with what they carry there.
#[derive(Debug, Clone)]
pub(crate) struct RequestTarget {
    /// The URL that paths are put behind, without a slash at its end.
    pub(crate) url: String,
    /// The value of `Authorization`.
    pub(crate) authorization: Option<SecretString>,
    /// Allows only public addresses.
    pub(crate) public_only: bool,
    /// The request that checks the credentials first, if there is one.
    pub(crate) entry: Option<EntryCheck>,
}
