//! Checks each listed item. Some SDKs reject a whole list because of one item that violates the protocol. So an item
//! that cannot be understood is left out, and an unambiguous error is repaired. This module must not know servers, or
//! what the items are used for.
//!
//! Members that the protocol does not define are ignored here and pass unchanged.

mod forms;
mod schemas;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use bytes::Bytes;
use proto::era::Structured;
use proto::json::{Members, Span, Splice};

use self::forms::{PROMPT, RESOURCE, TEMPLATE, TOOL, members};
use self::schemas::schemas;
use super::ListKind;

/// The maximum size of one item, in bytes: a longer item would fill the context of any model.
const LONGEST: usize = 256 << 10;

/// The outcome of checking an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ItemCheck {
    /// The item conforms to the protocol.
    Sound,
    /// The repaired item, and a description of the repair.
    Repaired(Bytes, &'static str),
    /// The item cannot be understood, for this reason.
    Unsound(Cow<'static, str>),
}

/// Checks the JSON text of an item, which was validated before. `structured` is the form of structured results in the
/// server's version.
pub(super) fn check(kind: ListKind, text: &[u8], structured: Structured) -> ItemCheck {
    if text.len() > LONGEST {
        return unsound(format!(
            "the item is {} KiB long, but at most {} KiB are passed on",
            text.len() >> 10,
            LONGEST >> 10
        ));
    }
    let Some(item) = Members::of_value(text, Span::new(0, text.len())) else {
        return unsound("the item is not an object, or is nested too deeply");
    };
    let rules = match kind {
        ListKind::Tools => TOOL,
        ListKind::Prompts => PROMPT,
        ListKind::Resources => RESOURCE,
        ListKind::Templates => TEMPLATE,
    };
    let mut repair = Repair { splice: Splice::new(text), what: None };
    if let Err(why) = members(text, &item, rules, &mut repair) {
        return unsound(why);
    }
    let outcome = match kind {
        ListKind::Tools => schemas(text, &item, structured, &mut repair),
        ListKind::Resources | ListKind::Templates => {
            name(text, &item, kind, &mut repair);
            Ok(())
        }
        ListKind::Prompts => Ok(()),
    };
    match (outcome, repair.what) {
        (Err(why), _) => unsound(why),
        (Ok(()), None) => ItemCheck::Sound,
        (Ok(()), Some(what)) => ItemCheck::Repaired(repair.splice.finish(), what),
    }
}

fn unsound(why: impl Into<Cow<'static, str>>) -> ItemCheck {
    ItemCheck::Unsound(why.into())
}

/// The repairs of one item.
struct Repair<'a> {
    splice: Splice<'a>,
    /// A description of the first repair.
    what: Option<&'static str>,
}

impl Repair<'_> {
    fn note(&mut self, what: &'static str) {
        self.what.get_or_insert(what);
    }
}

/// If a resource has no name, uses its URI as the name.
fn name<'a>(text: &'a [u8], item: &Members, kind: ListKind, repair: &mut Repair<'a>) {
    if item.get(text, "name").is_none_or(|span| span.of(text) == b"null")
        && let Some(uri) = item.get(text, kind.key())
    {
        repair.splice.set(item, b"name", uri.of(text));
        repair.note("name was missing; the URI replaces it");
    }
}
