//! Decides which requests the row answers itself and which ones go to the gateway. This module must not know the form
//! of a list or a call.

use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::{Check, Gate};
use proto::mcp::Method;
use proto::rpc::Frame;

use super::ask::DialectRequest;
use super::dialect_fault::DialectFault;
use super::facts::{Facts, Stop, served};
use super::finish::{DialectReply, refuse};
use super::introduce::{introduce, is_standard};
use super::{call, list};
use crate::catalogue::ListKind;
use crate::fault::Condition;

/// The next step for a request.
#[derive(Debug)]
pub enum DialectStep {
    /// Send this answer.
    Done(DialectReply),
    /// Send this answer, which opens the session.
    Introduced(DialectReply),
    /// Forward this request to the gateway, as if it came from a client that uses the row's era and has no session.
    Forward(Frame),
    /// Serve the client with the standard protocol, beginning with this message.
    Standard,
    /// The decision needs a view: call again with one.
    NeedsView,
}

/// Determines the next step for a request.
pub fn begin(row: &Dialect, ask: &DialectRequest, facts: Facts<'_>) -> DialectStep {
    if row.hello.standard_clients && is_standard(row, ask) {
        return DialectStep::Standard;
    }
    match answer(row, ask, facts) {
        Ok(begun) => begun,
        Err(Stop::NeedsView) => DialectStep::NeedsView,
        Err(Stop::Fault(fault)) => DialectStep::Done(refuse(row, Some(ask), &fault)),
    }
}

fn answer(row: &Dialect, ask: &DialectRequest, facts: Facts<'_>) -> Result<DialectStep, Stop> {
    let name = ask.method();
    let among = |list: &[super::Text]| list.contains(&name);
    let empty = among(&row.lists.empty_methods);
    let known = empty || among(&row.lists.methods);
    // A method of the protocol that the row lacks is not forwarded, because it may need a session.
    let tried = row.lists.forward_unknown && Method::from_name(&name).is_none();
    for check in &row.reading.checks {
        match check {
            Check::Known if !known && !tried => {
                let why = format!("method {name:?} is not known here");
                return Err(DialectFault::new(Condition::UnknownMethod, why).about(name).into());
            }
            Check::Initialized if gated(row, &name) && !facts.initialized => {
                let why = format!("method {name:?} came before \"initialize\"");
                return Err(DialectFault::new(Condition::NotInitialized, why).into());
            }
            _ => {}
        }
    }
    let result = |result: &[u8]| Ok(DialectStep::Done(DialectReply::result(ask.id(), result)));
    if empty {
        return result(b"{}");
    }
    let method = Method::from_name(&name).filter(|_| known);
    match method {
        Some(Method::Initialize) => {
            let said = introduce(row, ask, facts)?;
            Ok(DialectStep::Introduced(DialectReply::result(ask.id(), &said)))
        }
        Some(Method::ToolsCall) => call::call(row, ask, facts).map(DialectStep::Forward),
        Some(Method::ResourcesRead) => call::read_resource(ask, facts).map(DialectStep::Forward),
        Some(Method::PromptsGet) => call::get_prompt(ask, facts).map(DialectStep::Forward),
        Some(method) if ListKind::of_method(method).is_some() => {
            let kind = ListKind::of_method(method).unwrap_or(ListKind::Tools);
            // If no server could be asked, a list is unknown rather than empty.
            facts.view.map_or(Ok(()), served)?;
            result(&list::listed(row, ask, facts, kind)?)
        }
        _ => Ok(DialectStep::Forward(ask.frame().clone())),
    }
}

fn gated(row: &Dialect, method: &str) -> bool {
    row.hello.gate == Gate::Session && method != Method::Initialize.name()
}
