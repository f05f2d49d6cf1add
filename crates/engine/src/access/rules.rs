//! The compiled rules, and the one decision that lists and calls share.

use std::sync::Arc;

use config::{AccessRule, Effect, Glob};
use smallvec::SmallVec;

use super::Principal;
use super::asker::{Asker, is_among};
use super::reach::is_reachable;
use super::target::{AccessTarget, CallArguments};
use super::values::{Conditions, fits_all, hold};
use crate::list_kind::ListKind;

/// The compiled access rules.
///
/// A denying rule always wins. If there is at least one allowing rule, only items that such a rule allows may be
/// used. If there is none, every item that is not denied may be used. A list shows an item if a call with some
/// arguments may be allowed, so lists and calls cannot disagree.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Box<[AccessRule]>,
    /// True if there is an allowing rule, so all other items are denied.
    closed: bool,
}

/// The decision about a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The asker may use the target.
    Allowed,
    /// The asker may not use the target, which appears not to exist.
    Denied(DenialReason),
}

impl Decision {
    /// Returns true if the asker may use the target.
    pub fn is_allowed(self) -> bool {
        self == Self::Allowed
    }
}

/// The reason for a denial; for the log, not for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenialReason {
    /// The credentials are not valid for the profile.
    Profile,
    /// The rule with this number, counted from 0, denies the target.
    Rule(usize),
    /// There are allowing rules, and none of them allows the target.
    NotAllowed,
}

/// A decision, and the rule that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedDecision {
    /// True if the asker may use the target.
    pub is_allowed: bool,
    /// The number of the rule, counted from 0; `None` if no rule decides.
    pub rule: Option<usize>,
}

/// The relation of a rule to a question, whatever the other rules say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleRelation {
    /// The rule applies.
    Applies,
    /// The rule is about other askers, or the asker is an exception of it.
    OtherAsker,
    /// The rule is about other items, servers or profiles.
    OtherItem,
    /// The rule is about other arguments.
    OtherArguments,
}

/// A class of askers to which the same rules apply, so they see the same lists.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Class {
    /// One bit for each rule, which is set if the rule applies to askers of this class.
    about: SmallVec<[u64; 2]>,
    profiles: Option<Arc<[Box<str>]>>,
}

impl Class {
    fn is_under(&self, rule: usize) -> bool {
        self.about.get(rule / 64).is_some_and(|bits| bits & (1 << (rule % 64)) != 0)
    }

    /// A text that identifies the class: it is the same in every process that has the same rules. It does not
    /// depend on rules about other askers.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for (word, bits) in self.about.iter().enumerate() {
            let rules = (0..64).filter(|bit| bits & (1 << bit) != 0);
            rules.for_each(|bit| text.extend_from_slice(format!("{},", word * 64 + bit).as_bytes()));
        }
        for profile in self.profiles.iter().flat_map(|only| only.iter()) {
            text.push(b'/');
            text.extend_from_slice(profile.as_bytes());
        }
        if self.profiles.is_some() {
            text.push(b'.');
        }
        text
    }

    fn may_enter(&self, profile: &str) -> bool {
        self.profiles.as_ref().is_none_or(|only| only.iter().any(|name| **name == *profile))
    }
}

impl Rules {
    /// Compiles the rules of a configuration.
    pub fn compile(rules: &[AccessRule]) -> Self {
        let closed = rules.iter().any(|rule| rule.effect() == Effect::Allow);
        Self { rules: rules.into(), closed }
    }

    /// Returns true if there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns true if any rule has conditions on arguments.
    pub fn look_at_arguments(&self) -> bool {
        self.rules.iter().any(|rule| !rule.when.arguments.is_empty())
    }

    /// The class of an asker at this moment. If a rule has conditions on addresses, the class depends on the address.
    pub fn class(&self, asker: &Asker<'_>) -> Class {
        let mut about = SmallVec::from_elem(0, self.rules.len().div_ceil(64));
        for (number, rule) in self.rules.iter().enumerate() {
            if is_about(rule, asker) {
                about[number / 64] |= 1 << (number % 64);
            }
        }
        Class { about, profiles: asker.principal.profiles.clone() }
    }

    /// Returns true if askers of this class have access to any item of a profile. If not, the profile appears not
    /// to exist.
    pub fn opens(&self, class: &Class, profile: &str) -> bool {
        class.may_enter(profile)
            && !self.about(class, Effect::Deny, profile).any(|rule| is_whole(rule) && rule.servers.is_none())
            && (!self.closed || self.about(class, Effect::Allow, profile).next().is_some())
    }

    /// Returns true if the rules give this principal nothing in any of these profiles. If a rule depends on the request, the result is
    /// false.
    pub fn give_nothing<'p>(
        &self,
        principal: &Principal,
        mut profiles: impl Iterator<Item = &'p str>,
    ) -> bool {
        let class = self.class(&Asker { principal, address: None });
        !self.rules.iter().any(AccessRule::depends_on_request)
            && !profiles.any(|profile| self.opens(&class, profile))
    }

    /// Returns false if the rules certainly deny askers of this class every item of a server. The items themselves
    /// are unknown here. Each pattern in `like` stands for the names or URIs by which rules can refer to them.
    pub fn opens_server(&self, class: &Class, place: (&str, &str), like: &[Glob]) -> bool {
        self.opens_where(class, place, like, |glob| like.iter().any(|like| glob.meets(like)))
    }

    /// Returns false if the rules certainly deny askers of this class every item of a server whose items are
    /// unknown. `own` matches the items' identities. Rules can also refer to an item by the server's own name for
    /// it, unless this name starts with the prefix of another server (`server__`). The patterns in `others` match
    /// the names with such a prefix.
    pub fn opens_unlisted_server(
        &self,
        class: &Class,
        place: (&str, &str),
        own: &Glob,
        others: &[Glob],
    ) -> bool {
        let is_about_other = |glob: &Glob| others.iter().any(|other| other.covers(glob));
        let allows = |glob: &Glob| glob.meets(own) || !is_about_other(glob);
        self.opens_where(class, place, std::slice::from_ref(own), allows)
    }

    fn opens_where(
        &self,
        class: &Class,
        (profile, server): (&str, &str),
        like: &[Glob],
        allows: impl Fn(&Glob) -> bool,
    ) -> bool {
        let there = |effect| {
            self.about(class, effect, profile).filter(|rule| matches(rule.servers.as_deref(), server))
        };
        let covers = |glob: &Glob| like.iter().any(|like| glob.covers(like));
        let denies = |rule: &AccessRule| rule.when.is_empty() && rule.what().iter().any(covers);
        class.may_enter(profile)
            && !there(Effect::Deny).any(denies)
            && (!self.closed || there(Effect::Allow).any(|rule| rule.what().iter().any(&allows)))
    }

    /// Returns true if a rule can deny askers of this class any item of a server.
    pub fn bound(&self, class: &Class, (profile, server): (&str, &str)) -> bool {
        self.keeps(class, (profile, server), |_| true)
    }

    /// Returns true if a rule can deny askers of this class a resource of a server, given that the resource's URI matches `like`.
    pub fn bound_resources(&self, class: &Class, place: (&str, &str), like: &Glob) -> bool {
        self.keeps(class, place, |rule| {
            rule.when.is_empty() && rule.what().iter().any(|glob| glob.meets(like))
        })
    }

    /// Returns true if a denying rule withholds any item of a server, or if the allowing rules do not cover all of its items.
    fn keeps(
        &self,
        class: &Class,
        (profile, server): (&str, &str),
        denies: impl Fn(&AccessRule) -> bool,
    ) -> bool {
        let there = |effect| {
            self.about(class, effect, profile).filter(|rule| matches(rule.servers.as_deref(), server))
        };
        !class.may_enter(profile)
            || there(Effect::Deny).any(denies)
            || (self.closed && !there(Effect::Allow).any(is_whole))
    }

    /// The rules with one effect that apply to askers of this class in a profile.
    fn about(&self, class: &Class, effect: Effect, profile: &str) -> impl Iterator<Item = &AccessRule> {
        let all = self.rules.iter().enumerate();
        let is_one = move |number: usize, rule: &AccessRule| {
            rule.effect() == effect && class.is_under(number) && matches(rule.profiles.as_deref(), profile)
        };
        all.filter(move |(number, rule)| is_one(*number, rule)).map(|(_, rule)| rule)
    }

    /// Decides for one asker. The result equals that of [`Rules::decide_as`] for the asker's class, which also
    /// determines the lists.
    pub fn decide(&self, asker: &Asker<'_>, target: &AccessTarget<'_>) -> Decision {
        if !asker.principal.may_enter(target.profile) {
            return Decision::Denied(DenialReason::Profile);
        }
        self.judge(target, |number| is_about(&self.rules[number], asker))
    }

    /// Decides for askers of a class.
    pub fn decide_as(&self, class: &Class, target: &AccessTarget<'_>) -> Decision {
        if !class.may_enter(target.profile) {
            return Decision::Denied(DenialReason::Profile);
        }
        self.judge(target, |number| class.is_under(number))
    }

    /// Decides for one asker in the same way as [`Rules::decide`], and names the rule that decides.
    pub fn explain(&self, asker: &Asker<'_>, target: &AccessTarget<'_>) -> ExplainedDecision {
        let decision = self.decide(asker, target);
        let rule = match decision {
            Decision::Denied(DenialReason::Rule(rule)) => Some(rule),
            Decision::Denied(DenialReason::Profile | DenialReason::NotAllowed) => None,
            // If a rule without the others still allows the target, it is a reason for the decision.
            Decision::Allowed => {
                let allows = |rule: &AccessRule| {
                    let only = Self { rules: Box::from([rule.clone()]), closed: true };
                    only.decide(asker, target).is_allowed()
                };
                let allowing = |rule: &AccessRule| rule.effect() == Effect::Allow && allows(rule);
                self.rules.iter().position(allowing)
            }
        };
        ExplainedDecision { is_allowed: decision.is_allowed(), rule }
    }

    /// Returns the relation of each rule to a question.
    pub fn relations(&self, asker: &Asker<'_>, target: &AccessTarget<'_>) -> Vec<RuleRelation> {
        let relation = |rule: &AccessRule| match target.arguments {
            _ if !is_about(rule, asker) => RuleRelation::OtherAsker,
            _ if !speaks_of(rule, target) => RuleRelation::OtherItem,
            CallArguments::These(these) if !hold(&rule.when.arguments, these, rule.effect()) => {
                RuleRelation::OtherArguments
            }
            _ => RuleRelation::Applies,
        };
        self.rules.iter().map(relation).collect()
    }

    fn judge(&self, target: &AccessTarget<'_>, about: impl Fn(usize) -> bool) -> Decision {
        let speaking = |effect: Effect| {
            let all = self.rules.iter().enumerate();
            all.filter(move |(_, rule)| rule.effect() == effect && speaks_of(rule, target))
        };
        let mut denying: SmallVec<[&Conditions; 4]> = SmallVec::new();
        for (number, rule) in speaking(Effect::Deny).filter(|(number, _)| about(*number)) {
            let conditions = &rule.when.arguments;
            match target.arguments {
                _ if conditions.is_empty() => return Decision::Denied(DenialReason::Rule(number)),
                CallArguments::Any => denying.push(conditions),
                CallArguments::These(these) if hold(conditions, these, Effect::Deny) => {
                    return Decision::Denied(DenialReason::Rule(number));
                }
                CallArguments::These(_) => {}
            }
        }
        let allows = |rule: &AccessRule| match target.arguments {
            // An allowing rule without conditions on arguments allows every call.
            _ if rule.when.arguments.is_empty() => true,
            CallArguments::Any => is_reachable(&rule.when.arguments, &denying),
            CallArguments::These(these) => hold(&rule.when.arguments, these, Effect::Allow),
        };
        if !self.closed || speaking(Effect::Allow).any(|(number, rule)| about(number) && allows(rule)) {
            return Decision::Allowed;
        }
        Decision::Denied(DenialReason::NotAllowed)
    }
}

fn is_about(rule: &AccessRule, asker: &Asker<'_>) -> bool {
    rule.who.as_ref().is_none_or(|who| is_among(asker, who))
        && !rule.unless.as_ref().is_some_and(|who| is_among(asker, who))
}

/// Returns true if the rule applies to every item within its scope: its patterns match everything, and it has no
/// `when`.
fn is_whole(rule: &AccessRule) -> bool {
    fits_all(rule.what()) && rule.when.is_empty()
}

/// Returns true if the rule concerns this target, regardless of the asker. Conditions on arguments only make sense for tools, so a
/// rule with such conditions applies to tools only.
fn speaks_of(rule: &AccessRule, target: &AccessTarget<'_>) -> bool {
    matches(rule.profiles.as_deref(), target.profile)
        && matches(rule.servers.as_deref(), target.server)
        && (matches(Some(rule.what()), target.name)
            || target.also.iter().any(|also| matches(Some(rule.what()), also)))
        && (rule.when.is_empty() || target.kind == ListKind::Tools)
        && rule.when.annotations.iter().all(|(hint, wanted)| target.annotations.says(*hint) == *wanted)
}

fn matches(globs: Option<&[Glob]>, name: &str) -> bool {
    globs.is_none_or(|globs| globs.iter().any(|glob| glob.matches(name)))
}
