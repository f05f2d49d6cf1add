//! What a client is told when no server of its profile speaks its protocol version, so that one that can speak another
//! does, and a person sees which version is missing where. It must not know how versions differ.

use engine::Fault;
use engine::catalogue::View;
use proto::era::Era;
use proto::json::quote;
use proto::rpc::{Frame, code};

/// The refusal of a stateless request: the method is unknown here, which clients take as the sign to shake hands.
pub(super) fn refuse_stateless(view: &View, frame: &Frame) -> Option<Fault> {
    let servers = speakers(view)?;
    let why = format!(
        "cannot be served in protocol version {}: {}; connect with an initialize request instead",
        view.era(),
        listed(&servers)
    );
    Some(Fault::unknown_method(&frame.method(), &why))
}

/// The refusal of an initialize request that asked for `version`, when what is spoken needs none.
pub(super) fn refuse_handshake(view: &View, version: &str) -> Option<Fault> {
    let servers = speakers(view)?;
    let mut supported: Vec<&str> = servers
        .iter()
        .filter_map(|(_, era)| era.filter(|era| !era.has_sessions()))
        .map(|era| era.version)
        .collect();
    supported.dedup();
    if supported.is_empty() {
        return None;
    }
    let message = format!(
        "protocol version {version} cannot be served here: {}; use a client of that version, without an initialize request",
        listed(&servers)
    );
    let quoted: Vec<String> = supported.into_iter().map(quote).collect();
    let data = format!("{{\"supported\":[{}],\"requested\":{}}}", quoted.join(","), quote(version));
    Some(Fault::client(code::INVALID_PARAMS, message).with_status(400).with_data(data))
}

type Speaker<'v> = (&'v str, Option<&'static Era>);

/// All servers with what they speak instead, when none of them is there and none will be when it is tried again.
fn speakers(view: &View) -> Option<Vec<Speaker<'_>>> {
    if view.upstreams().is_empty() {
        return None;
    }
    let speaker = |absence: &engine::catalogue::Absence| (!absence.retry).then_some(absence.speaks);
    view.upstreams().iter().map(|u| Some((&*u.name, speaker(u.offer.as_ref().err()?)?))).collect()
}

fn listed(servers: &[Speaker<'_>]) -> String {
    let one = |(name, era): &Speaker<'_>| match era {
        Some(era) => format!("{name} speaks {era}"),
        None => format!("{name} speaks another one"),
    };
    servers.iter().map(one).collect::<Vec<_>>().join(", ")
}
