//! The callers that may use the tools of a profile, and those that may enter a profile, but may use none of its tools. This module
//! must not know how a profile or a tool is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::access::{Asker, Principal, Rules, Scheme};
use engine::catalogue::{ToolEntry, View};
use pages::model::{ToolAccessRow, UnservedCaller};

use crate::insight::keys;
use crate::insight::moment::PointInTime;
use crate::insight::profiles;
use gateway::process::Shard;
use gateway::view::WholeView;

/// The maximum number of callers that are examined.
const MOST_CALLERS: usize = 200;

/// The maximum number of callers that are named beside a rule.
const NAMED_CALLERS: usize = 20;

/// Returns the keys and users that may enter the profile, but may use none of its tools.
pub(super) async fn without_tools(
    shard: &Arc<Shard>,
    slug: &str,
    whole: Option<&WholeView>,
) -> Vec<UnservedCaller> {
    let (Some(whole), Some(rules)) = (whole, &shard.gateway.snapshot.rules) else { return Vec::new() };
    let (view, tools) = (&whole.view, profiles::tool_names(whole).collect::<Vec<_>>());
    let all = callers(shard, slug).await;
    let unserved = all.iter().filter_map(|caller| unserved(caller, (slug, view, rules), &tools));
    unserved.collect()
}

/// Returns the active keys and the configured users that may enter a profile.
async fn callers(shard: &Arc<Shard>, slug: &str) -> Vec<Principal> {
    let names = keys::key_names(shard).await;
    let config = shard.gateway.standing.config();
    let keys = if config.auth.keys { names.active(PointInTime::now().0) } else { Vec::new() };
    let users = config.auth.users.keys().map(|name| format!("user:{name}"));
    let users = users.filter_map(|id| names.principal(&id, 0));
    keys.into_iter().chain(users).filter(|caller| caller.may_enter(slug)).take(MOST_CALLERS).collect()
}

/// Returns the callers that may use a tool of a profile, and those that may not, by the rule that decides.
pub(super) async fn users_of_tool(
    shard: &Arc<Shard>,
    (slug, view): (&str, &View),
    tool: &ToolEntry,
) -> Vec<ToolAccessRow> {
    let row = |allowed, rule: Option<usize>, reason: &str| ToolAccessRow {
        profile: slug.into(),
        client_name: (&*tool.name).into(),
        allowed,
        rule: rule.map(|rule| super::count(rule) + 1),
        reason: reason.into(),
        ..ToolAccessRow::default()
    };
    let Some(rules) = &shard.gateway.snapshot.rules else {
        return vec![row(true, None, "there are no access rules")];
    };
    let mut callers = callers(shard, slug).await;
    if !shard.door.asks() {
        callers.push(Principal::new("anyone", Scheme::Anyone));
    }
    let mut rows: BTreeMap<(bool, Option<usize>), ToolAccessRow> = BTreeMap::new();
    for caller in callers {
        let asker = Asker { principal: &caller, address: None };
        let explained = view.judge_call((slug, tool), None, |target| rules.explain(&asker, target));
        let (allowed, rule) = (explained.is_allowed, explained.rule);
        let reason = match (allowed, rule) {
            (_, Some(_)) => "",
            (true, None) => "no rule denies it, and no rule with `allow` restricts access here",
            (false, None) => "no rule with `allow` allows it for these callers",
        };
        let row = rows.entry((!allowed, rule)).or_insert_with(|| row(allowed, rule, reason));
        if row.callers.len() < NAMED_CALLERS {
            row.callers.push(asked_as(&caller).into());
        } else {
            row.more += 1;
        }
    }
    rows.into_values().collect()
}

/// Returns the text for a caller that the access check understands.
fn asked_as(caller: &Principal) -> String {
    match (caller.scheme, caller.user.as_deref()) {
        (Scheme::Key, Some(name)) => format!("key:{name}"),
        _ => caller.id.to_string(),
    }
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
