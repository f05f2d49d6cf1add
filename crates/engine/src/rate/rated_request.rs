//! A request, as rate limits see it, and their verdict for the client. This module must not know how requests are counted.

use std::net::IpAddr;
use std::time::Duration;

use http::HeaderMap;

/// The connection of a request, and the request's headers.
#[derive(Debug, Clone, Copy)]
pub struct Connection<'a> {
    /// The address of the peer.
    pub peer: IpAddr,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
}

/// A request, as rate limits see it.
#[derive(Debug, Clone, Copy)]
pub struct RatedRequest<'a> {
    /// The id of the principal.
    pub principal: &'a str,
    /// The client's address; `None` for standard input.
    pub address: Option<IpAddr>,
    /// The connection, for limits with their own trusted proxies.
    pub connection: Option<Connection<'a>>,
    /// The name of the profile that the request is for.
    pub profile: &'a str,
    /// True if the request is a `tools/call`.
    pub is_call: bool,
    /// The name by which the client calls the tool; not needed if [`Limiter::asks_for_tools`](super::Limiter::asks_for_tools) is false.
    pub tool: Option<&'a str>,
    /// The tool's identity, `server__tool`, if the caller can see the tool: a tool can have several names. Names that belong to
    /// no tool share one counter, because anybody can invent any number of such names. The identity is not needed if
    /// [`Limiter::asks_for_tools`](super::Limiter::asks_for_tools) is false.
    pub identity: Option<&'a str>,
}

/// A caller that has not authenticated yet.
#[derive(Debug, Clone, Copy)]
pub struct UnknownCaller<'a> {
    /// The principal id of an unknown caller.
    pub nobody: &'a str,
    /// The client's address, as in [`RatedRequest`].
    pub address: Option<IpAddr>,
    /// The connection, as in [`RatedRequest`].
    pub connection: Option<Connection<'a>>,
    /// The profile that the caller names.
    pub profile: &'a str,
}

impl<'a> UnknownCaller<'a> {
    /// The caller as a request for this profile.
    pub(super) fn at(&self, profile: &'a str) -> RatedRequest<'a> {
        let &Self { nobody, address, connection, .. } = self;
        RatedRequest {
            principal: nobody,
            address,
            connection,
            profile,
            is_call: false,
            tool: None,
            identity: None,
        }
    }

    /// The request as which the caller is counted. Its profile is left out: a separate count for each existing profile would reveal
    /// which ones exist.
    pub(super) fn counted(&self) -> RatedRequest<'a> {
        self.at("")
    }
}

/// The verdict of a limit, for a status and headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// True if the request is allowed.
    pub allowed: bool,
    /// The number of requests that may arrive at once after an idle period.
    pub limit: u32,
    /// The number of requests that are still allowed now.
    pub remaining: u32,
    /// The time without requests after which the full number is allowed.
    pub reset: Duration,
    /// The time until a retry makes sense. The time is zero if the request was allowed, and also if a retry never helps
    /// because more requests arrived together than the limit ever allows at once.
    pub retry_after: Duration,
    /// The index of the limit in the configuration, from 0.
    pub place: usize,
    /// True if the request was refused because the count is unknown: it is in a store that cannot be used.
    pub is_unknown: bool,
}
