//! The one token for all callers.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::check;
use crate::reading::reader::Reader;
use crate::reading::spellings::{Flag, Spelling};
use crate::syntax::parse::{Entry, NodeKind};
use crate::values::text::Text;

/// The one token for all callers.
#[derive(Debug, Clone, PartialEq)]
pub struct Bearer {
    /// The token; never empty.
    pub token: Text,
}

/// A token, or a mapping that can make it optional.
pub(super) struct BearerToken;

impl Spelling<Option<Bearer>> for BearerToken {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        _: Option<&Option<Bearer>>,
    ) -> Option<Option<Bearer>> {
        let NodeKind::Map(_) = &entry.value.kind else { return Some(read_token(reader, entry, false)) };
        let mut fields = reader.fields(&entry.value, "a token, or a mapping with `token`")?;
        let optional = reader.flag_in(&mut fields, "optional", false);
        let bearer = match fields.take("token") {
            Some(token) => reader.within("token", |reader| read_token(reader, token, optional)),
            None if optional => None,
            None => {
                reader.fault(&entry.key_at, "`token` is missing", "add it: token: \"${TOKEN}\"");
                None
            }
        };
        reader.refuse(&fields.rest(), &["token", "optional"]);
        Some(bearer)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut optional = Flag.schema(generator);
        optional.insert(
            "description".to_owned(),
            "Allows the token to be empty. In that case, callers need no token.".into(),
        );
        optional.insert("default".to_owned(), false.into());
        json_schema!({ "anyOf": [{ "type": "string" }, {
            "type": "object",
            "properties": { "token": { "type": "string", "description": "The token." }, "optional": optional },
            "required": ["token"],
            "additionalProperties": false,
        }] })
    }

    fn shown(&self, bearer: &Option<Bearer>) -> Value {
        bearer.as_ref().map_or(Value::Null, |bearer| json!(bearer.token.shown()))
    }
}

fn read_token(reader: &mut Reader<'_>, entry: &Entry, optional: bool) -> Option<Bearer> {
    // An unset variable counts as an empty value where an empty value is allowed.
    let switched_off = reader.switched_off;
    reader.switched_off |= optional;
    let token = reader.secret_text(&entry.value, "a token as a string");
    reader.switched_off = switched_off;
    let token = token?;
    if token.expose().is_empty() {
        if !optional {
            let help = "set the token; or, to require none while the variable is unset, write { token: \"${TOKEN:-}\", optional: true }";
            reader.fault(&entry.value.at, "the token is empty", help);
        }
        return None;
    }
    reader.sound(&entry.value.at, check::token(token.expose()))?;
    Some(Bearer { token })
}
