//! The facts that many traced requests have in common: everything except times, ids and outcomes. Each thread keeps the
//! encoded spans of the last operations, so that the calls of a tool encode these facts only once. This module must not
//! know how a span is encoded.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use super::span_template::{SpanKind, SpanTemplate};

/// The number of operations that a thread keeps.
const OPERATIONS: usize = 64;

/// One side of a request, as seen from the gateway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedPeer {
    /// The protocol version.
    pub(crate) version: &'static str,
    /// True if messages pass through a pipe.
    pub(crate) is_pipe: bool,
}

/// The facts about an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperationFacts<'a> {
    /// The method.
    pub(crate) method: &'a Cow<'static, str>,
    /// The name of the tool or prompt, as the client sees it.
    pub(crate) target: Option<&'a Arc<str>>,
    /// True if the target is a tool.
    pub(crate) is_tool: bool,
    /// The name of the tool at its server, if it differs.
    pub(crate) own_target: Option<&'a [u8]>,
    /// The profile.
    pub(crate) profile: &'a Arc<str>,
    /// The server to which the request goes.
    pub(crate) upstream: Option<&'a Arc<str>>,
    /// The client.
    pub(crate) client: Option<TracedPeer>,
    /// The server, as it is spoken to.
    pub(crate) server: Option<TracedPeer>,
    /// The host and the port of a server that is reached over HTTP.
    pub(crate) address: Option<&'a (Arc<str>, u16)>,
}

/// An operation, with its spans as far as they depend on the operation alone.
#[derive(Debug)]
pub(crate) struct TracedOperation {
    method: Cow<'static, str>,
    target: Option<Arc<str>>,
    is_tool: bool,
    own_target: Option<Box<[u8]>>,
    profile: Arc<str>,
    upstream: Option<Arc<str>>,
    client: Option<TracedPeer>,
    server: Option<TracedPeer>,
    address: Option<(Arc<str>, u16)>,
    /// The span for the client's request.
    pub(super) served: SpanTemplate,
    /// The span for the gateway's request to the server.
    pub(super) sent: SpanTemplate,
}

thread_local! {
    static KNOWN: RefCell<KnownOperations> = const { RefCell::new(KnownOperations { known: Vec::new(), oldest: 0 }) };
}

/// The last operations of a thread, with the digests of their facts.
struct KnownOperations {
    known: Vec<(u64, Arc<TracedOperation>)>,
    /// The index of the operation that is replaced next.
    oldest: usize,
}

impl KnownOperations {
    fn get(&mut self, facts: &OperationFacts<'_>) -> Arc<TracedOperation> {
        let digest = facts.digest();
        let is = |(known, operation): &&(u64, Arc<TracedOperation>)| {
            *known == digest && operation.facts() == *facts
        };
        if let Some((_, operation)) = self.known.iter().find(is) {
            return operation.clone();
        }
        let operation = Arc::new(TracedOperation::new(facts));
        let entry = (digest, operation.clone());
        if self.known.len() < OPERATIONS {
            self.known.push(entry);
        } else {
            self.known[self.oldest] = entry;
            self.oldest = (self.oldest + 1) % OPERATIONS;
        }
        operation
    }
}

impl TracedOperation {
    /// Returns the operation with these facts.
    pub(crate) fn of(facts: &OperationFacts<'_>) -> Arc<Self> {
        let known = KNOWN.try_with(|known| known.borrow_mut().get(facts));
        known.unwrap_or_else(|_| Arc::new(Self::new(facts)))
    }

    /// Returns true if `upstream` is the server of this operation.
    pub(crate) fn is_at(&self, upstream: Option<&Arc<str>>) -> bool {
        same(self.upstream.as_ref(), upstream)
    }

    /// Returns the same operation at the server `upstream`.
    pub(crate) fn at(&self, upstream: Option<&Arc<str>>) -> Arc<Self> {
        Self::of(&OperationFacts { upstream, ..self.facts() })
    }

    fn new(facts: &OperationFacts<'_>) -> Self {
        Self {
            method: facts.method.clone(),
            target: facts.target.cloned(),
            is_tool: facts.is_tool,
            own_target: facts.own_target.map(Into::into),
            profile: facts.profile.clone(),
            upstream: facts.upstream.cloned(),
            client: facts.client,
            server: facts.server,
            address: facts.address.cloned(),
            served: SpanTemplate::new(SpanKind::Server, facts),
            sent: SpanTemplate::new(SpanKind::Client, facts),
        }
    }

    fn facts(&self) -> OperationFacts<'_> {
        OperationFacts {
            method: &self.method,
            target: self.target.as_ref(),
            is_tool: self.is_tool,
            own_target: self.own_target.as_deref(),
            profile: &self.profile,
            upstream: self.upstream.as_ref(),
            client: self.client,
            server: self.server,
            address: self.address.as_ref(),
        }
    }
}

impl OperationFacts<'_> {
    /// Returns a number that is nearly always different for other facts. It need not resist attacks, because facts with
    /// the same number are compared.
    fn digest(&self) -> u64 {
        let mut digest = 0_u64;
        let mut add =
            |word: u64| digest = (digest.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (words, rest) = self.target.map_or(&[][..], |target| target.as_bytes()).as_chunks::<8>();
        for word in words {
            add(u64::from_le_bytes(*word));
        }
        add(rest.iter().fold(rest.len() as u64, |all, byte| all << 8 | u64::from(*byte)));
        let version = |peer: Option<TracedPeer>| peer.map_or(0, |peer| peer.version.as_ptr().addr() as u64);
        add(version(self.client).rotate_left(32) ^ version(self.server));
        add(
            (self.method.len() << 32 | self.profile.len() << 16 | self.upstream.map_or(0, |name| name.len()))
                as u64,
        );
        digest ^ digest >> 32
    }
}

impl PartialEq for OperationFacts<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same_method = std::ptr::eq(&raw const **self.method, &raw const **other.method);
        (same_method || self.method == other.method)
            && self.is_tool == other.is_tool
            && same(self.target, other.target)
            && same(Some(self.profile), Some(other.profile))
            && same(self.upstream, other.upstream)
            && same(self.address.map(|(host, _)| host), other.address.map(|(host, _)| host))
            && self.address.map(|(_, port)| port) == other.address.map(|(_, port)| port)
            && self.client == other.client
            && self.server == other.server
            && self.own_target == other.own_target
    }
}

impl PartialEq for TracedPeer {
    fn eq(&self, other: &Self) -> bool {
        self.is_pipe == other.is_pipe
            && (std::ptr::eq(self.version, other.version) || self.version == other.version)
    }
}

/// Compares texts by their addresses first, because the texts of most requests are those of the same catalogue.
#[inline]
fn same(one: Option<&Arc<str>>, other: Option<&Arc<str>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
        (None, None) => true,
        _ => false,
    }
}
