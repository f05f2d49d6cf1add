//! The steps of a row, in order: each is a request, a file to fetch or a value to compute.
//!
//! A step that takes the arguments sends each argument where it belongs. An argument that the route names goes into the path. The
//! other arguments go into the query with GET and DELETE, and into the body with other methods.

use std::time::Duration;

use serde_json::Value;

use super::file::FileFrom;
use crate::port::Verb;
use crate::tools::{CallFailure, Form, Literal, ToolArgument, Values};

/// A step of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// A request whose route and method the row gives.
    Ask(RestRequest),
    /// A file for a later request.
    File(FileFrom),
    /// A check of the change that a later request would make.
    Check(Check),
    /// A request whose route and method the call chooses.
    Open(CallerRequest),
    /// The content that an earlier call replaced, at the address in this argument.
    Previous(&'static str),
    /// A change that restores the content at the address in an argument.
    Restore(Restoring),
    /// Sets the value with this name, computed from the existing values; `None` sets nothing.
    Make(&'static str, fn(&Values) -> Result<Option<Value>, CallFailure>),
}

/// A request that the call chooses: its target, and the names of the arguments that give the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerRequest {
    /// The name of the target API.
    pub(crate) base: &'static str,
    /// The name of the argument that contains the method.
    pub(crate) method: &'static str,
    /// The name of the argument that contains the route.
    pub(crate) route: &'static str,
    /// The name of the argument that contains the query's members.
    pub(crate) query: &'static str,
    /// The name of the argument that contains the body's members.
    pub(crate) body: &'static str,
}

/// A request that a row describes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestRequest {
    /// The condition under which the request is sent.
    pub(crate) when: StepCondition,
    /// The method of the request.
    pub(crate) verb: Verb,
    /// The name of the target API.
    pub(crate) base: &'static str,
    /// The path below the target's URL, with `{NAME}` for values, and `{*NAME}` for values of several segments.
    pub(crate) route: &'static str,
    /// Sends the call's arguments with the request.
    pub(crate) takes_arguments: bool,
    /// Further fields to send with the request.
    pub(crate) fields: &'static [Field],
    /// The encoding of the request's body.
    pub(crate) encoding: Encoding,
    /// Values in the answer that later steps need.
    pub(crate) binds: &'static [Bind],
    /// The time for which the answer may be cached, if there is a cache.
    pub(crate) keep: Duration,
    /// The method that matches the effect of the request; it may differ from the method that is sent.
    pub(crate) acts_as: Verb,
    /// Reads the answer as a file rather than as JSON.
    pub(crate) brings_file: bool,
    /// Shows content in the answer as source, if the caller may edit it.
    pub(crate) shows_content: bool,
    /// The failure that the service may report although the request took effect, if there is one.
    pub(crate) false_failure: Option<FalseFailure>,
    /// The words that a failure of this request needs, because earlier requests of the call have changed something.
    pub(crate) done_before: Option<&'static str>,
    /// The pages of the list that the request reads.
    pub(crate) paging: Paging,
}

/// The ways in which a service divides a list into pages. If a service reports the total number of entries, it has
/// divided the list itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paging {
    /// The service returns the page that the call asks for.
    ByService,
    /// The service always returns the whole list.
    Never,
    /// Some versions of the service always return the whole list.
    Doubtful,
}

/// A failure that some versions of a service report although the request took effect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FalseFailure {
    /// The failure's status.
    pub(crate) status: u16,
    /// The failure's code.
    pub(crate) code: &'static str,
    /// Returns true if the state, read from the same route, shows the effect that the call asked for.
    pub(crate) has_effect: fn(&Value, &Values) -> bool,
}

/// A check of what a call is about to change, which may refuse the change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    /// The request that reads the current state.
    pub(crate) ask: RestRequest,
    /// The arguments whose new values are judged.
    pub(crate) judged: &'static [&'static str],
    /// The part of the current state that is kept.
    pub(crate) keeping: KeptState,
    /// Judges the new value of an argument; an error refuses the change and gives the reason.
    pub(crate) judge: fn(&str, &Value, &Values) -> Result<(), CallFailure>,
}

/// The part of the state before a change that is kept, so that a call can restore it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeptState {
    /// The content, if the call replaces it.
    Content,
    /// All values that the call replaces.
    Values(KeptValues),
}

/// The values that are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptValues {
    /// Members that depend on one another: if a call changes one of them, all of them are kept.
    pub(crate) together: &'static [ToolArgument],
    /// The members whose old values cannot be sent back.
    pub(crate) except: &'static [&'static str],
    /// The members of objects that a change cannot set to an empty text.
    pub(crate) never_empty: &'static [&'static str],
    /// The member by which an answer shows that something in it is hidden. Hidden values are not kept.
    pub(crate) removed: &'static str,
}

/// A change that restores what an earlier call replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Restoring {
    /// The argument that contains the address.
    pub(crate) argument: &'static str,
    /// The name of the API of the item.
    pub(crate) base: &'static str,
}

/// The condition of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StepCondition {
    /// The step always runs.
    Always,
    /// The step runs if this value exists.
    Given(&'static str),
    /// The step runs if this value does not exist.
    Absent(&'static str),
    /// The step runs if this value consists of digits.
    Digits(&'static str),
    /// The step runs if this value does not consist of digits.
    Words(&'static str),
    /// The step runs if this value equals this word.
    Is(&'static str, &'static str),
    /// The step runs if this value does not equal this word.
    IsNot(&'static str, &'static str),
}

/// The encodings of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As a JSON object.
    Json,
    /// As a multipart form, without a file.
    Form,
    /// As a multipart form, with the file under this name.
    File(&'static str),
}

/// A field that is sent with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// The field's name in the request.
    pub(crate) name: &'static str,
    /// The source of the field's value.
    pub(crate) source: FieldSource,
    /// The form of the value in the request.
    pub(crate) form: Form,
}

/// The sources of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FieldSource {
    /// This literal from the row.
    Fixed(Literal),
    /// A value of the call, or of an earlier step; left out if it does not exist.
    Value(&'static str),
    /// A secret that the target holds under this name.
    Secret(&'static str),
}

/// A part of an answer that later steps need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bind {
    /// The name of the value.
    pub(crate) name: &'static str,
    /// The JSON Pointer (RFC 6901) of the value in the answer. `*` stands for each element of a list, and yields a
    /// list. `|` separates alternatives; the first one that exists is used.
    pub(crate) at: &'static str,
    /// The consequence if the value is missing.
    pub(crate) missing: MissingValue,
}

/// The consequences of a missing value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MissingValue {
    /// The call fails with this message.
    CallFailure(&'static str),
    /// The call continues without the value.
    Nothing,
    /// The call is answered as if this JSON text were the last answer.
    Answer(&'static str),
}

const fn ask(verb: Verb, base: &'static str, route: &'static str) -> RestRequest {
    RestRequest {
        when: StepCondition::Always,
        verb,
        base,
        route,
        takes_arguments: true,
        fields: &[],
        encoding: Encoding::Json,
        binds: &[],
        keep: Duration::ZERO,
        acts_as: verb,
        brings_file: false,
        shows_content: false,
        false_failure: None,
        done_before: None,
        paging: Paging::ByService,
    }
}

/// A request that reads content, as source if the account may edit it.
pub(crate) const fn content(base: &'static str, route: &'static str) -> RestRequest {
    RestRequest { shows_content: true, ..get(base, route) }
}

/// A request that reads something as editors see it, from services that show this to everyone who may read.
pub(crate) const fn editable(base: &'static str, route: &'static str) -> RestRequest {
    get(base, route).with(EDITING)
}

/// The query for content as editors see it (WordPress REST API, `context`).
pub(crate) const EDITING: &[Field] = &[fixed("context", Literal::Text("edit"))];

/// A request that reads.
pub(crate) const fn get(base: &'static str, route: &'static str) -> RestRequest {
    ask(Verb::Get, base, route)
}

/// A request that reads a list that the service does not divide into pages.
pub(crate) const fn unpaged(base: &'static str, route: &'static str) -> RestRequest {
    RestRequest { paging: Paging::Never, ..get(base, route) }
}

/// A request that reads a list that some versions of the service do not divide into pages.
pub(crate) const fn seldom_paged(base: &'static str, route: &'static str) -> RestRequest {
    RestRequest { paging: Paging::Doubtful, ..get(base, route) }
}

/// A request that creates something.
pub(crate) const fn post(base: &'static str, route: &'static str) -> RestRequest {
    ask(Verb::Post, base, route)
}

/// A request that replaces something.
pub(crate) const fn put(base: &'static str, route: &'static str) -> RestRequest {
    ask(Verb::Put, base, route)
}

/// A request that changes something.
pub(crate) const fn patch(base: &'static str, route: &'static str) -> RestRequest {
    ask(Verb::Patch, base, route)
}

/// A request that changes something, with the method that all servers accept.
pub(crate) const fn edit(base: &'static str, route: &'static str) -> RestRequest {
    RestRequest { acts_as: Verb::Patch, ..ask(Verb::Post, base, route) }
}

/// A request that computes something, and changes nothing.
pub(crate) const fn query(base: &'static str, route: &'static str) -> RestRequest {
    RestRequest { acts_as: Verb::Get, ..ask(Verb::Post, base, route) }
}

/// A request that removes something permanently, for services that require an explicit flag for that.
pub(crate) const fn purge(base: &'static str, route: &'static str) -> RestRequest {
    delete(base, route).with(FOR_GOOD)
}

const FOR_GOOD: &[Field] = &[fixed("force", Literal::Flag(true))];

/// A request that removes something.
pub(crate) const fn delete(base: &'static str, route: &'static str) -> RestRequest {
    ask(Verb::Delete, base, route)
}

/// A field with a value from the row.
pub(crate) const fn fixed(name: &'static str, literal: Literal) -> Field {
    Field { name, source: FieldSource::Fixed(literal), form: Form::Plain }
}

/// A field with a value of the call, or of an earlier step.
pub(crate) const fn value(name: &'static str, from: &'static str, form: Form) -> Field {
    Field { name, source: FieldSource::Value(from), form }
}

impl RestRequest {
    /// Sets the condition under which the request is sent.
    pub(crate) const fn when(mut self, when: StepCondition) -> Self {
        self.when = when;
        self
    }

    /// Leaves out the call's arguments.
    pub(crate) const fn alone(mut self) -> Self {
        self.takes_arguments = false;
        self
    }

    /// Adds fields to send with the request.
    pub(crate) const fn with(mut self, fields: &'static [Field]) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the encoding of the request's body.
    pub(crate) const fn encoded(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Sets the values that later steps need.
    pub(crate) const fn binds(mut self, binds: &'static [Bind]) -> Self {
        self.binds = binds;
        self
    }

    /// Marks the answer as a file.
    pub(crate) const fn bringing_file(mut self) -> Self {
        self.brings_file = true;
        self
    }

    /// Sets the failure that the service may report although the request took effect.
    pub(crate) const fn verifying(mut self, failure: FalseFailure) -> Self {
        self.false_failure = Some(failure);
        self
    }

    /// Sets the words that say what earlier requests of the call have changed, for a failure of this request.
    pub(crate) const fn after(mut self, done: &'static str) -> Self {
        self.done_before = Some(done);
        self
    }

    /// Allows caching the answer for this many seconds.
    pub(crate) const fn keep(mut self, seconds: u64) -> Self {
        self.keep = Duration::from_secs(seconds);
        self
    }

    /// The request as a step.
    pub(crate) const fn step(self) -> Step {
        Step::Ask(self)
    }
}

impl Step {
    /// Returns true if the request's answer has content that may be edited.
    pub(crate) fn shows_content(&self) -> bool {
        matches!(self, Self::Ask(ask) if ask.shows_content)
    }

    /// The check, if the step is one.
    pub(crate) fn check(&self) -> Option<&Check> {
        if let Self::Check(check) = self { Some(check) } else { None }
    }

    /// The effect of a request: its method, unless the row sets another one.
    pub(crate) fn verb(&self) -> Option<Verb> {
        match self {
            Self::Ask(ask) => Some(ask.acts_as),
            Self::Restore(_) => Some(Verb::Patch),
            Self::Previous(_) | Self::Open(_) | Self::File(_) | Self::Make(..) | Self::Check(_) => None,
        }
    }
}
