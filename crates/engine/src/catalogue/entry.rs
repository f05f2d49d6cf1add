//! The parts of a view, and the clients that it is built for. This module must not know how a view is built.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use config::Profile;
use proto::bridge::tasks::TaskSupport;
use proto::era::{Era, Tasks};
use proto::json::{quote, unquote};

use super::UpstreamCatalogue;
use super::fixed_arguments::FixedArguments;
use super::mirrored::MirroredParam;
use super::names::{NameBook, NameLimit};
use super::tool_limits::ToolLimits;
use super::validator::LazyValidator;
use crate::access::{Annotations, Guard};
use crate::meters::ToolMeter;

/// The index of an upstream in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UpstreamId(pub u32);

/// The reason why an upstream offers nothing to these clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamAbsence {
    /// A description of the reason, for a user who finds the upstream missing.
    pub reason: String,
    /// True if a later attempt may succeed.
    pub retry: bool,
}

/// One upstream's part in a view.
#[derive(Debug, Clone)]
pub struct ViewSource {
    /// The upstream's index in the configuration.
    pub id: UpstreamId,
    /// The upstream's name in the configuration.
    pub name: Arc<str>,
    /// True if requests to the upstream mirror arguments in headers.
    pub over_http: bool,
    /// The upstream's catalogue, or the reason for its absence.
    pub catalogue: Result<Arc<UpstreamCatalogue>, UpstreamAbsence>,
}

/// The clients and the profile that a view is built for.
#[derive(Debug, Clone, Copy)]
pub struct ViewSpec<'a> {
    /// The clients' era.
    pub era: &'static Era,
    /// The profile.
    pub profile: &'a Profile,
    /// The maximum length of the names of tools and prompts.
    pub limit: NameLimit,
    /// The names that the profile's items already have; if `None`, names depend only on the present servers.
    pub names: Option<&'a Mutex<NameBook>>,
    /// The gateway's name and version, a JSON object.
    pub server_info: &'a str,
    /// The longest input schema that is compiled, in bytes.
    pub schema_bytes: usize,
    /// The access rules that apply to the clients, if there are any.
    pub guard: Option<&'a Guard>,
    /// True if several callers may share the view, each with tasks of its own.
    pub separate: bool,
    /// True if the content depends on the caller, so a cache must not serve it to other callers.
    pub personal: bool,
}

/// A profile's changes to a tool, apart from those that clients see in lists.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToolChanges {
    /// The tool's identity, if it differs from the public name.
    pub(super) identity: Option<Arc<str>>,
    /// The arguments that clients cannot set.
    pub(super) fixed: Option<FixedArguments>,
    /// The limits of calls in the profile.
    pub(super) limits: Option<ToolLimits>,
}

impl ToolChanges {
    /// The changes; `None` if there are none.
    pub(super) fn of(
        identity: Option<Arc<str>>,
        fixed: Option<FixedArguments>,
        limits: Option<ToolLimits>,
    ) -> Option<Box<Self>> {
        let are_there = identity.is_some() || fixed.is_some() || limits.is_some();
        are_there.then(|| Box::new(Self { identity, fixed, limits }))
    }
}

/// A tool that can be called.
#[derive(Debug)]
pub struct ToolEntry {
    /// The tool's upstream.
    pub upstream: UpstreamId,
    /// The tool's public name.
    pub name: Arc<str>,
    /// The tool's name at the upstream, a JSON string that is a slice of the catalogue's text; `None` if it equals the
    /// public name.
    pub real_name: Option<Bytes>,
    /// Arguments that requests mirror in headers, if the client's or the server's era has such headers.
    pub mirrored: Box<[MirroredParam]>,
    /// Support for running a call as a task, if client and server use different forms of tasks.
    pub tasks: TaskSupport,
    /// The server's annotations.
    pub annotations: Annotations,
    /// True if the server declares the structure of the tool's results.
    pub has_output_schema: bool,
    /// The reference to the tool's counters.
    pub meter: ToolMeter,
    /// The changes that the profile makes to the tool; most tools are unchanged.
    pub(super) changes: Option<Box<ToolChanges>>,
    pub(super) validator: LazyValidator,
}

impl ToolEntry {
    /// Returns true if another entry describes the same tool in the same way.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.upstream, &self.name, &self.real_name) == (other.upstream, &other.name, &other.real_name)
            && self.mirrored == other.mirrored
            && self.tasks == other.tasks
            && self.annotations == other.annotations
            && self.has_output_schema == other.has_output_schema
            && self.changes == other.changes
            && self.validator.is_like(&other.validator)
    }

    /// Checks arguments, JSON text, against the input schema. If the profile adds a secret to each call, no message quotes a
    /// value, because the caller must not learn the secret.
    ///
    /// # Errors
    /// Returns the arguments that do not match.
    pub fn check(&self, arguments: Option<&[u8]>) -> Result<(), super::Invalid> {
        let hides = self.fixed().is_some_and(FixedArguments::has_secrets);
        self.validator.check(arguments, !hides)
    }

    /// The name to send to the upstream instead of `called`, the name that a client used: a JSON string, or `None` if both are
    /// equal. A client may use a name other than the listed one.
    pub fn renaming(&self, called: &str) -> Option<Bytes> {
        renaming((&self.name, self.real_name.as_ref()), called)
    }

    /// The tool's identity, by which rules and records refer to the tool: `server__name`, with the server's own name for the
    /// tool.
    pub fn identity(&self) -> &Arc<str> {
        let other = self.changes.as_ref().and_then(|changes| changes.identity.as_ref());
        other.unwrap_or(&self.name)
    }

    /// The arguments that clients cannot set.
    pub fn fixed(&self) -> Option<&FixedArguments> {
        self.changes.as_ref()?.fixed.as_ref()
    }

    /// The limits of calls in the profile, if it sets any.
    pub fn limits(&self) -> Option<&ToolLimits> {
        self.changes.as_ref()?.limits.as_ref()
    }

    /// The tool's name at the upstream.
    pub fn own_name(&self) -> Cow<'_, str> {
        let written =
            self.real_name.as_deref().and_then(|name| name.strip_prefix(b"\"")?.strip_suffix(b"\""));
        written.and_then(unquote).unwrap_or(Cow::Borrowed(&*self.name))
    }

    /// The reason why the gateway cannot check arguments against the input schema; `None` if it can, or if no
    /// arguments have been checked yet. The reason is returned only once.
    pub fn unchecked(&self) -> Option<&'static str> {
        self.validator.unchecked()
    }
}

/// A prompt that can be requested.
#[derive(Debug)]
pub struct PromptEntry {
    /// The prompt's upstream.
    pub upstream: UpstreamId,
    /// The prompt's public name.
    pub name: Arc<str>,
    /// The prompt's identity: `server__name`, with the server's own name for the prompt.
    pub identity: Arc<str>,
    /// The prompt's name at the upstream, a JSON string; `None` if it equals the public name.
    pub real_name: Option<Bytes>,
}

impl PromptEntry {
    /// The name to send to the upstream instead of `requested`, the name that a client used: a JSON string, or `None` if both
    /// are equal.
    pub fn renaming(&self, requested: &str) -> Option<Bytes> {
        renaming((&self.name, self.real_name.as_ref()), requested)
    }
}

fn renaming((public, real): (&str, Option<&Bytes>), called: &str) -> Option<Bytes> {
    match real {
        Some(real) => Some(real.clone()),
        None if called == public => None,
        None => Some(quote(public).into()),
    }
}

pub(super) fn present(
    upstreams: &[ViewSource],
) -> impl Iterator<Item = (&ViewSource, &UpstreamCatalogue)> + Clone {
    upstreams.iter().filter_map(|u| Some((u, u.catalogue.as_deref().ok()?)))
}

/// Returns true if task ids are replaced for clients of `era` that see these servers. The ids are kept only if the client has
/// its own session with the only server, and both use the same form of tasks. If the clients are several callers (`separate`),
/// ids are always replaced, because no server learns which caller owns a task.
pub fn renames_among(era: &Era, upstreams: &[ViewSource], separate: bool) -> bool {
    let tasks = era.shapes.tasks;
    let same = |u: &ViewSource| {
        u.catalogue.as_ref().is_ok_and(|catalogue| catalogue.hello.era.shapes.tasks == tasks)
    };
    match (tasks, upstreams) {
        (Tasks::None, _) => false,
        (Tasks::Experiment, [only]) => separate || !same(only),
        (Tasks::Experiment | Tasks::Extension, _) => true,
    }
}
