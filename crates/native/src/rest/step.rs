//! What a row says of its requests: one step after the other, each a request, a file to be had or a value to be made.
//!
//! A step that takes the arguments along sends each where it belongs: named in the route, in the path; else with GET and
//! DELETE in the query, with other methods in the body.

use std::time::Duration;

use serde_json::Value;

use super::file::FileFrom;
use crate::port::Verb;
use crate::tools::{Form, Literal, Trouble, Values};

/// A step of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// A request.
    Ask(Ask),
    /// A file, for a request behind it.
    File(FileFrom),
    /// A look at what a request behind it would change.
    Check(Check),
    /// A request whose route and method the call says.
    Open(Open),
    /// A value of this name, made of those that there are; `None` makes none.
    Make(&'static str, fn(&Values) -> Result<Option<Value>, Trouble>),
}

/// A request that the call says: names of arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    /// The name of the place that it goes to.
    pub(crate) base: &'static str,
    /// Its method.
    pub(crate) method: &'static str,
    /// Its route.
    pub(crate) route: &'static str,
    /// What goes into the query.
    pub(crate) query: &'static str,
    /// What goes into the body.
    pub(crate) body: &'static str,
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    /// Whether it is sent.
    pub(crate) when: When,
    /// Its method.
    pub(crate) verb: Verb,
    /// The name of the place that it goes to.
    pub(crate) base: &'static str,
    /// The path behind the place's URL, with `{NAME}` for values, and `{*NAME}` for those that may be several segments.
    pub(crate) route: &'static str,
    /// Whether the call's arguments go along.
    pub(crate) takes_arguments: bool,
    /// What else goes along.
    pub(crate) fields: &'static [Field],
    /// How its body is written.
    pub(crate) encoding: Encoding,
    /// What of its answer later steps need.
    pub(crate) binds: &'static [Bind],
    /// How long its answer may be kept, where answers are.
    pub(crate) keep: Duration,
    /// What it does, where its method says something else.
    pub(crate) acts_as: Verb,
    /// Whether its answer is a file rather than JSON.
    pub(crate) brings_file: bool,
    /// Whether its answer has content that may be edited, which is then shown as its source.
    pub(crate) shows_content: bool,
}

/// A look at what a call is about to change, which may refuse the change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    /// The request that shows what is there.
    pub(crate) ask: Ask,
    /// The argument that makes the look necessary.
    pub(crate) given: &'static str,
    /// Refuses the change, with the reason.
    pub(crate) judge: fn(&Value, &Values) -> Result<(), Trouble>,
}

/// Whether a step is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    /// Always.
    Always,
    /// When there is this value.
    Given(&'static str),
    /// When there is not.
    Absent(&'static str),
    /// When this value is digits alone.
    Digits(&'static str),
    /// When it is not.
    Words(&'static str),
    /// When it is this word.
    Is(&'static str, &'static str),
    /// When it is not this word.
    IsNot(&'static str, &'static str),
}

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As a JSON object.
    Json,
    /// As a form of parts, without a file.
    Form,
    /// As a form of parts, with the file under this name.
    File(&'static str),
}

/// Something that goes along with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// What it is called there.
    pub(crate) name: &'static str,
    /// Where it comes from.
    pub(crate) source: Source,
    /// How it is written there.
    pub(crate) form: Form,
}

/// Where a field comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// The row.
    Fixed(Literal),
    /// A value of the call, or one that a step before found; left out when there is none.
    Value(&'static str),
    /// A secret that the place holds under this name.
    Secret(&'static str),
}

/// Something of an answer that later steps need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bind {
    /// The name of the value.
    pub(crate) name: &'static str,
    /// Where it stands (RFC 6901); a `*` for each element of a list, which gives a list; places with `|` between, the first that
    /// there is.
    pub(crate) at: &'static str,
    /// What happens when it is not there.
    pub(crate) missing: Missing,
}

/// What happens when an answer has not what is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Missing {
    /// The call fails, in these words.
    Trouble(&'static str),
    /// Nothing.
    Nothing,
    /// The call is answered as if this JSON text were the last answer.
    Answer(&'static str),
}

const fn ask(verb: Verb, base: &'static str, route: &'static str) -> Ask {
    Ask {
        when: When::Always,
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
    }
}

/// A request that reads content, as its source where the account may edit it.
pub(crate) const fn content(base: &'static str, route: &'static str) -> Ask {
    Ask { shows_content: true, ..get(base, route) }
}

/// A request that reads.
pub(crate) const fn get(base: &'static str, route: &'static str) -> Ask {
    ask(Verb::Get, base, route)
}

/// A request that makes something.
pub(crate) const fn post(base: &'static str, route: &'static str) -> Ask {
    ask(Verb::Post, base, route)
}

/// A request that replaces something.
pub(crate) const fn put(base: &'static str, route: &'static str) -> Ask {
    ask(Verb::Put, base, route)
}

/// A request that changes something.
pub(crate) const fn patch(base: &'static str, route: &'static str) -> Ask {
    ask(Verb::Patch, base, route)
}

/// A request that changes something, with the method that passes everywhere.
pub(crate) const fn edit(base: &'static str, route: &'static str) -> Ask {
    Ask { acts_as: Verb::Patch, ..ask(Verb::Post, base, route) }
}

/// A request that has something worked out, and changes nothing.
pub(crate) const fn query(base: &'static str, route: &'static str) -> Ask {
    Ask { acts_as: Verb::Get, ..ask(Verb::Post, base, route) }
}

/// A request that removes something for good, where a service wants to be told so.
pub(crate) const fn purge(base: &'static str, route: &'static str) -> Ask {
    delete(base, route).with(FOR_GOOD)
}

const FOR_GOOD: &[Field] = &[fixed("force", Literal::Flag(true))];

/// A request that removes something.
pub(crate) const fn delete(base: &'static str, route: &'static str) -> Ask {
    ask(Verb::Delete, base, route)
}

/// A field that the row says.
pub(crate) const fn fixed(name: &'static str, literal: Literal) -> Field {
    Field { name, source: Source::Fixed(literal), form: Form::Plain }
}

/// A field with a value of the call, or of a step before.
pub(crate) const fn value(name: &'static str, from: &'static str, form: Form) -> Field {
    Field { name, source: Source::Value(from), form }
}

impl Ask {
    /// Only then.
    pub(crate) const fn when(mut self, when: When) -> Self {
        self.when = when;
        self
    }

    /// Without the call's arguments.
    pub(crate) const fn alone(mut self) -> Self {
        self.takes_arguments = false;
        self
    }

    /// With these, too.
    pub(crate) const fn with(mut self, fields: &'static [Field]) -> Self {
        self.fields = fields;
        self
    }

    /// With its body written so.
    pub(crate) const fn encoded(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Later steps need this.
    pub(crate) const fn binds(mut self, binds: &'static [Bind]) -> Self {
        self.binds = binds;
        self
    }

    /// Its answer is a file.
    pub(crate) const fn bringing_file(mut self) -> Self {
        self.brings_file = true;
        self
    }

    /// Its answer may be kept so many seconds.
    pub(crate) const fn keep(mut self, seconds: u64) -> Self {
        self.keep = Duration::from_secs(seconds);
        self
    }

    /// As a step.
    pub(crate) const fn step(self) -> Step {
        Step::Ask(self)
    }
}

impl Step {
    /// Returns true for a request whose answer has content that may be edited.
    pub(crate) fn shows_content(&self) -> bool {
        matches!(self, Self::Ask(ask) if ask.shows_content)
    }

    /// Returns true for a look that may refuse a change.
    pub(crate) fn is_check(&self) -> bool {
        matches!(self, Self::Check(_))
    }

    /// What a request does to the world: its method, or what it acts as.
    pub(crate) fn verb(&self) -> Option<Verb> {
        match self {
            Self::Ask(ask) => Some(ask.acts_as),
            Self::Open(_) | Self::File(_) | Self::Make(..) | Self::Check(_) => None,
        }
    }
}
