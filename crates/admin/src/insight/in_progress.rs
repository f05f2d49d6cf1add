//! The calls that run or wait now. This module must not know HTTP.

use gateway::call::in_progress::{CallInProgress, CallStage};
use gateway::key_names::KeyNames;
use gateway::process::Shard;
use schemars::JsonSchema;
use serde::Serialize;

use super::moment::PointInTime;

/// The maximum number of calls in an answer: the oldest ones.
const MOST: usize = 500;

/// The state of a call whose client has to answer a question.
pub(crate) const ASKING: &str = "asking";

/// The calls in progress.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallsNow {
    /// The number of calls in progress, which may be more than are listed.
    pub(crate) total: usize,
    /// The oldest calls, at most 500.
    pub(crate) calls: Vec<CallNow>,
}

/// A call in progress.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallNow {
    /// `running`, `waiting` (for its turn at its server), or `asking` (its client has to answer a question).
    pub(crate) state: &'static str,
    pub(crate) since: PointInTime,
    pub(crate) method: String,
    /// The tool by the name that clients use; `null` for other requests.
    pub(crate) tool: Option<String>,
    pub(crate) server: String,
    pub(crate) principal: String,
    /// The name of the principal's API key; `null` for other principals.
    pub(crate) principal_name: Option<String>,
    /// The name and version of the client, as it states them.
    pub(crate) client: Option<String>,
}

/// Returns the calls in progress.
pub(crate) fn calls(shard: &Shard, names: &KeyNames) -> CallsNow {
    let all = shard.call.state.in_progress.listed();
    let total = all.len();
    CallsNow { total, calls: all.into_iter().take(MOST).map(|one| call(one, names)).collect() }
}

fn call(one: CallInProgress, names: &KeyNames) -> CallNow {
    CallNow {
        state: match one.stage {
            CallStage::Waits => "waiting",
            CallStage::Runs => "running",
            CallStage::Asks => ASKING,
        },
        since: PointInTime::at(one.since),
        method: one.method.into_owned(),
        tool: one.tool.map(|tool| tool.to_string()),
        server: one.server.to_string(),
        principal_name: names.name_of(&one.principal).map(str::to_owned),
        principal: one.principal.to_string(),
        client: one.client.map(|client| client.to_string()),
    }
}
