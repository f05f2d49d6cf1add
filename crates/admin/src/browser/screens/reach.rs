//! The callers that may enter a profile, but may use none of its tools. This module must not know how a profile is
//! shown.

use std::sync::Arc;

use engine::access::{Asker, Principal, Rules};
use engine::catalogue::View;
use pages::model::UnservedCaller;

use crate::insight::keys;
use crate::insight::moment::PointInTime;
use crate::insight::profiles;
use gateway::process::Shard;
use gateway::view::WholeView;

/// The maximum number of callers that are examined.
const MOST_CALLERS: usize = 200;

/// Returns the keys and users that may enter the profile, but may use none of its tools.
pub(super) async fn without_tools(
    shard: &Arc<Shard>,
    slug: &str,
    whole: Option<&WholeView>,
) -> Vec<UnservedCaller> {
    let (Some(whole), Some(rules)) = (whole, &shard.gateway.snapshot.rules) else { return Vec::new() };
    let (view, tools) = (&whole.view, profiles::tool_names(whole).collect::<Vec<_>>());
    let names = keys::key_names(shard).await;
    let config = shard.gateway.standing.config();
    let keys = if config.auth.keys { names.active(PointInTime::now().0) } else { Vec::new() };
    let users = config.auth.users.keys().map(|name| format!("user:{name}"));
    let users = users.filter_map(|id| names.principal(&id, 0));
    let all = keys.into_iter().chain(users).filter(|caller| caller.may_enter(slug)).take(MOST_CALLERS);
    let unserved = all.filter_map(|caller| unserved(&caller, (slug, view, rules), &tools));
    unserved.collect()
}

/// Returns the caller with the reason if the rules deny it every tool; otherwise `None`.
fn unserved(
    caller: &Principal,
    (slug, view, rules): (&str, &View, &Rules),
    tools: &[&str],
) -> Option<UnservedCaller> {
    let asker = Asker { principal: caller, address: None };
    let mut denying = Vec::new();
    for tool in tools.iter().filter_map(|name| view.tool(name)) {
        let explained = view.judge_call((slug, tool), None, |target| rules.explain(&asker, target));
        if explained.is_allowed {
            return None;
        }
        denying.push(explained.rule);
    }
    denying.sort_unstable();
    denying.dedup();
    let reason = match denying.as_slice() {
        [] => return None,
        [None] => "no rule with `allow` covers it".to_owned(),
        [Some(rule)] => format!("rule {} of access denies it", rule + 1),
        _ => "several rules deny it".to_owned(),
    };
    Some(UnservedCaller {
        name: caller.user.as_deref().unwrap_or(&caller.id).into(),
        caller: (&*caller.id).into(),
        tools: super::count(tools.len()),
        tool: tools.first().copied().unwrap_or_default().into(),
        reason: reason.into(),
    })
}
