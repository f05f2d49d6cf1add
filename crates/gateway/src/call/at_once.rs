//! The limit on concurrent calls of one tool in one profile. This module must not know how a call runs.

use std::collections::HashMap;
use std::sync::Arc;

use engine::access::{CallPlace, Calls};
use engine::catalogue::ToolEntry;
use engine::{Condition, Fault};
use parking_lot::Mutex;
use proto::json::quote;
use proto::rpc::code;

/// The running calls of each tool that has a limit, by profile and by the tool's identity.
#[derive(Default)]
pub(crate) struct RunningByTool(Mutex<HashMap<(usize, Arc<str>), Calls>>);

/// A call that counts toward the limit of its tool.
pub(super) struct CountedCall {
    calls: Calls,
    /// The permit; `None` while the call waits for its client.
    place: Option<CallPlace>,
}

impl RunningByTool {
    /// Counts a call of a tool; returns `None` if the tool has no limit in the profile.
    ///
    /// # Errors
    /// Returns the fault to answer with if too many calls are running.
    pub(super) fn count(
        &self,
        profile: usize,
        tool: &ToolEntry,
        server: &str,
    ) -> Result<Option<CountedCall>, Fault> {
        let Some(most) = tool.limits().and_then(|limits| limits.at_once) else { return Ok(None) };
        let calls = self.0.lock().entry((profile, tool.identity().clone())).or_default().clone();
        match calls.take(most) {
            Some(place) => Ok(Some(CountedCall { calls, place: Some(place) })),
            None => Err(refusal(tool, server, most)),
        }
    }

    /// Forgets tools without running calls.
    pub(crate) fn sweep(&self) {
        let mut all = self.0.lock();
        all.retain(|_, calls| !calls.is_idle());
        if all.is_empty() {
            all.shrink_to_fit();
        }
    }
}

impl CountedCall {
    /// Stops counting the call, because it waits for its client.
    pub(super) fn pause(&mut self) {
        self.place = None;
    }

    /// Counts the call again, even if this exceeds the limit, because the call has already begun.
    pub(super) fn resume(&mut self) {
        self.place = self.calls.take(usize::MAX);
    }
}

fn refusal(tool: &ToolEntry, server: &str, most: usize) -> Fault {
    let running = if most == 1 { "1 call".to_owned() } else { format!("{most} calls") };
    let message = format!(
        "this profile allows {running} of tool {:?} at once (`atOnce` in `tools.overrides`), and this limit is reached; call \
         again later",
        &*tool.name
    );
    let data = format!("{{\"server\":{},\"retry\":true,\"executed\":\"no\"}}", quote(server));
    let fault = Fault::client(code::REFUSED, message).about(Condition::RateLimited, "").with_status(429);
    Fault { retry: true, ..fault.with_data(data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_waits_for_its_client_does_not_count_and_comes_back_above_the_limit() {
        let calls = Calls::default();
        let mut first = CountedCall { place: calls.take(1), calls: calls.clone() };
        assert!(calls.take(1).is_none());
        first.pause();
        let second = calls.take(1);
        assert!(second.is_some());
        first.resume();
        drop(second);
        assert!(calls.take(1).is_none(), "the first one counts again");
        drop(first);
        assert!(calls.take(1).is_some());
    }
}
