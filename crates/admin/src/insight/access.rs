//! Checks whether the rules let a caller use an item, and finds the rule that decides. Only the rules are checked: no consent
//! of the caller is used, and nothing is sent to a server. This module must not know HTTP.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use engine::access::{Asker, Principal, RuleRelation, Rules, Scheme};
use engine::catalogue::{ListKind, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keys::key_names;
use super::moment::PointInTime;
use super::profiles::{tool_names, whole_view};
use gateway::changes::Refusal;
use gateway::key_names::KeyNames;
use gateway::process::Shard;
use gateway::view::WholeView;

/// The question of whether a caller may use a tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AccessQuestion {
    /// The profile.
    pub(crate) profile: String,
    /// The name of a tool, as clients of the profile see it, or as `server__tool`.
    pub(crate) tool: String,
    /// The arguments of the call; if omitted, the question is whether a call with some arguments is allowed.
    #[serde(default)]
    pub(crate) arguments: Option<Value>,
    #[serde(default)]
    pub(crate) caller: AskedCaller,
}

/// A caller. Facts that are omitted are unknown, so rules about them do not apply.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AskedCaller {
    /// The principal's id as the record of calls shows it, or the name of an API key, with or without `key:` before it;
    /// `anyone` if omitted.
    #[serde(default)]
    pub(crate) id: Option<String>,
    /// The name of the user or the key, to which rules refer. If it is omitted, the name and the profiles of a key are looked up.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The method by which the caller authenticates: `anyone`, `bearer`, `key`, `basic`, `site` or `token`.
    #[serde(default)]
    pub(crate) scheme: Option<String>,
    /// The scopes of a token.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// The claims of a token.
    #[serde(default)]
    pub(crate) claims: Option<Value>,
    /// The only profiles for which the credential is valid.
    #[serde(default)]
    pub(crate) profiles: Option<Vec<String>>,
    /// The client's address.
    #[serde(default)]
    pub(crate) address: Option<IpAddr>,
}

/// The answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessAnswer {
    pub(crate) allowed: bool,
    /// The reason, in words.
    pub(crate) reason: String,
    /// The rule that decides, counted from 1 in `access` of the configuration, as in `reason`; `null` if no rule does.
    pub(crate) rule: Option<usize>,
    /// The effect of that rule: `allow` or `deny`.
    pub(crate) effect: Option<&'static str>,
    /// The server of the tool; `null` if the profile has no such tool.
    pub(crate) server: Option<String>,
    /// The server's own name for the tool.
    pub(crate) own_name: Option<String>,
    /// The relation of each rule to the question, in the order of the rules: `applies`, `otherCaller`, `otherItem` or
    /// `otherArguments`. The list is empty if the profile has no such tool.
    pub(crate) rules: Vec<&'static str>,
}

impl AccessAnswer {
    fn no(reason: String) -> Self {
        let (server, own_name, rules) = (None, None, Vec::new());
        Self { allowed: false, reason, rule: None, effect: None, server, own_name, rules }
    }
}

/// Returns the relation of a rule as a word.
fn relation(one: RuleRelation) -> &'static str {
    match one {
        RuleRelation::Applies => "applies",
        RuleRelation::OtherAsker => "otherCaller",
        RuleRelation::OtherItem => "otherItem",
        RuleRelation::OtherArguments => "otherArguments",
    }
}

impl AskedCaller {
    /// Returns the caller, or the reason why there is no such caller.
    fn principal(&self, names: &KeyNames) -> Result<Result<Principal, String>, Refusal> {
        let is_key = |id: &&String| !id.contains(':') && !matches!(id.as_str(), "" | "anyone" | "bearer");
        let key = self.id.as_ref().filter(|id| KeyNames::is_key(id) || is_key(id));
        if let (Some(id), None, None) = (key, &self.name, &self.scheme) {
            let found = names.caller(id, PointInTime::now().0);
            return Ok(found.map(|found| Principal {
                profiles: self.profiles.as_deref().map(boxed).or(found.profiles),
                ..found
            }));
        }
        let scheme = match self.scheme.as_deref() {
            None => match self.id.as_deref() {
                None | Some("anyone") => Scheme::Anyone,
                Some(id) => scheme_of(id),
            },
            Some(name) => {
                let known = Scheme::ALL.iter().find(|(known, _)| *known == name);
                let all = || Scheme::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                known.ok_or_else(|| Refusal::request(format!("`scheme` must be one of {}", all())))?.1
            }
        };
        let id = self.id.as_deref().unwrap_or("anyone");
        let name = self.name.as_deref().or_else(|| id.strip_prefix("user:"));
        Ok(Ok(Principal {
            user: name.map(Into::into),
            scopes: boxed(&self.scopes),
            claims: self.claims.clone().map(Arc::new),
            profiles: self.profiles.as_deref().map(boxed),
            ..Principal::new(id, scheme)
        }))
    }
}

fn boxed(texts: &[String]) -> Arc<[Box<str>]> {
    texts.iter().map(|text| text.as_str().into()).collect()
}

/// Returns the scheme by which the principal with this id authenticates.
fn scheme_of(id: &str) -> Scheme {
    let kind = id.split(':').next().unwrap_or_default();
    match kind {
        "bearer" => Scheme::Bearer,
        "key" => Scheme::Key,
        "user" => Scheme::Basic,
        "site" => Scheme::Site,
        "login" => Scheme::Login,
        "jwt" | "jwt-client" => Scheme::Token,
        _ => Scheme::Anyone,
    }
}

/// Answers the question.
///
/// # Errors
/// Fails if there is no such profile, or if the caller is described incorrectly.
pub(crate) async fn check(shard: &Arc<Shard>, question: AccessQuestion) -> Result<AccessAnswer, Refusal> {
    AccessChecker::open(shard).await.answer(question).await
}

/// The answers to several questions. The view of each profile is built once.
pub(crate) struct AccessChecker {
    shard: Arc<Shard>,
    names: KeyNames,
    views: HashMap<String, Arc<WholeView>>,
}

impl AccessChecker {
    /// Reads the data from which answers are derived.
    pub(crate) async fn open(shard: &Arc<Shard>) -> Self {
        Self { shard: shard.clone(), names: key_names(shard).await, views: HashMap::new() }
    }

    async fn view(&mut self, profile: &str) -> Result<Arc<WholeView>, Refusal> {
        if let Some(view) = self.views.get(profile) {
            return Ok(view.clone());
        }
        let view = whole_view(&self.shard, profile).await?;
        self.views.insert(profile.to_owned(), view.clone());
        Ok(view)
    }

    /// Answers a question.
    ///
    /// # Errors
    /// Fails in the same cases as [`check`].
    pub(crate) async fn answer(&mut self, question: AccessQuestion) -> Result<AccessAnswer, Refusal> {
        let principal = question.caller.principal(&self.names)?;
        let view = self.view(&question.profile).await?;
        let principal = match principal {
            Ok(principal) => principal,
            Err(reason) => return Ok(AccessAnswer::no(reason)),
        };
        Ok(answered(&self.shard, &view.view, &principal, &question))
    }
}

/// The tools of a profile that a caller may use.
#[derive(Debug, Default)]
pub(crate) struct ToolReach {
    /// The tools that the caller may call with some arguments.
    pub(crate) allowed: Vec<String>,
    /// The other tools.
    pub(crate) denied: Vec<String>,
    /// The reason why the caller may not even use the profile.
    pub(crate) refusal: Option<String>,
}

/// Returns the tools of a profile that a caller may use.
///
/// # Errors
/// Fails in the same cases as [`check`].
pub(crate) async fn reach(
    shard: &Arc<Shard>,
    profile: &str,
    caller: &AskedCaller,
) -> Result<ToolReach, Refusal> {
    let principal = match caller.principal(&key_names(shard).await)? {
        Ok(principal) => principal,
        Err(reason) => return Ok(ToolReach { refusal: Some(reason), ..ToolReach::default() }),
    };
    let whole = whole_view(shard, profile).await?;
    let names: Vec<String> = tool_names(&whole).map(str::to_owned).collect();
    if !principal.may_enter(profile) {
        let refusal = Some(format!("the caller's credentials are not valid for the profile {profile:?}"));
        return Ok(ToolReach { refusal, denied: names, ..ToolReach::default() });
    }
    let (own, profile, address) = (shard.clone(), profile.to_owned(), caller.address);
    // A profile may have thousands of tools.
    let divided = transport::task::spawn_blocking(move || {
        let Some(rules) = &own.gateway.snapshot.rules else { return (names, Vec::new()) };
        let asker = Asker { principal: &principal, address };
        let may = |name: &String| {
            let Some(entry) = whole.view.tool(name) else { return false };
            let place = (profile.as_str(), entry);
            whole.view.judge_call(place, None, |target| rules.explain(&asker, target)).is_allowed
        };
        names.into_iter().partition(may)
    });
    let (allowed, denied) = divided.await.map_err(|e| Refusal::internal(e.to_string()))?;
    Ok(ToolReach { allowed, denied, refusal: None })
}

/// Returns the reason why a profile does not have a tool.
fn absent(view: &View, (profile, tool): (&str, &str)) -> String {
    let of_server = view.upstreams().iter().find_map(|source| {
        let catalogue = source.catalogue.as_ref().ok()?;
        let own = tool.strip_prefix(&*source.name).and_then(|rest| rest.strip_prefix("__")).unwrap_or(tool);
        catalogue.list(ListKind::Tools).iter().any(|item| *item.key == *own).then_some(&*source.name)
    });
    match of_server {
        Some(server) => format!(
            "the profile {profile:?} leaves out this tool of server {server:?} (`tools` of the profile: `allow` or `deny`)"
        ),
        None => format!("the profile {profile:?} has no tool {tool:?}"),
    }
}

fn answered(shard: &Shard, view: &View, principal: &Principal, question: &AccessQuestion) -> AccessAnswer {
    if !principal.may_enter(&question.profile) {
        let reason = format!("the caller's credentials are not valid for the profile {:?}", question.profile);
        return AccessAnswer::no(reason);
    }
    let Some(entry) = view.tool(&question.tool) else {
        let reason = match (view.held_by(&question.tool), view.absence_behind(&question.tool)) {
            (Some(server), _) => format!("the tool awaits approval of its definition (server {server:?})"),
            (None, Some((server, absence))) => {
                format!("the tools of server {server:?} are not known here: the server {}", absence.reason)
            }
            (None, None) => absent(view, (&question.profile, &question.tool)),
        };
        return AccessAnswer::no(reason);
    };
    let server = shard.gateway.snapshot.upstream(entry.upstream).map(|spec| spec.name.to_string());
    let own_name = Some(entry.own_name().into_owned());
    let Some(rules) = &shard.gateway.snapshot.rules else {
        let reason =
            "there are no access rules, so every caller may use every tool of the profile".to_owned();
        let rules = Vec::new();
        return AccessAnswer { allowed: true, reason, rule: None, effect: None, server, own_name, rules };
    };
    let arguments = question.arguments.as_ref().map(ToString::to_string);
    let asker = Asker { principal, address: question.caller.address };
    let place = (&*question.profile, entry);
    let explain = |arguments: Option<&str>| {
        view.judge_call(place, arguments.map(Some), |target| rules.explain(&asker, target))
    };
    let mut explained = explain(arguments.as_deref());
    // The rules must also allow each form in which the server may interpret the arguments.
    for reading in view.readings(entry, arguments.as_deref().map(str::as_bytes)) {
        if explained.is_allowed {
            explained = explain(Some(&reading));
        }
    }
    let (reason, effect) = in_words(rules, &explained);
    let (allowed, rule) = (explained.is_allowed, explained.rule.map(|rule| rule + 1));
    let written = arguments.as_deref().map(Some);
    let rules = view.judge_call(place, written, |target| rules.relations(&asker, target));
    let rules = rules.into_iter().map(relation).collect();
    AccessAnswer { allowed, reason, rule, effect, server, own_name, rules }
}

fn in_words(rules: &Rules, explained: &engine::access::ExplainedDecision) -> (String, Option<&'static str>) {
    let position = |rule: usize| format!("rule {} of `access`", rule + 1);
    match (explained.is_allowed, explained.rule) {
        (true, Some(rule)) => (format!("{} allows it", position(rule)), Some("allow")),
        (false, Some(rule)) => (format!("{} denies it", position(rule)), Some("deny")),
        (true, None) if rules.is_empty() => ("there are no access rules".to_owned(), None),
        (true, None) => {
            ("no rule denies it, and no rule with `allow` restricts access here".to_owned(), None)
        }
        (false, None) => {
            ("there are rules with `allow`, and none of them allows it for this caller".to_owned(), None)
        }
    }
}
