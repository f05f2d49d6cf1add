//! The capabilities of clients and servers, translated from one era to another.
//!
//! Members that neither era defines stay unchanged, including `experimental`. Members that only one era defines are
//! dropped, because the other peer could not honor them.

use bytes::Bytes;

use crate::era::{Elicitation, Era, Shapes, Tasks};
use crate::json::{MAX_DEPTH, Members, Splice};

/// The extension for long-running work (SEP-2663).
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The capability that a server with the experimental form of tasks declares if it runs calls as tasks (MCP
/// 2025-11-25, tasks: capabilities).
const EXPERIMENT: &[u8] = br#"{"cancel":{},"requests":{"tools":{"call":{}}}}"#;

/// Translates a client's capabilities, a JSON object, for a server of another era. A value that is not an object is
/// treated as empty.
pub fn client_capabilities(capabilities: &[u8], from: &Era, to: &Era) -> Bytes {
    // This shortcut pays off, because capabilities are translated for each call, and most clients cannot be asked
    // anything.
    if capabilities == b"{}" {
        return Bytes::from_static(b"{}");
    }
    let Ok(all) = Members::of_document(capabilities, MAX_DEPTH) else { return Bytes::from_static(b"{}") };
    let mut splice = Splice::new(capabilities);
    if from != to {
        let (have, want) = (from.shapes, to.shapes);
        // Tasks on the client's side cannot be carried over, and tasks on the server's side need no
        // capability from the client here.
        splice.remove(&all, b"tasks");
        if !have.roots || !want.roots {
            splice.remove(&all, b"roots");
        } else if let Some(roots) = inside(capabilities, &all, "roots").filter(|_| !to.has_sessions()) {
            // A server without sessions cannot receive notices of changes.
            splice.remove(&roots, b"listChanged");
        }
        if let Some(sampling) = inside(capabilities, &all, "sampling")
            && !(have.sampling_tools && want.sampling_tools)
        {
            splice.remove(&sampling, b"tools").remove(&sampling, b"context");
        }
        elicitation(&mut splice, capabilities, &all, have, want);
        extensions(&mut splice, capabilities, &all, have, want);
    }
    splice.finish()
}

/// Translates a server's capabilities, a JSON object, for a client of another era. A value that is not an object is
/// treated as empty.
pub fn server_capabilities(capabilities: &[u8], from: &Era, to: &Era) -> Bytes {
    let Ok(all) = Members::of_document(capabilities, MAX_DEPTH) else { return Bytes::from_static(b"{}") };
    let mut splice = Splice::new(capabilities);
    if from != to {
        let (have, want) = (from.shapes, to.shapes);
        let has = |name| all.get(capabilities, name).is_some();
        if !want.completions_declared {
            splice.remove(&all, b"completions");
        } else if !have.completions_declared && (has("prompts") || has("resources")) {
            // Servers of this era cannot declare completions. They may complete arguments of prompts and resources all the
            // same.
            splice.set(&all, b"completions", b"{}");
        }
        splice.remove(&all, b"tasks");
        extensions(&mut splice, capabilities, &all, have, want);
        match want.tasks {
            Tasks::Experiment if runs_tasks(capabilities, &all, have) => {
                splice.set(&all, b"tasks", EXPERIMENT);
            }
            Tasks::Extension if runs_tasks(capabilities, &all, have) => {
                match inside(capabilities, &all, "extensions") {
                    Some(inner) => splice.set(&inner, TASKS.as_bytes(), b"{}"),
                    None => splice.set(&all, b"extensions", br#"{"io.modelcontextprotocol/tasks":{}}"#),
                };
            }
            _ => {}
        }
    }
    splice.finish()
}

fn inside(text: &[u8], object: &Members, key: &str) -> Option<Members> {
    Members::of_value(text, object.get(text, key)?)
}

/// Translates the modes in which a user may be asked. Before modes had names, forms were the only mode.
fn elicitation(splice: &mut Splice<'_>, text: &[u8], all: &Members, have: &Shapes, want: &Shapes) {
    let modes = |shapes: &Shapes| shapes.elicitation > Elicitation::PlainForm;
    let inner = inside(text, all, "elicitation");
    let has = |mode| inner.as_ref().is_some_and(|inner| inner.get(text, mode).is_some());
    let never = have.elicitation == Elicitation::None || want.elicitation == Elicitation::None;
    if never || (modes(have) && !modes(want) && has("url") && !has("form")) {
        splice.remove(all, b"elicitation");
    } else if let Some(inner) = inner.as_ref().filter(|_| modes(have) != modes(want)) {
        splice.remove(inner, b"url").remove(inner, b"form");
        if modes(want) {
            splice.set(inner, b"form", b"{}");
        }
    }
}

/// Returns true if a server runs calls as tasks, according to the declaration of its era.
fn runs_tasks(text: &[u8], all: &Members, have: &Shapes) -> bool {
    let path: &[&str] = match have.tasks {
        Tasks::None => return false,
        Tasks::Experiment => &["tasks", "requests", "tools", "call"],
        Tasks::Extension => &["extensions", TASKS],
    };
    let mut at = Some(all.span());
    for key in path {
        at = at.and_then(|span| Members::of_value(text, span)?.get(text, key));
    }
    at.is_some()
}

/// Extensions pass unchanged, also through eras that do not define them, unless peers of the other era may reject unknown
/// members. The tasks extension is the exception: the gateway translates it.
fn extensions(splice: &mut Splice<'_>, text: &[u8], all: &Members, have: &Shapes, want: &Shapes) {
    let Some(inner) = inside(text, all, "extensions") else { return };
    let tasks = inner.get(text, TASKS).is_some();
    let kept = have.tasks == Tasks::Extension && want.tasks == Tasks::Extension;
    if want.strict || (tasks && !kept && inner.len() == 1) {
        splice.remove(all, b"extensions");
    } else if tasks && !kept {
        splice.remove(&inner, TASKS.as_bytes());
    }
}
