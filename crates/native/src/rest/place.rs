//! Where requests go, and what a service's errors look like.

use secrecy::SecretString;
use serde_json::Value;

use super::known::Known;
use super::offered::Offered;
use super::unread::Unread;
use crate::port::{HttpResponse, Verb};
use crate::server::Mapped;
use crate::tools::{Condition, Trouble, Values};

/// Where a place says whether it knows those whose credentials it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// What is asked.
    pub(crate) url: String,
    /// The base whose errors its refusals are.
    pub(crate) base: &'static str,
}

/// The services behind a server's tools.
pub(crate) trait Places: Send + Sync {
    /// Where `base` is for this call, and what is shown there.
    ///
    /// # Errors
    /// When the call has no place to go, or no credentials for it.
    fn place(&self, base: &str, values: &Values, mapped: Option<&Mapped>) -> Result<Place, Trouble>;

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
        Err(Trouble::new(Condition::NoCredentials, format!("there is no {name} configured")))
    }

    /// Whom the places let in a short time ago, where they are asked.
    fn known(&self) -> Option<&Known> {
        None
    }

    /// Whether a value may be a segment of a path there. It is encoded in any case; but some read a path only when it is
    /// decoded.
    fn takes(&self, _base: &str, _segment: &str) -> bool {
        true
    }

    /// Whether a call that says its request itself may have what is linked in the answer shown with it.
    fn embeds(&self) -> bool {
        true
    }

    /// Whether a call may say this request itself.
    ///
    /// # Errors
    /// When it may not.
    fn may(&self, _base: &str, _verb: Verb, _route: &str) -> Result<(), Trouble> {
        Err(Trouble::new(Condition::ToolFailed, "nothing may be asked here that no tool is made for"))
    }

    /// What an answer without success says.
    fn trouble(&self, base: &str, response: &HttpResponse) -> Trouble;

    /// What is wrong with an answer that says success, when something is.
    fn refused(&self, _base: &str, _answer: &Value) -> Option<Trouble> {
        None
    }

    /// What an answer that is no JSON may be about.
    fn unread(&self, _kind: Unread) -> &'static str {
        "is this the right address?"
    }

    /// What a redirect from one URL to another is about, where that is known.
    fn redirected(&self, _from: &str, _to: &str) -> Option<&'static str> {
        None
    }

    /// What the places said that they have, where they are asked.
    fn offered(&self) -> Option<&Offered> {
        None
    }

    /// Where this URL of `base` is at a place that has these namespaces, when that is elsewhere.
    fn moved(&self, _base: &str, _namespaces: &[String], _url: &str) -> Option<String> {
        None
    }

    /// When `trouble` may mean that the site has nothing of this base at all: what to ask the site, and what must stand in
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
    /// What it means when none is: of what kind, and in words.
    pub(crate) missing: (Condition, &'static str),
    /// What it means when one is.
    pub(crate) there: &'static str,
}

/// Where requests go.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The URL that paths are put behind, without a slash at its end.
    pub(crate) url: String,
    /// The value of `Authorization`.
    pub(crate) authorization: Option<SecretString>,
    /// Whether only public addresses may be asked.
    pub(crate) public_only: bool,
    /// Where it says whether it knows who asks, if it is asked that before.
    pub(crate) entry: Option<Entry>,
}
