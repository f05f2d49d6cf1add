//! What a view is made of, and what it is made for. It must not know how a view is built.

use std::sync::Arc;

use bytes::Bytes;
use proto::bridge::tasks::TaskSupport;
use proto::era::{Era, Tasks};

use super::Offer;
use super::mirrored::MirroredParam;
use super::validator::LazyValidator;
use crate::access::{Annotations, Guard};
use crate::config::Profile;

/// An upstream's place in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UpstreamId(pub u32);

/// The reason why an upstream has nothing to offer to this kind of client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    /// In words, for the one who misses it.
    pub reason: String,
    /// True if it may be there when it is tried again.
    pub retry: bool,
}

/// One upstream's part in a view.
#[derive(Debug, Clone)]
pub struct UpstreamOffer {
    /// Its place in the configuration.
    pub id: UpstreamId,
    /// Its name there.
    pub name: Arc<str>,
    /// True if requests to it mirror arguments in headers.
    pub over_http: bool,
    /// What it offers, or why nothing.
    pub offer: Result<Arc<Offer>, Absence>,
}

/// What a view is made for.
#[derive(Debug, Clone, Copy)]
pub struct ViewSpec<'a> {
    /// The clients' era.
    pub era: &'static Era,
    /// The profile.
    pub profile: &'a Profile,
    /// The gateway's name and version, a JSON object.
    pub server_info: &'a str,
    /// The longest input schema that is compiled, in bytes.
    pub schema_bytes: usize,
    /// What the clients may use, where there are rules.
    pub guard: Option<&'a Guard>,
    /// True if its clients are several callers, of whom each has things of their own.
    pub separate: bool,
}

/// A tool as it is called.
#[derive(Debug)]
pub struct ToolEntry {
    /// Whose it is.
    pub upstream: UpstreamId,
    /// Its public name.
    pub name: Arc<str>,
    /// Its name there, a JSON string; `None` when it is the public one.
    pub real_name: Option<Bytes>,
    /// Arguments that requests mirror in headers, where the era of client or server has such.
    pub mirrored: Vec<MirroredParam>,
    /// True if a call can run as a task where client and server do not speak of tasks in the same way.
    pub tasks: TaskSupport,
    /// What its server says of it.
    pub annotations: Annotations,
    pub(super) validator: LazyValidator,
}

impl ToolEntry {
    /// Checks arguments, JSON text, against the input schema.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, arguments: Option<&[u8]>) -> Result<(), super::Invalid> {
        self.validator.check(arguments)
    }

    /// The reason why no arguments are held against the input schema, where that was found out at a check: only the
    /// first time that somebody asks.
    pub fn unchecked(&self) -> Option<&'static str> {
        self.validator.unchecked()
    }
}

/// A prompt as it is asked for.
#[derive(Debug)]
pub struct PromptEntry {
    /// Whose it is.
    pub upstream: UpstreamId,
    /// Its name there, a JSON string; `None` when it is the public one.
    pub real_name: Option<Bytes>,
}

pub(super) fn present(upstreams: &[UpstreamOffer]) -> impl Iterator<Item = (&UpstreamOffer, &Offer)> + Clone {
    upstreams.iter().filter_map(|u| Some((u, u.offer.as_deref().ok()?)))
}

/// Returns true if ids of tasks are exchanged for clients of an era that see these servers. They are not where a session of the
/// client's own stands behind the only server, which speaks of tasks in the same way: then nothing has to be told apart. Where
/// the clients are several callers (`separate`) they always are, since no server learns whose a task is.
pub fn renames_among(era: &Era, upstreams: &[UpstreamOffer], separate: bool) -> bool {
    let tasks = era.shapes.tasks;
    let same = |u: &UpstreamOffer| u.offer.as_ref().is_ok_and(|offer| offer.hello.era.shapes.tasks == tasks);
    match (tasks, upstreams) {
        (Tasks::None, _) => false,
        (Tasks::Experiment, [only]) => separate || !same(only),
        (Tasks::Experiment | Tasks::Extension, _) => true,
    }
}
