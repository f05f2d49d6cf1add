//! The rules, compiled, and the one decision that lists and calls share.

use std::sync::Arc;

use smallvec::SmallVec;

use super::asker::{Asker, is_among};
use super::reach::is_reachable;
use super::target::{Arguments, Target};
use super::values::{Conditions, fits_all, hold};
use crate::config::{AccessRule, Effect, Glob};
use crate::list_kind::ListKind;

/// Who may use what.
///
/// A rule that denies always counts. As soon as there is one rule that allows, only what some such rule allows may be used;
/// without one, all that is not denied. A list shows what a call with some arguments may be allowed to reach, so lists and
/// calls cannot disagree.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Box<[AccessRule]>,
    /// Is there a rule that allows, so that the rest is closed?
    closed: bool,
}

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may be used.
    Allowed,
    /// It may not, and looks as if it were not there.
    Denied(Why),
}

impl Decision {
    /// Returns true if it may be used.
    pub fn is_allowed(self) -> bool {
        self == Self::Allowed
    }
}

/// The reason why something may not be used; for the log, not for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The credential is not good for the profile.
    Profile,
    /// The rule with this number, from 0, denies it.
    Rule(usize),
    /// There are rules that allow, and none of them allows this.
    NotAllowed,
}

/// Askers for whom the same rules count: they see the same lists.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Class {
    /// A bit for each rule that is about such askers.
    about: SmallVec<[u64; 2]>,
    profiles: Option<Arc<[Box<str>]>>,
}

impl Class {
    fn is_under(&self, rule: usize) -> bool {
        self.about.get(rule / 64).is_some_and(|bits| bits & (1 << (rule % 64)) != 0)
    }

    fn may_enter(&self, profile: &str) -> bool {
        self.profiles.as_ref().is_none_or(|only| only.iter().any(|name| **name == *profile))
    }
}

impl Rules {
    /// Compiles the rules of a configuration.
    pub fn compile(rules: &[AccessRule]) -> Self {
        let closed = rules.iter().any(|rule| rule.effect == Effect::Allow);
        Self { rules: rules.into(), closed }
    }

    /// Are there no rules?
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Does any rule look at arguments?
    pub fn look_at_arguments(&self) -> bool {
        self.rules.iter().any(|rule| !rule.when.arguments.is_empty())
    }

    /// The class of an asker. It holds for the asker as it is now: an address belongs to it where rules ask for one.
    pub fn class(&self, asker: &Asker<'_>) -> Class {
        let mut about = SmallVec::from_elem(0, self.rules.len().div_ceil(64));
        for (number, rule) in self.rules.iter().enumerate() {
            if is_about(rule, asker) {
                about[number / 64] |= 1 << (number % 64);
            }
        }
        Class { about, profiles: asker.principal.profiles.clone() }
    }

    /// Do askers of this class find anything in a profile? Where they do not, it looks as if it were not there.
    pub fn opens(&self, class: &Class, profile: &str) -> bool {
        class.may_enter(profile)
            && !self.about(class, Effect::Deny, profile).any(|rule| is_whole(rule) && rule.servers.is_none())
            && (!self.closed || self.about(class, Effect::Allow, profile).next().is_some())
    }

    /// May askers of this class use anything of a server whose name, or whose URI, can be `like` this? What the server has
    /// nobody knows here: `false` is certain, `true` is not.
    pub fn opens_server(&self, class: &Class, (profile, server): (&str, &str), like: &Glob) -> bool {
        let there = |effect| {
            self.about(class, effect, profile).filter(|rule| matches(rule.servers.as_deref(), server))
        };
        let denies =
            |rule: &AccessRule| rule.when.is_empty() && rule.what.iter().any(|glob| glob.covers(like));
        class.may_enter(profile)
            && !there(Effect::Deny).any(denies)
            && (!self.closed
                || there(Effect::Allow).any(|rule| rule.what.iter().any(|glob| glob.meets(like))))
    }

    /// Can anything of a server be kept from askers of this class?
    pub fn bound(&self, class: &Class, (profile, server): (&str, &str)) -> bool {
        self.keeps(class, (profile, server), |_| true)
    }

    /// Can a resource of a server be kept from askers of this class whose URI is `like` this?
    pub fn bound_resources(&self, class: &Class, place: (&str, &str), like: &Glob) -> bool {
        self.keeps(class, place, |rule| rule.when.is_empty() && rule.what.iter().any(|glob| glob.meets(like)))
    }

    /// Does a rule that denies keep something of a server back, or is not all of it allowed?
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

    /// The rules of one kind that are about askers of this class in a profile.
    fn about(&self, class: &Class, effect: Effect, profile: &str) -> impl Iterator<Item = &AccessRule> {
        let all = self.rules.iter().enumerate();
        let is_one = move |number: usize, rule: &AccessRule| {
            rule.effect == effect && class.is_under(number) && matches(rule.profiles.as_deref(), profile)
        };
        all.filter(move |(number, rule)| is_one(*number, rule)).map(|(_, rule)| rule)
    }

    /// May this asker use this? The same as [`Rules::decide_as`] with the asker's class, which lists are made by.
    pub fn decide(&self, asker: &Asker<'_>, target: &Target<'_>) -> Decision {
        if !asker.principal.may_enter(target.profile) {
            return Decision::Denied(Why::Profile);
        }
        self.judge(target, |number| is_about(&self.rules[number], asker))
    }

    /// May askers of this class use this?
    pub fn decide_as(&self, class: &Class, target: &Target<'_>) -> Decision {
        if !class.may_enter(target.profile) {
            return Decision::Denied(Why::Profile);
        }
        self.judge(target, |number| class.is_under(number))
    }

    fn judge(&self, target: &Target<'_>, about: impl Fn(usize) -> bool) -> Decision {
        let speaking = |effect: Effect| {
            let all = self.rules.iter().enumerate();
            all.filter(move |(_, rule)| rule.effect == effect && speaks_of(rule, target))
        };
        let mut denying: SmallVec<[&Conditions; 4]> = SmallVec::new();
        for (number, rule) in speaking(Effect::Deny).filter(|(number, _)| about(*number)) {
            let conditions = &rule.when.arguments;
            match target.arguments {
                _ if conditions.is_empty() => return Decision::Denied(Why::Rule(number)),
                Arguments::Any => denying.push(conditions),
                Arguments::These(these) if hold(conditions, these, Effect::Deny) => {
                    return Decision::Denied(Why::Rule(number));
                }
                Arguments::These(_) => {}
            }
        }
        let allows = |rule: &AccessRule| match target.arguments {
            // Without any arguments no condition holds, so that none denies.
            _ if rule.when.arguments.is_empty() => true,
            Arguments::Any => is_reachable(&rule.when.arguments, &denying),
            Arguments::These(these) => hold(&rule.when.arguments, these, Effect::Allow),
        };
        if !self.closed || speaking(Effect::Allow).any(|(number, rule)| about(number) && allows(rule)) {
            return Decision::Allowed;
        }
        Decision::Denied(Why::NotAllowed)
    }
}

fn is_about(rule: &AccessRule, asker: &Asker<'_>) -> bool {
    rule.who.as_ref().is_none_or(|who| is_among(asker, who))
        && !rule.unless.as_ref().is_some_and(|who| is_among(asker, who))
}

/// Is the rule about everything, with whatever arguments, as far as it goes?
fn is_whole(rule: &AccessRule) -> bool {
    fits_all(&rule.what) && rule.when.is_empty()
}

/// Is the rule about this thing, whoever asks? Conditions are on tools, so that a rule with some is about tools alone.
fn speaks_of(rule: &AccessRule, target: &Target<'_>) -> bool {
    matches(rule.profiles.as_deref(), target.profile)
        && matches(rule.servers.as_deref(), target.server)
        && matches(Some(&rule.what), target.name)
        && (rule.when.is_empty() || target.kind == ListKind::Tools)
        && rule.when.annotations.iter().all(|(hint, wanted)| target.annotations.says(*hint) == *wanted)
}

fn matches(globs: Option<&[Glob]>, name: &str) -> bool {
    globs.is_none_or(|globs| globs.iter().any(|glob| glob.matches(name)))
}
