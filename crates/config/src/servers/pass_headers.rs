//! `passHeaders`: the headers of clients' requests that are passed on to a server. This module must not know requests.

use http::HeaderName;
use http::header::AUTHORIZATION;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::reading::reader::Reader;
use crate::reading::spellings::{Spelling, item};
use crate::syntax::parse::{Entry, NodeKind};
use crate::values::check::{Flaw, header_name};
use crate::values::words::is_word_of;

/// The maximum number of headers that one server gets from clients' requests.
const MOST: usize = 16;

/// Headers that contain the address of a client, or the proxies that forwarded its request.
const ON_THE_WAY: &str =
    "cf-connecting-ip forwarded true-client-ip via x-client-ip x-cluster-client-ip x-real-ip";

/// Headers that hold a client's credentials, or name the web page that sent the request.
const OF_CLIENTS: &str = "authorization cookie cookie2 origin referer x-imgbb-api-key";

/// A header of a client's request that is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedHeader {
    /// The header's name in the client's request.
    pub from: HeaderName,
    /// The header's name in requests to the server.
    pub to: HeaderName,
}

/// A list of names, or of mappings with `from` and `to`.
pub(crate) struct PassedHeaderList;

impl Spelling<Vec<PassedHeader>> for PassedHeaderList {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        _: Option<&Vec<PassedHeader>>,
    ) -> Option<Vec<PassedHeader>> {
        let items = reader.items(&entry.value, "a list of header names", false)?;
        if items.len() > MOST {
            let message = format!("this list has {} headers", items.len());
            reader.fault(&entry.value.at, message, format!("write at most {MOST}"));
            return None;
        }
        let mut all: Vec<PassedHeader> = Vec::new();
        for (index, node) in items.into_iter().enumerate() {
            let item = item(index, node);
            let Some(one) = reader.within(&item.key, |reader| read_one(reader, &item)) else { continue };
            if all.iter().any(|other| other.to == one.to) {
                let message = format!("the server gets `{}` twice", one.to);
                reader.within(&item.key, |reader| reader.fault(&node.at, message, "keep one of the two"));
                continue;
            }
            all.push(one);
        }
        Some(all)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        let name = json!({ "type": "string" });
        let renamed = json!({
            "type": "object", "properties": { "from": name, "to": name }, "required": ["from", "to"],
            "additionalProperties": false,
        });
        json_schema!({ "type": "array", "items": { "anyOf": [name, renamed] }, "maxItems": MOST })
    }

    fn written(&self, all: &Vec<PassedHeader>) -> Value {
        if all.is_empty() { Value::Null } else { all.iter().map(|one| one.from.as_str()).collect() }
    }

    fn shown(&self, headers: &Vec<PassedHeader>) -> Value {
        let one = |header: &PassedHeader| json!({ "from": header.from.as_str(), "to": header.to.as_str() });
        if headers.is_empty() { Value::Null } else { headers.iter().map(one).collect() }
    }
}

fn read_one(reader: &mut Reader<'_>, item: &Entry) -> Option<PassedHeader> {
    if let NodeKind::Scalar { .. } = item.value.kind {
        let name = name(reader, item, in_request)?;
        let to = reader.sound(&item.value.at, at_server(name.as_str()))?;
        return Some(PassedHeader { from: name, to });
    }
    let mut fields = reader.fields(&item.value, "a header name, or a mapping with `from` and `to`")?;
    let (from, to) = (fields.take("from"), fields.take("to"));
    reader.refuse(&fields.rest(), &["from", "to"]);
    let read = |reader: &mut Reader<'_>, entry: Option<&Entry>, key: &str, check| {
        if entry.is_none() {
            let help = "write { from: NAME, to: NAME }";
            reader.fault(&item.value.at, format!("there is no `{key}`"), help);
        }
        reader.within(key, |reader| name(reader, entry?, check))
    };
    let from = read(reader, from, "from", in_request);
    let to = read(reader, to, "to", at_server);
    Some(PassedHeader { from: from?, to: to? })
}

fn name(
    reader: &mut Reader<'_>,
    entry: &Entry,
    check: fn(&str) -> Result<HeaderName, Flaw>,
) -> Option<HeaderName> {
    let text = reader.text(&entry.value, "a header name")?;
    reader.sound_text(&entry.value.at, &text, check(text.expose()))
}

/// Checks the name of a header in a client's request.
fn in_request(name: &str) -> Result<HeaderName, Flaw> {
    let name = not_of_the_connection(name)?;
    if name == AUTHORIZATION {
        let help = "let clients send the server's token in another header: { from: x-server-authorization, to: authorization }";
        return Err(Flaw::new(
            "`authorization` carries the credential for Dragoman, which no server may get",
            help,
        ));
    }
    let text = name.as_str();
    if is_word_of(text, OF_CLIENTS) || text.starts_with("x-wordpress-") || text.starts_with("sec-") {
        let message = format!("the header `{name}` concerns only the client and Dragoman");
        return Err(Flaw::new(message, "let clients send the value in another header"));
    }
    Ok(name)
}

/// Checks the name of a header in requests to the server.
fn at_server(name: &str) -> Result<HeaderName, Flaw> {
    not_of_the_connection(name)
}

fn not_of_the_connection(name: &str) -> Result<HeaderName, Flaw> {
    let name = header_name(name)?;
    let text = name.as_str();
    let is_own = ["mcp-", "proxy-", "content-", "x-forwarded-"].iter().any(|prefix| text.starts_with(prefix));
    if is_own || is_word_of(text, ON_THE_WAY) {
        let message = format!("the header `{name}` belongs to the protocol or the connection");
        return Err(Flaw::new(message, "remove it"));
    }
    Ok(name)
}
