//! How a rule of `access` is written, for the schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::model::AccessRule;
use crate::config::glob::Glob;
use crate::config::ip::IpRange;
use crate::config::written::{Flag, OneOrMany, ValuesByPlace};
use crate::principal::Scheme;

/// One rule: what it allows or denies, to whom, and when. Rules that deny always count; as soon as there is one that
/// allows, only what is allowed may be used.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, extend("oneOf" = [{"required": ["allow"]}, {"required": ["deny"]}]))]
#[expect(dead_code, reason = "only its schema is used")]
struct Rule {
    /// What may be used: patterns of names of tools and prompts as clients see them, and of URIs of resources.
    allow: Option<OneOrMany<Glob>>,
    /// What may not be used, in the same way.
    deny: Option<OneOrMany<Glob>>,
    /// Only in these profiles (patterns).
    profiles: Option<OneOrMany<Glob>>,
    /// Only what these servers offer (patterns).
    servers: Option<OneOrMany<Glob>>,
    /// Only for these askers.
    who: Option<Who>,
    /// For everybody but these.
    unless: Option<Who>,
    /// Only for tools that are like this, and calls with such arguments.
    when: Option<When>,
}

/// Askers. Of one kind of mark any counts; marks of several kinds must all be there.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::config) struct Who {
    /// API keys, by prefix or name (patterns).
    key: Option<OneOrMany<Glob>>,
    /// Users, by name (patterns).
    user: Option<OneOrMany<Glob>>,
    /// Scopes of a token (patterns).
    scope: Option<OneOrMany<Glob>>,
    /// Claims of a token by their place, `department` or `/realm/roles`, each with what its value may be (patterns).
    claim: Option<ValuesByPlace>,
    /// Where the request comes from.
    ip: Option<OneOrMany<IpRange>>,
    /// How they showed who they are.
    scheme: Option<OneOrMany<Scheme>>,
}

/// Conditions, which must all hold.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct When {
    /// Arguments of the call by their place, `path` or `/owner/name`, each with what its value may be (patterns).
    arguments: Option<ValuesByPlace>,
    /// What the server says of the tool.
    annotations: Option<Annotations>,
}

/// What the server says of a tool; what it does not say counts as the specification has it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, clippy::struct_field_names, reason = "only its schema is used; the names are MCP's")]
struct Annotations {
    /// It changes nothing.
    read_only_hint: Option<Flag>,
    /// It may destroy something.
    destructive_hint: Option<Flag>,
    /// Calling it twice is like calling it once.
    idempotent_hint: Option<Flag>,
    /// It reaches beyond the server.
    open_world_hint: Option<Flag>,
}

impl JsonSchema for AccessRule {
    fn schema_name() -> Cow<'static, str> {
        "AccessRule".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Rule::json_schema(generator)
    }
}
