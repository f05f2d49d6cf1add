//! The page of the access check: whether a caller may use a tool, and by which rule.

use std::net::IpAddr;
use std::sync::Arc;

use pages::model::{
    AccessForm, AccessPage, AccessReach, AccessRuleRow, AccessStep, AccessVerdict, ForeignText, RuleEffect,
};
use pages::page;
use serde_json::Value;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::{server_rows, text, texts};
use crate::insight::access::{self, AccessAnswer, AccessQuestion, AskedCaller};
use crate::insight::{keys, profiles};
use gateway::key_names::KeyNames;
use gateway::process::Shard;

/// The maximum number of tools to choose from.
const MOST_TOOLS: usize = 500;

/// Shows the form, and the answer if the form was submitted.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let (shard, query) = (&request.shard, &request.query);
    let config = request.standing();
    let profiles = texts(config.config().profiles.keys());
    let first = || profiles.first().cloned().unwrap_or_default();
    let profile = Some(query.shown("profile")).filter(|profile| !profile.is_empty()).unwrap_or_else(first);
    let form = AccessForm {
        caller: query.shown("caller"),
        address: query.shown("address"),
        profile,
        tool: query.shown("tool"),
        arguments: query.shown("arguments"),
    };
    let (mut verdict, mut reach, mut fault) = (None, None, None);
    if !form.tool.is_empty() {
        match asked(shard, &form).await {
            Ok(answer) => verdict = Some(answer),
            Err(why) => fault = Some(why),
        }
    } else if !form.caller.is_empty() {
        match reached(shard, &form).await {
            Ok(answer) => reach = Some(answer),
            Err(why) => fault = Some(why),
        }
    }
    let data = AccessPage {
        callers: callers(request).await,
        tools: tools(shard, form.profile.raw()).await,
        rules: rules(shard),
        fault: text(fault),
        form,
        profiles,
        verdict,
        reach,
    };
    page_reply::ok(page::access(&request.frame(), &data))
}

/// Returns callers to choose from: keys, users, and callers of the last day.
pub(super) async fn callers(request: &PageRequest) -> Vec<ForeignText> {
    let shard = &request.shard;
    let mut all = vec!["anyone".to_owned()];
    if let Ok(list) = keys::keys(shard).await {
        let valid = list.keys.iter().filter(|key| key.state == "active");
        all.extend(valid.take(200).map(|key| format!("key:{}", key.name)));
    }
    let config = shard.gateway.standing.config();
    all.extend(config.auth.users.keys().map(|name| format!("user:{name}")));
    let usage = server_rows::day(request).await;
    // Keys are known by their names already.
    let is_other = |name: &String| !name.starts_with("admin") && name != "file" && !KeyNames::is_key(name);
    all.extend(usage.busiest_callers(200).into_iter().map(|(name, _)| name).filter(is_other));
    let mut seen = std::collections::HashSet::new();
    all.retain(|one| seen.insert(one.clone()));
    texts(all)
}

async fn tools(shard: &Arc<Shard>, profile: &str) -> Vec<ForeignText> {
    let Ok(whole) = profiles::whole_view(shard, profile).await else { return Vec::new() };
    texts(profiles::tool_names(&whole).take(MOST_TOOLS))
}

async fn asked(shard: &Arc<Shard>, form: &AccessForm) -> Result<AccessVerdict, String> {
    let arguments = match form.arguments.raw() {
        "" => None,
        text => Some(
            serde_json::from_str(text)
                .map_err(|e| format!("The arguments are not valid JSON: {}.", super::json_fault(&e)))?,
        ),
    };
    verdict(shard, (form.profile.raw(), form.tool.raw(), form.caller.raw()), arguments, address(form)?).await
}

fn address(form: &AccessForm) -> Result<Option<IpAddr>, String> {
    match form.address.raw() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("{text:?} is not an address such as 10.1.2.3.")),
    }
}

/// Returns the tools that the caller may use.
async fn reached(shard: &Arc<Shard>, form: &AccessForm) -> Result<AccessReach, String> {
    let id = Some(form.caller.raw().to_owned());
    let caller = AskedCaller { id, address: address(form)?, ..AskedCaller::default() };
    let reach = access::reach(shard, form.profile.raw(), &caller).await.map_err(|refusal| refusal.message)?;
    Ok(AccessReach {
        allowed: texts(reach.allowed),
        denied: texts(reach.denied),
        refusal: reach.refusal.map(|reason| sentence(&reason).into()),
    })
}

/// Evaluates the access rules for a caller and a tool of a profile.
pub(super) async fn verdict(
    shard: &Arc<Shard>,
    (profile, tool, caller): (&str, &str, &str),
    arguments: Option<Value>,
    address: Option<IpAddr>,
) -> Result<AccessVerdict, String> {
    let id = Some(caller.to_owned()).filter(|caller| !caller.is_empty());
    let asked = AskedCaller { id, address, ..AskedCaller::default() };
    let question =
        AccessQuestion { profile: profile.to_owned(), tool: tool.to_owned(), arguments, caller: asked };
    let answer = access::check(shard, question).await.map_err(|refusal| refusal.message)?;
    Ok(shown(shard, &answer))
}

fn shown(shard: &Shard, answer: &AccessAnswer) -> AccessVerdict {
    let rules = rules(shard);
    let decides = answer.rule.map(super::count);
    let admission = AccessStep {
        check: "the tool is in the profile, and the caller may use the profile".into(),
        effect: if answer.server.is_some() { RuleEffect::Allows } else { RuleEffect::Denies },
        why: if answer.server.is_some() { "yes".into() } else { answer.reason.as_str().into() },
        line: None,
    };
    let mut steps = vec![admission];
    if answer.server.is_some() {
        steps.extend(rules.into_iter().enumerate().map(|(at, rule)| {
            let is_it = decides == Some(rule.number);
            let effect = match (is_it, rule.allows) {
                (false, _) if answer.rules.get(at).copied() == Some("applies") => RuleEffect::Overruled,
                (false, _) => RuleEffect::Skipped,
                (true, true) => RuleEffect::Allows,
                (true, false) => RuleEffect::Denies,
            };
            AccessStep {
                check: format!(
                    "rule {}: {} {}",
                    rule.number,
                    if rule.allows { "allow" } else { "deny" },
                    rule.patterns.raw()
                )
                .into(),
                effect,
                why: if is_it { answer.reason.as_str().into() } else { not_deciding(answer, at).into() },
                line: None,
            }
        }));
    }
    AccessVerdict { allowed: answer.allowed, reason: sentence(&answer.reason).into(), steps }
}

/// Returns the reason why a rule, counted from 0, does not decide.
fn not_deciding(answer: &AccessAnswer, at: usize) -> &'static str {
    match answer.rules.get(at).copied() {
        Some("otherCaller") => "it is about other callers",
        Some("otherItem") => "it is about other tools, servers or profiles",
        Some("otherArguments") => "it is about other arguments",
        _ => "another rule decides",
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

fn rules(shard: &Shard) -> Vec<AccessRuleRow> {
    let shown = shard.gateway.standing.config().shown();
    let all = shown["access"].as_array().cloned().unwrap_or_default();
    all.iter().enumerate().map(|(at, rule)| rule_row(at, rule)).collect()
}

fn rule_row(at: usize, rule: &Value) -> AccessRuleRow {
    let patterns = |key: &str| match &rule[key] {
        Value::String(one) => Some(one.clone()),
        Value::Array(all) => Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        _ => None,
    };
    let allows = patterns("allow");
    let conditions: Vec<String> = rule
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| !["allow", "deny"].contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key, brief(value)))
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    AccessRuleRow {
        number: super::count(at) + 1,
        allows: allows.is_some(),
        patterns: allows.or_else(|| patterns("deny")).unwrap_or_default().into(),
        conditions: conditions.join("; ").into(),
    }
}

/// Formats a JSON value for people, without quotes and brackets.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(brief).collect::<Vec<_>>().join(", "),
        Value::Object(all) => {
            let own = all.iter().filter(|(_, value)| !value.is_null() && **value != Value::Array(Vec::new()));
            let own = own.filter(|(_, value)| !brief(value).is_empty());
            own.map(|(key, value)| format!("{key} {}", brief(value))).collect::<Vec<_>>().join(" and ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::rule_row;
    use serde_json::json;

    #[test]
    fn rules_are_shown_as_people_write_them() {
        let row = rule_row(
            1,
            &json!({ "deny": ["*delete*", "x"], "who": { "key": ["ann"], "user": [] }, "servers": null }),
        );
        assert_eq!((row.number, row.allows), (2, false));
        assert_eq!((row.patterns.raw(), row.conditions.raw()), ("*delete*, x", "who: key ann"));
    }
}
