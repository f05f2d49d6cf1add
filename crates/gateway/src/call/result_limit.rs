//! Results that are longer than their server's `maxResult`: each is shortened, and the remainder is kept for the caller. This
//! module must not know how a result is shortened.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::result_cap::{CapRules, RestId, shorten};
use proto::bridge::shape::{GatewayIdentity, result};
use proto::bridge::tasks::TaskMethod;
use proto::era::{Era, newest_handshake};
use proto::json::{MAX_DEPTH, Members, Span, Splice, quote};
use proto::mcp::Method;
use upstream::Upstream;

use super::CallContext;
use super::limited_tasks::LimitedTool;
use super::result_store::KeptRest;
use crate::admission::Identity;
use crate::admission::identity::DataOwner;

/// The member of a response that contains the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultPlace {
    /// The response's own result.
    Whole,
    /// The result inside a task, if the task has ended.
    InTask,
}

/// The limit for the result of one call.
pub(super) struct ResultLimit {
    most: usize,
    /// The caller that may read the remainder: the sender of the request. Its credentials may differ from those
    /// that opened its session.
    owner: DataOwner,
    server: Arc<str>,
    tool: LimitedTool,
    place: ResultPlace,
}

impl ResultLimit {
    /// Returns the limit for a call of a tool; `None` if its server has none.
    pub(super) fn of(
        context: &CallContext,
        upstream: &Upstream,
        tool: LimitedTool,
        owner: DataOwner,
    ) -> Option<Self> {
        let most = context.egress.snapshot().calls(&upstream.server.spec).max_result?;
        Some(Self { most, owner, server: upstream.name().clone(), tool, place: ResultPlace::Whole })
    }

    /// Returns the limit for a task's outcome in the answer to a request about the task; `real` is the task's id at
    /// its server.
    pub(super) fn of_task(
        context: &CallContext,
        (upstream, real): (&Upstream, &str),
        (method, profile): (TaskMethod, usize),
        owner: DataOwner,
    ) -> Option<Self> {
        let place = match method {
            TaskMethod::Result => ResultPlace::Whole,
            TaskMethod::Get => ResultPlace::InTask,
            TaskMethod::Update | TaskMethod::Cancel | TaskMethod::List => return None,
        };
        let tool = context.state.limited_tasks.tool(upstream.server.spec.id, real);
        let tool = tool.unwrap_or_else(|| LimitedTool::forgotten(profile));
        Some(Self { place, ..Self::of(context, upstream, tool, owner)? })
    }

    /// Returns the tool.
    pub(super) fn tool(&self) -> &LimitedTool {
        &self.tool
    }

    /// Returns true if a response of this length is certainly within the limit.
    pub(super) fn admits(&self, response: u64) -> bool {
        u64::try_from(self.most).is_ok_and(|most| response <= most)
    }

    /// Returns the response, with its result shortened if the result is too long.
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
        self.shortened_inside(context, identity, era, &response).unwrap_or(response)
    }

    #[cold]
    fn shortened_inside(
        &self,
        context: &CallContext,
        identity: &Identity,
        era: &'static Era,
        response: &Bytes,
    ) -> Option<Bytes> {
        let members = Members::of_document(response, MAX_DEPTH).ok()?;
        let mut place = members.get(response, "result")?;
        if self.place == ResultPlace::InTask {
            place = Members::of_value(response, place)?.get(response, "result")?;
        }
        let short = self.shortened(context, identity, era, &place.share(response))?;
        let mut splice = Splice::new(response);
        splice.replace(place, &short);
        Some(splice.finish())
    }

    /// Returns a shorter form of a result, a JSON object; `None` if the result is not too long.
    pub(super) fn shortened(
        &self,
        context: &CallContext,
        identity: &Identity,
        era: &'static Era,
        long: &Bytes,
    ) -> Option<Bytes> {
        let snapshot = context.egress.snapshot();
        let profile = self.tool.profile;
        let id = fresh_id().filter(|_| self.tool.origin.is_some());
        let (uri, server_info) =
            (id.unwrap_or(RestId(0)).to_string(), &snapshot.profiles.get(profile)?.server_info);
        let is_structured = || {
            Members::of_value(long, Span::new(0, long.len()))
                .is_some_and(|result| result.get(long, "structuredContent").is_some())
        };
        let rules = CapRules {
            most: self.most,
            has_output_schema: match self.tool.origin {
                Some(_) => self.tool.has_output_schema,
                None => is_structured(),
            },
            era,
            server_info,
            server: &self.server,
            tool: self.tool.name(),
            uri: &uri,
            kept_for: snapshot.limits.rest_lifetime,
        };
        let short = match shorten(long, &rules) {
            Ok(None) => return None,
            Ok(Some(short)) => {
                let kept = id.zip(short.rest.clone()).is_some_and(|(id, contents)| {
                    let (regime, owner) = (snapshot.regime, self.owner);
                    let Some(tool) = self.tool.origin.clone() else { return false };
                    let rest = KeptRest { owner, profile, regime, tool, contents };
                    context.state.results.keep_rest(id, rest, identity.holder(), rules.kept_for)
                });
                short.finish(&rules, kept)
            }
            Err(why) => {
                let why = why.describe(rules.tool, rules.server, (long.len(), self.most));
                failed(era, server_info, &why).ok()?
            }
        };
        tracing::debug!(server = %self.server, tool = %rules.tool, bytes = long.len(), "a result was shortened");
        Some(short)
    }
}

/// Returns the result of a failed tool call, with the reason.
fn failed(era: &'static Era, server_info: &str, why: &str) -> Result<Bytes, Fault> {
    let text = format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", quote(why));
    let (method, own) = (Method::ToolsCall.name(), GatewayIdentity { server_info });
    result(method, &text.into(), newest_handshake(), era, &own).map_err(Fault::gateway)
}

/// Returns a name that nobody can guess; `None` if the operating system's random number generator fails.
fn fresh_id() -> Option<RestId> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).ok()?;
    Some(RestId(u128::from_be_bytes(bits)))
}
