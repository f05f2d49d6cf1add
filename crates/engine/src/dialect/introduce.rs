//! Answers `initialize` according to the row. This module must not know how versions differ.

use std::borrow::Cow;

use bytes::Bytes;
use config::dialect_rows::fault_text::Words;
use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::{Needed, VersionPolicy};
use proto::era::{by_version, is_dated};
use proto::json::{Members, quote};
use proto::mcp::{Method, meta};

use super::ask::DialectRequest;
use super::dialect_fault::{DialectFault, string_at};
use super::facts::{Facts, Stop, served};
use crate::fault::Condition;

/// The maximum length of a version that is echoed or reported, in bytes.
const MAX_VERSION: usize = 256;

/// Returns true if the client requests a published version that the row does not list.
pub(super) fn is_standard(row: &Dialect, ask: &DialectRequest) -> bool {
    if matches!(ask.frame().meta(meta::PROTOCOL_VERSION), Ok(Some(_))) {
        return true;
    }
    let opens = ask.method() == Method::Initialize.name();
    opens && asked(ask).is_some_and(|version| is_dated(&version) && !row.hello.versions.contains(&version))
}

fn asked(ask: &DialectRequest) -> Option<Cow<'_, str>> {
    ask.text_param("protocolVersion").filter(|version| version.len() <= MAX_VERSION)
}

/// The result of `initialize`.
pub(super) fn introduce(row: &Dialect, ask: &DialectRequest, facts: Facts<'_>) -> Result<Bytes, Stop> {
    let hello = &row.hello;
    for needed in &hello.initialize_requires {
        need(ask, *needed)?;
    }
    if hello.initialize_requires.contains(&Needed::ClientInfo) {
        client_version(ask)?;
    }
    let version = version(row, ask)?;
    let view = if hello.capabilities.is_none() || hello.instructions || hello.initialize_needs_servers {
        Some(facts.view()?)
    } else {
        None
    };
    if hello.initialize_needs_servers {
        view.map_or(Ok(()), served)?;
    }
    let capabilities = match &hello.capabilities {
        Some(own) => own.0.as_ref(),
        None => view.map_or("{}", |view| view.capabilities()),
    };
    let mut words = Words::default();
    words.text("profile", facts.profile);
    let name = words.fill(&hello.server_name);
    let mut out = format!(
        "{{\"protocolVersion\":{},\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":{},\"version\":{}}}",
        quote(&version),
        quote(&name),
        quote(&hello.server_version),
    );
    if let Some(text) = view.filter(|_| hello.instructions).and_then(|view| view.instructions()) {
        out.push_str(",\"instructions\":");
        out.push_str(&quote(text));
    }
    out.push('}');
    Ok(Bytes::from(out))
}

/// The version to answer with.
fn version<'r>(row: &'r Dialect, ask: &'r DialectRequest) -> Result<Cow<'r, str>, Stop> {
    let own =
        || row.hello.versions.first().map_or(Cow::Borrowed(row.era.version), |v| Cow::Borrowed(v.as_ref()));
    let asked = asked(ask);
    let spoken = asked.as_ref().is_some_and(|asked| row.hello.versions.iter().any(|own| spells(own, asked)));
    match (row.hello.version_policy, asked) {
        (VersionPolicy::Own, _) | (_, None) => Ok(own()),
        (_, Some(asked)) if spoken => Ok(asked),
        (VersionPolicy::Echo, _) => Ok(own()),
        (VersionPolicy::Refuse, Some(asked)) => {
            let versions = row.hello.versions.join(", ");
            let why =
                format!("protocol version {asked:?} is not supported; supported versions are {versions}");
            Err(DialectFault::new(Condition::InvalidParams, why).into())
        }
    }
}

/// Returns true if two texts stand for the same version.
fn spells(own: &str, asked: &str) -> bool {
    own == asked || by_version(own).is_some_and(|era| by_version(asked) == Some(era))
}

/// Checks the client's version, in rows that require client information: the version may be absent, but otherwise it must be a
/// string.
fn client_version(ask: &DialectRequest) -> Result<(), Stop> {
    let text = ask.frame().text();
    let version = ask.param("clientInfo").and_then(|at| Members::of_value(text, at)?.get(text, "version"));
    match version.map(|span| string_at(span.of(text))) {
        Some(None) => {
            let why = "params.clientInfo.version must be a string";
            Err(DialectFault::new(Condition::InvalidParams, why).into())
        }
        _ => Ok(()),
    }
}

fn need(ask: &DialectRequest, needed: Needed) -> Result<(), Stop> {
    let (outer, inner) = needed.word().split_once('.').map_or((needed.word(), None), |(o, i)| (o, Some(i)));
    let text = ask.frame().text();
    let span = ask.param(outer);
    let span = match inner {
        None => span,
        Some(inner) => {
            span.and_then(|at| Members::of_value(text, at)).and_then(|members| members.get(text, inner))
        }
    };
    let is_object = matches!(needed, Needed::Capabilities | Needed::ClientInfo);
    let fits = span.is_some_and(|span| {
        let written = span.of(text);
        if is_object { written[0] == b'{' } else { string_at(written).is_some() }
    });
    if fits {
        return Ok(());
    }
    let kind = if is_object { "an object" } else { "a string" };
    let why = format!("params.{} is required and must be {kind}", needed.word());
    Err(DialectFault::new(Condition::InvalidParams, why).into())
}
