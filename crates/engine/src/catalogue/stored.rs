//! A server's catalogue as text that outlives the process. This module must not know where the text is stored.
//!
//! Items are written as JSON strings, so that an item with deep nesting does not make the rest unreadable.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use config::ServerTools;
use proto::era::{CacheHint, CacheScope, ServerHello, by_version};
use proto::json::{Elements, MAX_DEPTH, Members, quote, unquote};

use super::first_use::FirstUse;
use super::upstream_catalogue::{ListFaults, Lists};
use super::{Item, ListKind, UpstreamCatalogue};

/// Writes an introduction: the members of a JSON object, without braces.
pub fn write_hello(hello: &ServerHello, out: &mut String) {
    let text = |bytes: &Bytes| quote(&String::from_utf8_lossy(bytes));
    let _ =
        write!(out, "\"era\":{},\"capabilities\":{}", quote(hello.era.version), text(&hello.capabilities));
    let _ = write!(out, ",\"info\":{}", text(&hello.info));
    if let Some(instructions) = &hello.instructions {
        let _ = write!(out, ",\"instructions\":{}", quote(instructions));
    }
}

/// Reads an introduction; `None` for any other text, and for a version that is no longer supported.
pub fn read_hello(text: &[u8], members: &Members) -> Option<ServerHello> {
    let string = |key: &str| string(text, members, key);
    let own = |key: &str| Some(Bytes::from(string(key)?));
    Some(ServerHello {
        era: by_version(&string("era")?)?,
        capabilities: own("capabilities")?,
        info: own("info")?,
        instructions: string("instructions"),
    })
}

/// Writes the catalogue of a server, a JSON object.
pub fn write(catalogue: &UpstreamCatalogue, out: &mut String) {
    out.push('{');
    write_hello(&catalogue.hello, out);
    let scope = if catalogue.cache.scope == CacheScope::Public { "public" } else { "private" };
    let _ = write!(out, ",\"listedIn\":{}", quote(catalogue.listed_in.version));
    let _ = write!(out, ",\"ttlMs\":{},\"cacheScope\":\"{scope}\"", catalogue.cache.ttl_ms);
    if !catalogue.behind.is_empty() {
        let marks: Vec<String> = catalogue.behind.iter().map(|mark| quote(mark)).collect();
        let _ = write!(out, ",\"behind\":[{}]", marks.join(","));
    }
    for kind in ListKind::ALL {
        let items: Vec<String> =
            catalogue.list(kind).iter().map(|item| quote(&String::from_utf8_lossy(&item.text))).collect();
        let _ = write!(out, ",\"{}\":[{}]", kind.member(), items.join(","));
    }
    out.push('}');
}

/// Reads a stored catalogue, which is unconfirmed; `None` for any other text. Unreadable items are left out, and so are
/// tools that are no longer served.
pub fn read(text: &[u8], served: &ServerTools) -> Option<UpstreamCatalogue> {
    let members = Members::of_document(text, MAX_DEPTH).ok()?;
    let hello = read_hello(text, &members)?;
    let scope = match string(text, &members, "cacheScope")?.as_str() {
        "public" => CacheScope::Public,
        _ => CacheScope::Private,
    };
    let ttl = members.get(text, "ttlMs")?;
    let ttl_ms = std::str::from_utf8(ttl.of(text)).ok()?.parse().ok()?;
    let mut lists = Lists::default();
    for kind in ListKind::ALL {
        let items = Elements::of_value(text, members.get(text, kind.member())?)?;
        let item = |span: proto::json::Span| Item::read(kind, Bytes::from(unquoted(span.of(text))?));
        lists[kind.index()].extend(items.iter().filter_map(item));
    }
    lists[ListKind::Tools.index()].retain(|tool| served.admits(&tool.key));
    Some(UpstreamCatalogue {
        listed_in: by_version(&string(text, &members, "listedIn")?)?,
        hello,
        cache: CacheHint { ttl_ms, scope },
        notes: Vec::new(),
        left_out: 0,
        reader: None,
        behind: behind(text, &members).into(),
        is_confirmed: false,
        failed: ListFaults::default(),
        held: Arc::default(),
        refusals: FirstUse::default(),
        tool_tokens: FirstUse::default(),
        lists: Arc::new(lists),
    })
}

fn behind(text: &[u8], members: &Members) -> Vec<Box<str>> {
    let marks = members.get(text, "behind").and_then(|span| Elements::of_value(text, span));
    let each = marks.iter().flat_map(Elements::iter);
    each.filter_map(|span| Some(unquoted(span.of(text))?.into_boxed_str())).collect()
}

fn string(text: &[u8], members: &Members, key: &str) -> Option<String> {
    unquoted(members.get(text, key)?.of(text))
}

fn unquoted(text: &[u8]) -> Option<String> {
    Some(unquote(text.strip_prefix(b"\"")?.strip_suffix(b"\"")?)?.into_owned())
}

#[cfg(test)]
mod tests {
    use proto::era::V2025_11_25;

    use super::*;

    #[test]
    fn what_is_written_is_read_again_byte_for_byte() {
        let deep = format!(r#"{{"name":"deep","x":{}{}}}"#, "[".repeat(100), "]".repeat(100));
        let item = |text: &str| Item::read(ListKind::Tools, Bytes::from(text.to_owned())).unwrap();
        let mut lists = Lists::default();
        lists[ListKind::Tools.index()] = vec![item(r#"{ "name":"a\"b", "é":1.0e0 }"#), item(&deep)];
        let hello = ServerHello {
            era: &V2025_11_25,
            capabilities: Bytes::from_static(br#"{"tools":{ "x":1 }}"#),
            info: Bytes::from_static(br#"{"name":"up","version":"1"}"#),
            instructions: Some("Say \"please\".\n".to_owned()),
        };
        let cache = CacheHint { ttl_ms: 5_000, scope: CacheScope::Public };
        let (notes, reader, listed_in, lists) = (Vec::new(), None, hello.era, Arc::new(lists));
        let (left_out, is_confirmed, failed) = (0, true, ListFaults::default());
        let catalogue = UpstreamCatalogue {
            hello,
            listed_in,
            cache,
            notes,
            left_out,
            reader,
            behind: [Box::from("a mark")].into(),
            is_confirmed,
            failed,
            held: Arc::default(),
            refusals: FirstUse::default(),
            tool_tokens: FirstUse::default(),
            lists,
        };
        let mut text = String::new();
        write(&catalogue, &mut text);
        let found = read(text.as_bytes(), &ServerTools::default()).unwrap();
        assert!(found.same_lists(&catalogue) && !found.is_confirmed);
        assert_eq!(found.list(ListKind::Tools)[0].key, "a\"b");
        assert_eq!(
            (found.hello.capabilities, found.hello.info),
            (catalogue.hello.capabilities, catalogue.hello.info)
        );
        assert_eq!(found.behind, catalogue.behind);
        assert_eq!((found.hello.instructions, found.cache), (catalogue.hello.instructions, catalogue.cache));
        let never = vec![config::Glob::parse("dee*").unwrap()];
        let less = read(text.as_bytes(), &ServerTools { only: None, never }).unwrap();
        assert_eq!(less.list(ListKind::Tools).len(), 1, "tools that are not served any more are left out");
        for cut in 0..text.len() {
            assert!(read(&text.as_bytes()[..cut], &ServerTools::default()).is_none(), "{cut}");
        }
    }
}
