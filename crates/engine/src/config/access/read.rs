//! Reads `access`.

use std::rc::Rc;

use indexmap::IndexMap;

use super::model::{AccessRule, AnnotationHint, Effect, When, Who};
use super::path::ValuePath;
use crate::config::glob::Glob;
use crate::config::ip::IpRange;
use crate::config::parse::{Entry, Kind, Node};
use crate::config::pieces::{self, Known};
use crate::config::proxies;
use crate::config::read::{Fields, Reader, clip};
use crate::config::suggest;
use crate::principal::Scheme;

const KEYS: &[&str] = &["allow", "deny", "profiles", "servers", "who", "unless", "when"];
const WHO_KEYS: &[&str] = &["key", "user", "scope", "claim", "ip", "scheme"];
const WHEN_KEYS: &[&str] = &["arguments", "annotations"];

/// The most rules: each is looked at for each call.
const MAX_RULES: usize = 1000;

/// What rules may name.
pub(in crate::config) struct Names<'k> {
    pub(in crate::config) profiles: Known<'k>,
    pub(in crate::config) servers: Known<'k>,
}

pub(in crate::config) fn read(reader: &mut Reader<'_>, entry: &Entry, names: &Names<'_>) -> Vec<AccessRule> {
    let items = pieces::one_or_more(reader, &entry.value, "a list of rules").unwrap_or_default();
    if items.len() > MAX_RULES {
        let mend = format!("write at most {MAX_RULES}; patterns speak of many tools at once");
        reader.fault(&entry.value.at, format!("a list of {} rules", items.len()), mend);
        return Vec::new();
    }
    let mut rules = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        rules.extend(reader.within(&format!("[{index}]"), |reader| read_rule(reader, item, names)));
    }
    rules
}

fn read_rule(reader: &mut Reader<'_>, node: &Node, names: &Names<'_>) -> Option<AccessRule> {
    let mut fields = reader.fields(node, "a mapping with `allow` or `deny`")?;
    let at = fields.at.start..fields.at.start;
    refuse_tools(reader, &mut fields);
    let silent = !fields.has("allow") && !fields.has("deny") && !fields.has_nearly(&["allow", "deny"]);
    let allow = pieces::some_globs(reader, &mut fields, "allow", None);
    let deny = pieces::some_globs(reader, &mut fields, "deny", None);
    let profiles = pieces::some_globs(reader, &mut fields, "profiles", Some(&names.profiles));
    let servers = pieces::some_globs(reader, &mut fields, "servers", Some(&names.servers));
    let who = fields.take("who").map(|entry| reader.within("who", |reader| read_who(reader, &entry.value)));
    let unless =
        fields.take("unless").map(|entry| reader.within("unless", |reader| read_who(reader, &entry.value)));
    let when =
        fields.take("when").map(|entry| reader.within("when", |reader| read_when(reader, &entry.value)));
    reader.refuse(&fields.rest(), KEYS);
    // What is mistyped or unreadable is one fault, not two.
    if silent {
        let mend = "add `allow` or `deny` with patterns of names: deny: [\"*delete*\"]";
        reader.fault(&at, "this rule neither allows nor denies anything", mend);
    }
    let (effect, what) = match (allow, deny) {
        (Some(_), Some(_)) => {
            reader.fault(&at, "a rule has `allow` or `deny`, not both", "make two rules");
            return None;
        }
        (Some(what), None) => (Effect::Allow, what),
        (None, Some(what)) => (Effect::Deny, what),
        (None, None) => return None,
    };
    let when = when.unwrap_or_default();
    Some(AccessRule { effect, what, profiles, servers, who, unless, when })
}

/// A frequent slip: which tools a rule is about stands behind `allow` or `deny`.
fn refuse_tools(reader: &mut Reader<'_>, fields: &mut Fields<'_>) {
    if let Some(entry) = fields.take("tools") {
        let mend = "write the patterns behind `allow` or `deny`: deny: [\"*delete*\"]";
        reader.within("tools", |reader| reader.fault(&entry.key_at, "a rule has no `tools`", mend));
    }
}

pub(in crate::config) fn read_who(reader: &mut Reader<'_>, node: &Rc<Node>) -> Who {
    pieces::refuse_empty(reader, node);
    let Some(mut fields) =
        reader.fields(node, "a mapping with `key`, `user`, `scope`, `claim`, `ip` or `scheme`")
    else {
        return Who::default();
    };
    let mut globs = |key| pieces::some_globs(reader, &mut fields, key, None).unwrap_or_default();
    let (key, user, scope) = (globs("key"), globs("user"), globs("scope"));
    let claim = match fields.take("claim") {
        Some(entry) => reader.within("claim", |reader| read_values(reader, &entry.value, "claims")),
        None => IndexMap::new(),
    };
    let ip = match fields.take("ip") {
        Some(entry) => reader.within("ip", |reader| read_ranges(reader, &entry.value)),
        None => Vec::new(),
    };
    let scheme = pieces::words(reader, &mut fields, "scheme", Scheme::ALL).unwrap_or_default();
    reader.refuse(&fields.rest(), WHO_KEYS);
    Who { key, user, scope, claim, ip, scheme }
}

fn read_when(reader: &mut Reader<'_>, node: &Rc<Node>) -> When {
    let Some(mut fields) = reader.fields(node, "a mapping with `arguments` or `annotations`") else {
        return When::default();
    };
    let arguments = match fields.take("arguments") {
        Some(entry) => reader.within("arguments", |reader| {
            let values = read_values(reader, &entry.value, "arguments");
            refuse_nested(reader, entry, &values);
            values
        }),
        None => IndexMap::new(),
    };
    let annotations = match fields.take("annotations") {
        Some(entry) => reader.within("annotations", |reader| read_annotations(reader, &entry.value)),
        None => IndexMap::new(),
    };
    reader.refuse(&fields.rest(), WHEN_KEYS);
    When { arguments, annotations }
}

/// Values by their place, each with the patterns of which it must match one.
fn read_values(reader: &mut Reader<'_>, node: &Node, what: &str) -> IndexMap<ValuePath, Vec<Glob>> {
    let mut values = IndexMap::new();
    let Some(fields) = reader.fields(node, &format!("a mapping of {what} and their values")) else {
        return values;
    };
    for entry in fields.rest() {
        reader.within(&entry.key, |reader| {
            let path = match ValuePath::parse(&entry.key) {
                Ok(path) => path,
                Err(reason) => {
                    reader.fault(&entry.key_at, reason, "write it like owner.name or /owner/name");
                    return None;
                }
            };
            pieces::refuse_empty(reader, &entry.value);
            let mut globs = Vec::new();
            for item in reader.items(&entry.value, "a value, or a list of values", true)? {
                let text = reader.text(item, "a value or a pattern")?;
                match Glob::parse(text.expose()) {
                    Ok(glob) => globs.push(glob),
                    Err(reason) => {
                        reader.fault(&item.at, reason, "write a value, with `*` for any characters");
                    }
                }
            }
            if values.keys().any(|other: &ValuePath| other.is_like(&path) || other.parts_in_case(&path)) {
                let message = "this place is named twice; upper and lower case do not tell places apart";
                reader.fault(&entry.key_at, message, "keep one of the two");
            }
            values.insert(path, globs)
        });
    }
    values
}

/// What stands inside another condition's value can only contradict it.
fn refuse_nested(reader: &mut Reader<'_>, entry: &Entry, values: &IndexMap<ValuePath, Vec<Glob>>) {
    for path in values.keys() {
        if let Some(outer) = values.keys().find(|outer| outer.leads_to(path)) {
            let message = format!("{path} stands inside {outer}, which is a condition of this rule, too");
            reader.fault(&entry.value.at, message, "keep one of the two, or make two rules");
        }
    }
}

fn read_ranges(reader: &mut Reader<'_>, node: &Rc<Node>) -> Vec<IpRange> {
    pieces::refuse_empty(reader, node);
    let mut ranges = Vec::new();
    for item in reader.items(node, "a list of IP ranges", true).unwrap_or_default() {
        ranges.extend(proxies::read_range(reader, item));
    }
    ranges
}

fn read_annotations(reader: &mut Reader<'_>, node: &Node) -> IndexMap<AnnotationHint, bool> {
    let mut hints = IndexMap::new();
    let names = || AnnotationHint::ALL.iter().map(|(name, _)| *name);
    let Some(fields) = reader.fields(node, "a mapping such as { readOnlyHint: true }") else { return hints };
    for entry in fields.rest() {
        reader.within(&entry.key, |reader| {
            let known = AnnotationHint::ALL.iter().find(|(name, _)| *name == entry.key);
            let Some((_, hint)) = known else {
                let mend = match suggest::nearest(&entry.key, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
                };
                reader.fault(&entry.key_at, format!("tools have no annotation `{}`", clip(&entry.key)), mend);
                return None;
            };
            if matches!(entry.value.kind, Kind::Null) {
                reader.wrong_kind(&entry.value, "true or false");
                return None;
            }
            hints.insert(*hint, reader.flag(&entry.value)?)
        });
    }
    hints
}
