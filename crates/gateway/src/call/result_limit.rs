//! Results that are longer than their server's `maxResult`: each is shortened, and its rest is kept for the caller. This module
//! must not know how a result is shortened.

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::ToolEntry;
use engine::result_cap::{CapRules, RestId, shorten};
use proto::bridge::shape::{Own, result};
use proto::era::{Era, newest_handshake};
use proto::json::{MAX_DEPTH, Members, Splice, quote};
use proto::mcp::Method;
use upstream::Upstream;

use super::CallContext;
use super::result_store::{KeptRest, ToolOrigin};
use crate::admission::Identity;
use crate::admission::identity::DataOwner;

/// The limit for the result of one call.
pub(super) struct ResultLimit {
    most: usize,
    has_output_schema: bool,
    profile: usize,
    /// The caller that may read the rest: the sender of the request, whose credentials may differ from those with which its
    /// session began.
    owner: DataOwner,
    tool: ToolOrigin,
}

impl ResultLimit {
    /// Returns the limit for a call of a tool; `None` if its server has none.
    pub(super) fn of(
        context: &CallContext,
        (upstream, tool): (&Upstream, &ToolEntry),
        profile: usize,
        owner: DataOwner,
    ) -> Option<Self> {
        let most = context.egress.snapshot().calls(&upstream.server.spec).max_result?;
        let tool_origin = ToolOrigin {
            upstream: tool.upstream,
            server: upstream.name().clone(),
            name: tool.name.clone(),
            identity: tool.identity().clone(),
        };
        Some(Self { most, has_output_schema: tool.has_output_schema, profile, owner, tool: tool_origin })
    }

    /// Returns true if a response of this length is surely within the limit.
    pub(super) fn admits(&self, response: u64) -> bool {
        u64::try_from(self.most).is_ok_and(|most| response <= most)
    }

    /// Returns a response that contains a result, which is shortened if it is too long.
    pub(super) fn apply(
        &self,
        context: &CallContext,
        identity: &Identity,
        era: &'static Era,
        response: Bytes,
    ) -> Bytes {
        if response.len() <= self.most {
            return response;
        }
        self.shortened(context, identity, era, &response).unwrap_or(response)
    }

    #[cold]
    fn shortened(
        &self,
        context: &CallContext,
        identity: &Identity,
        era: &'static Era,
        response: &Bytes,
    ) -> Option<Bytes> {
        let members = Members::of_document(response, MAX_DEPTH).ok()?;
        let place = members.get(response, "result")?;
        let (snapshot, long) = (context.egress.snapshot(), place.share(response));
        let id = fresh_id();
        let (uri, server_info) =
            (id.unwrap_or(RestId(0)).to_string(), &snapshot.profiles[self.profile].server_info);
        let rules = CapRules {
            most: self.most,
            has_output_schema: self.has_output_schema,
            era,
            server_info,
            server: &self.tool.server,
            tool: &self.tool.name,
            uri: &uri,
            kept_for: snapshot.limits.rest_lifetime,
        };
        let short = match shorten(&long, &rules) {
            Ok(None) => return None,
            Ok(Some(short)) => {
                let kept = id.zip(short.rest.clone()).is_some_and(|(id, contents)| {
                    let (profile, regime) = (self.profile, snapshot.regime);
                    let (owner, tool) = (self.owner, self.tool.clone());
                    let rest = KeptRest { owner, profile, regime, tool, contents };
                    context.state.results.keep_rest(id, rest, identity.holder(), rules.kept_for)
                });
                short.finish(&rules, kept)
            }
            Err(why) => {
                let why = why.describe(&self.tool.name, &self.tool.server, (long.len(), self.most));
                failed(era, server_info, &why).ok()?
            }
        };
        tracing::debug!(server = %self.tool.server, tool = %self.tool.name, bytes = long.len(), "a result was shortened");
        let mut splice = Splice::new(response);
        splice.replace(place, &short);
        Some(splice.finish())
    }
}

/// Returns the result of a failed tool call, with the reason.
fn failed(era: &'static Era, server_info: &str, why: &str) -> Result<Bytes, Fault> {
    let text = format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", quote(why));
    let (method, own) = (Method::ToolsCall.name(), Own { server_info });
    result(method, &text.into(), newest_handshake(), era, &own).map_err(Fault::gateway)
}

/// Returns a name that nobody can guess; `None` if the operating system's random number generator fails.
fn fresh_id() -> Option<RestId> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).ok()?;
    Some(RestId(u128::from_be_bytes(bits)))
}
