//! A server's lists with all of their pages, and one tool from them.

use std::sync::Arc;

use bytes::Bytes;
use config::nearest::nearest;
use config::{Naming, Profile};
use engine::catalogue::{
    Gather, GatherFault, GatherLimits, ListKind, MirroredParam, NameLimit, UpstreamCatalogue, UpstreamId,
    View, ViewSource, ViewSpec,
};
use engine::exchange::Mirror;
use proto::json::{MAX_DEPTH, Members, Span};
use proto::rpc::Id;
use serde_json::Value;

use super::CLIENT_INFO;
use super::client_handler::ClientHandler;
use super::connection::Connection;
use crate::output::console::one_line;
use crate::output::failure::Failure;

/// The limits for fetching lists.
const LIMITS: GatherLimits = GatherLimits { pages: 1000, entries: 100_000 };

/// The maximum size of a schema that is used, in bytes.
const SCHEMA: usize = 1 << 20;

/// Fetches the lists of these kinds that the server supports.
///
/// # Errors
/// Fails if one of them cannot be fetched.
pub(crate) async fn gather(
    connection: &mut Connection,
    kinds: &[ListKind],
    handler: &mut ClientHandler<'_>,
) -> Result<UpstreamCatalogue, Failure> {
    let mut hello = connection.hello.clone();
    hello.capabilities = only(&hello.capabilities, kinds);
    let mut run = Gather::new(hello, LIMITS, CLIENT_INFO);
    while let Some(kind) = run.wants() {
        let key = connection.next_id();
        let Some(text) = run.request(&Id::number(key)) else { break };
        let answer = connection.exchange(key, text, &Mirror::of_method(kind.method()), handler).await?;
        run.feed(&answer).map_err(|fault| match fault {
            GatherFault::Refused { code, message, .. } => {
                Failure::Refused { code, message, data: None, help: None }
            }
            GatherFault::NoList(..) => Failure::new(format!("the server's lists cannot be read: {fault}")),
        })?;
    }
    let catalogue = run.finish();
    for note in &catalogue.notes {
        tracing::warn!("{note}");
    }
    Ok(catalogue)
}

/// Adds a suggestion to a server's refusal of a name: the listed name that was probably meant.
///
/// # Errors
/// Returns the refusal, or any other failure unchanged.
pub(crate) async fn suggested<T>(
    result: Result<T, Failure>,
    connection: &mut Connection,
    kinds: &[ListKind],
    name: &str,
    handler: &mut ClientHandler<'_>,
) -> Result<T, Failure> {
    let refused = match result {
        Err(refused @ Failure::Refused { help: None, .. }) => refused,
        other => return other,
    };
    let Ok(catalogue) = gather(connection, kinds, handler).await else { return Err(refused) };
    let listed = kinds.iter().flat_map(|kind| catalogue.list(*kind)).map(|item| &*item.key);
    match nearest(name, listed.filter(|key| *key != name)) {
        Some(near) => Err(refused.help(format!("did you mean {:?}?", one_line(near)))),
        None => Err(refused),
    }
}

/// Returns the server's capabilities, reduced to those for lists of these kinds.
fn only(capabilities: &Bytes, kinds: &[ListKind]) -> Bytes {
    let announced = Members::of_document(capabilities, MAX_DEPTH).ok();
    let mut wanted: Vec<&str> = kinds.iter().map(|kind| kind.capability()).collect();
    wanted.dedup();
    wanted.retain(|name| announced.as_ref().is_some_and(|members| members.get(capabilities, name).is_some()));
    let members: Vec<String> = wanted.iter().map(|name| format!("\"{name}\":{{}}")).collect();
    Bytes::from(format!("{{{}}}", members.join(",")))
}

/// A tool to call.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The tool's input schema.
    pub(crate) schema: Value,
    mirrored: Box<[MirroredParam]>,
}

impl Tool {
    /// Returns the headers that repeat some of `arguments` (a JSON text); empty if the era has no such headers.
    pub(crate) fn headers(&self, arguments: &str) -> Vec<(String, String)> {
        let text = arguments.as_bytes();
        let header = |param: &MirroredParam| {
            let value = param.value(text, Span::new(0, text.len()))?;
            Some((param.header.clone(), MirroredParam::encode(value.of(text))?))
        };
        self.mirrored.iter().filter_map(header).collect()
    }
}

/// Returns the tool with this name, if it is listed and callable.
pub(crate) fn tool(connection: &Connection, catalogue: UpstreamCatalogue, name: &str) -> Option<Tool> {
    let item = catalogue.list(ListKind::Tools).iter().find(|item| item.key == name)?;
    let schema = item.member("inputSchema").and_then(|text| serde_json::from_slice(&text).ok());
    let profile = Profile { names: Naming::Plain, ..Profile::default() };
    let spec = ViewSpec {
        era: connection.era(),
        profile: &profile,
        limit: NameLimit::of_dialect(),
        names: None,
        server_info: CLIENT_INFO,
        schema_bytes: SCHEMA,
        guard: None,
        separate: false,
        personal: false,
    };
    let upstream = ViewSource {
        id: UpstreamId(0),
        name: "server".into(),
        over_http: connection.over_http(),
        catalogue: Ok(Arc::new(catalogue)),
    };
    let view = View::build(spec, vec![upstream]);
    let mirrored = view.tool(name).map(|entry| entry.mirrored.clone()).unwrap_or_default();
    Some(Tool { schema: schema.unwrap_or_default(), mirrored })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_and_there_is_asked_for() {
        let there = Bytes::from_static(br#"{"tools":{"listChanged":true},"resources":{},"logging":{}}"#);
        assert_eq!(only(&there, &ListKind::ALL).as_ref(), br#"{"tools":{},"resources":{}}"#);
        assert_eq!(only(&there, &[ListKind::Templates]).as_ref(), br#"{"resources":{}}"#);
        assert_eq!(only(&there, &[ListKind::Prompts]).as_ref(), b"{}");
    }
}
