//! The configuration keys of a rule, and of the callers to which it applies.

use indexmap::IndexMap;
use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::conditions::{PlacedValues, RuleConditions};
use super::path::ValuePath;
use crate::callers::access::Scheme;
use crate::callers::trusted_proxies::Range;
use crate::reading::known::ReferenceKind;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::section;
use crate::reading::spellings::{MergedSection, Optional, Values, WordList, refuse_empty, some_globs};
use crate::syntax::parse::Entry;
use crate::values::glob::Glob;
use crate::values::ip::IpRange;
use crate::values::suggest;
use crate::values::words::Words;

section! {
    /// A rule that allows or denies the use of tools, prompts and resources. Rules with `deny` always apply. If there is any rule
    /// with `allow`, everything that no rule allows is denied.
    pub struct AccessRule: "a mapping with `allow` or `deny`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            let is_either = |key: &str| suggest::nearest(key, ["allow", "deny"]).is_some();
            if self.allow.is_some() && self.deny.is_some() {
                reader.fault(&entry.key_at, "a rule has `allow` or `deny`, not both", "write two rules");
            }
            // A mistyped or unreadable key is reported once, not twice.
            if !entry.value.entries().iter().any(|entry| is_either(&entry.key)) {
                let help = "add `allow` or `deny` with name patterns: deny: [\"*delete*\"]";
                reader.fault(&entry.key_at, "this rule neither allows nor denies anything", help);
            }
        }

        /// Reports `tools`, a frequent mistake: the affected tools must be listed under `allow` or `deny`.
        fn rest(reader: &mut Reader<'_>, rest: &[&Entry]) {
            let (tools, others): (Vec<&Entry>, Vec<&Entry>) = rest.iter().partition(|entry| entry.key == "tools");
            for entry in tools {
                let help = "write the patterns under `allow` or `deny`: deny: [\"*delete*\"]";
                reader.within("tools", |reader| reader.fault(&entry.key_at, "a rule cannot have `tools`", help));
            }
            reader.refuse(&others, &section::keys::<Self>());
        }

        fn adapt(schema: &mut Schema, _: &mut SchemaGenerator) {
            schema.insert("oneOf".to_owned(), json!([{ "required": ["allow"] }, { "required": ["deny"] }]));
        }
    } [
        /// Allows the items that these patterns match: tools and prompts by `server__name`, where `name` is the server's own name
        /// for the item, or by `name` alone unless the profile has `names: prefix`; resources by their URIs. `"*"` matches
        /// everything.
        "allow" allow: Option<Vec<Glob>> = Optional(some_globs(None));
        /// Denies the items that these patterns match, even if another rule allows them.
        "deny" deny: Option<Vec<Glob>> = Optional(some_globs(None));
        /// Limits the rule to these profiles (patterns).
        "profiles" profiles: Option<Vec<Glob>> = Optional(some_globs(Some(ReferenceKind::Profile))), absent "all";
        /// Limits the rule to the items of these servers (patterns).
        "servers" servers: Option<Vec<Glob>> = Optional(some_globs(Some(ReferenceKind::Server))), absent "all";
        /// Limits the rule to these callers.
        "who" who: Option<CallerSelection> = Optional(MergedSection), absent "everyone";
        /// Exempts these callers from the rule.
        "unless" unless: Option<CallerSelection> = Optional(MergedSection), absent "nobody";
        /// Limits the rule to tools with these annotations, and to calls with these arguments. A rule with `when` applies only to
        /// tools.
        "when" when: RuleConditions = MergedSection;
    ]
}

/// The effect of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Allows the matching items. If any rule has this effect, only items that such rules allow may be used.
    Allow,
    /// Denies the matching items, even if other rules allow them.
    Deny,
}

impl AccessRule {
    /// The effect of the rule.
    pub fn effect(&self) -> Effect {
        if self.allow.is_some() { Effect::Allow } else { Effect::Deny }
    }

    /// Returns true if the rule also depends on the address of a request. The effect of such a rule on a caller is
    /// unknown without a request.
    pub fn depends_on_request(&self) -> bool {
        [&self.who, &self.unless].into_iter().flatten().any(|who| !who.ip.is_empty())
    }

    /// The patterns of the rule: identities or own names of tools and prompts, URIs of resources.
    pub fn what(&self) -> &[Glob] {
        self.allow.as_deref().or(self.deny.as_deref()).unwrap_or_default()
    }
}

impl Words for Scheme {
    const ALL: &'static [(&'static str, Self)] = Self::ALL;
}

section! {
    /// A selection of callers. A caller must match every attribute; for each attribute, one matching value is enough.
    pub struct CallerSelection: "a mapping with `key`, `user`, `scope`, `claim`, `ip` or `scheme`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            refuse_empty(reader, &entry.value);
        }
    } [
        /// API keys, by prefix or name (patterns).
        "key" key: Vec<Glob> = some_globs(None);
        /// Users of `auth.users` or of the site in `auth.site`, by name (patterns).
        "user" user: Vec<Glob> = some_globs(None);
        /// Scopes of a token (patterns).
        "scope" scope: Vec<Glob> = some_globs(None);
        /// Claims of a token, each given by its path (`department` or `/realm/roles`) and its permitted values
        /// (patterns): `{ realm.roles: editor }`. If the claim is a list, one matching item is enough.
        "claim" claim: IndexMap<ValuePath, Vec<Glob>> = PlacedValues("claims");
        /// The address of the client: `10.0.0.0/8`, `2001:db8::/32`, `192.0.2.7`. An IPv4-mapped IPv6 address counts as IPv4; a
        /// client over standard input matches no range.
        "ip" ip: Vec<IpRange> = Values { what: "a list of IP ranges", item: Range, some: true };
        /// The way in which the caller authenticated.
        "scheme" scheme: Vec<Scheme> = WordList;
    ]
}
