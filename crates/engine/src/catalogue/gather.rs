//! Fetches an upstream's lists, page by page, as a state machine: requests out, answers in.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use config::ServerTools;
use proto::era::{CacheHint, Era, ServerHello, own_meta};
use proto::json::{Elements, MAX_DEPTH, Members, Scanner, quote};
use proto::mcp::{THROUGH, marks_behind};
use proto::rpc::{Frame, FrameKind, Id, RpcError, code};

use super::first_use::FirstUse;
use super::gather_notes::GatherNotes;
use super::hidden::{ScreeningResult, screen, screen_text};
use super::page_queue::{PageQueue, PageRequest};
use super::selection::ToolSelection;
use super::soundness::{ItemCheck, check};
use super::upstream_catalogue::{ListFaults, Lists};
use super::{Item, ListKind, UpstreamCatalogue};

/// The maximum nesting of arrays and objects in an item. The item itself is nested three levels deep: in a list in the result
/// of a message.
const ITEM_DEPTH: u32 = MAX_DEPTH - 3;

/// Caps on the fetched lists.
#[derive(Debug, Clone, Copy)]
pub struct GatherLimits {
    /// The maximum number of pages of one list.
    pub pages: usize,
    /// The maximum number of items of all lists together.
    pub entries: usize,
}

/// The reason why an upstream's list is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GatherFault {
    /// The upstream answered with an error.
    #[error("{method} was answered with error {code}: {message}")]
    Refused {
        /// The method of the request.
        method: &'static str,
        /// The code of the upstream's error.
        code: i32,
        /// The message of the upstream's error.
        message: String,
    },
    /// The answer does not contain the list.
    #[error("the answer to {0} has no array `{1}`")]
    NoList(&'static str, &'static str),
}

/// One run that fetches an upstream's lists.
#[derive(Debug)]
pub struct Gather {
    limits: GatherLimits,
    client_info: String,
    queue: PageQueue,
    /// The kinds and keys of the items in the lists.
    seen: HashSet<(ListKind, String)>,
    hint: Option<CacheHint>,
    selection: ToolSelection,
    hello: ServerHello,
    notes: GatherNotes,
    lists: Lists,
    failed: ListFaults,
    /// True once a page has been read.
    has_read: bool,
    /// The client's capabilities, a JSON object, for versions in which each request declares them.
    capabilities: String,
    /// This gateway's mark for the server, if the server is a gateway that also lists items of this gateway.
    through: Option<Box<str>>,
    /// The marks of the servers behind this server; only gateways send such marks.
    behind: Vec<Box<str>>,
}

impl Gather {
    /// A run that fetches the lists that the upstream announced. `client_info` is the gateway's own name and version, a
    /// JSON object.
    pub fn new(mut hello: ServerHello, limits: GatherLimits, client_info: &str) -> Self {
        let mut notes = GatherNotes::default();
        if let Some(Cow::Owned(text)) = hello.instructions.as_deref().map(screen_text) {
            notes.screened.instructions();
            hello.instructions = Some(text);
        }
        let announced = Members::of_document(&hello.capabilities, proto::json::MAX_DEPTH).ok();
        let has = |kind: &ListKind| {
            announced.as_ref().is_some_and(|m| m.get(&hello.capabilities, kind.capability()).is_some())
        };
        let asked = |kind: &ListKind| hello.era.knows(kind.method()) && has(kind);
        let queue = PageQueue::new(ListKind::ALL.into_iter().filter(asked), limits.pages);
        Self {
            limits,
            client_info: client_info.to_owned(),
            queue,
            seen: HashSet::new(),
            hint: None,
            selection: ToolSelection::default(),
            hello,
            notes,
            lists: Lists::default(),
            failed: ListFaults::default(),
            has_read: false,
            capabilities: "{}".to_owned(),
            through: None,
            behind: Vec::new(),
        }
    }

    /// Sets the clients' capabilities, a JSON object. Each request declares them if the era requires that;
    /// otherwise the link has already declared them.
    #[must_use]
    pub fn for_clients(self, capabilities: String) -> Self {
        Self { capabilities, ..self }
    }

    /// Limits the run to the tools that the configuration selects.
    #[must_use]
    pub fn serving(self, tools: ServerTools) -> Self {
        Self { selection: ToolSelection::new(tools), ..self }
    }

    /// Sets the gateway's mark for the server. With a mark, each request asks the server to leave out the items
    /// that come from this gateway.
    #[must_use]
    pub fn through(self, mark: Option<Box<str>>) -> Self {
        Self { through: mark, ..self }
    }

    /// The list that the next request asks for; `None` once all lists are complete.
    pub fn wants(&self) -> Option<ListKind> {
        self.queue.next().map(|request| request.kind)
    }

    /// The next request to the upstream, under this id; `None` once all lists are complete.
    pub fn request(&self, id: &Id) -> Option<Bytes> {
        let PageRequest { kind, cursor, .. } = self.queue.next()?;
        let meta = self.meta();
        let cursor = cursor.as_ref().map(|c| format!("\"cursor\":{c}")).unwrap_or_default();
        let comma = if meta.is_empty() || cursor.is_empty() { "" } else { "," };
        let method = quote(kind.method().name());
        Some(Bytes::from(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{{{meta}{comma}{cursor}}}}}"
        )))
    }

    /// The member `_meta` of each request; empty if it would have no content.
    fn meta(&self) -> String {
        let meta = own_meta(self.era(), &self.capabilities, &self.client_info);
        let Some(mark) = &self.through else { return meta };
        let through = format!("{}:{}", quote(THROUGH), quote(mark));
        match meta.strip_suffix('}') {
            Some(others) => format!("{others},{through}}}"),
            None => format!("\"_meta\":{{{through}}}"),
        }
    }

    /// Handles the answer to the last request. A failed list does not affect the others: the run continues with the
    /// next one, and keeps the pages that were read.
    ///
    /// # Errors
    /// Returns [`GatherFault`]. If the upstream does not support a list, that list is empty, except for tools,
    /// where this is a fault.
    pub fn feed(&mut self, answer: &Frame) -> Result<(), GatherFault> {
        let asked = self.wants();
        let fed = self.read(answer);
        if let (Some(kind), Err(fault)) = (asked, &fed) {
            self.failed[kind.index()] = Some(fault.to_string().into());
        }
        fed
    }

    /// Records that the last request was not answered, and continues with the next list.
    pub fn fail(&mut self, why: impl fmt::Display) {
        let Some(PageRequest { kind, .. }) = self.queue.pop() else { return };
        self.failed[kind.index()] = Some(format!("{}: {why}", kind.method().name()).into());
    }

    /// Returns true if lists have failed, and no page of any list was read.
    pub fn is_in_vain(&self) -> bool {
        !self.has_read && self.failed.iter().any(Option::is_some)
    }

    fn read(&mut self, answer: &Frame) -> Result<(), GatherFault> {
        let Some(request) = self.queue.pop() else { return Ok(()) };
        let kind = request.kind;
        let method = kind.method().name();
        let text = answer.text();
        let refused = answer.payload().filter(|_| answer.kind() == FrameKind::Error);
        if let Some(error) = refused.and_then(|span| RpcError::of_value(text, span)) {
            // Many servers declare lists that they do not have.
            if kind != ListKind::Tools && error.code == code::METHOD_NOT_FOUND {
                return Ok(());
            }
            let message = error.message.and_then(|m| answer.string(m)).unwrap_or_default().into_owned();
            return Err(GatherFault::Refused { method, code: error.code, message });
        }
        let fault = GatherFault::NoList(method, kind.member());
        let Some(result) = answer.payload().and_then(|span| Members::of_value(text, span)) else {
            return Err(fault);
        };
        if self.behind.is_empty() {
            self.behind = marks_behind(text, &result);
        }
        let list = |kind: ListKind| Elements::of_value(text, result.get(text, kind.member())?);
        let era = self.era();
        let both = kind == ListKind::Resources && era.shapes.templates_in_resources;
        match list(kind) {
            Some(items) => items.iter().for_each(|span| self.take(kind, span.of(text))),
            // If one answer contains both lists, either may be missing (MCP "1", `ListResourcesResult`).
            None if both => {}
            None => return Err(fault),
        }
        self.has_read = true;
        if let Some(templates) = list(ListKind::Templates).filter(|_| both) {
            templates.iter().for_each(|span| self.take(ListKind::Templates, span.of(text)));
        }
        let hint = if era.typed_results { CacheHint::of_result(text, &result) } else { CacheHint::NONE };
        self.hint = Some(self.hint.map_or(hint, |h| h.and(hint)));
        let next = result.get(text, "nextCursor").filter(|span| era.shapes.pages && span.of(text)[0] == b'"');
        if let Some(cursor) = next.map(|span| String::from_utf8_lossy(span.of(text)).into_owned())
            && let Err(why) = self.queue.follow(request, cursor)
        {
            self.notes.add(why);
        }
        Ok(())
    }

    fn take(&mut self, kind: ListKind, text: &[u8]) {
        if self.seen.len() == self.limits.entries {
            return self.notes.omit(format!(
                "the server lists more than {} entries; the rest is ignored",
                self.limits.entries
            ));
        }
        if Scanner::new(text, ITEM_DEPTH).and_then(|scanner| scanner.document()).is_err() {
            let what = format!("{} {}", kind.member(), shown_key(kind, text));
            return self
                .notes
                .omit(format!("{what} is left out: it nests more than {ITEM_DEPTH} arrays and objects"));
        }
        // The buffer of a page is released when the page's items are merged, so each item is copied.
        let own = match screen(kind, text) {
            ScreeningResult::Clean => Bytes::copy_from_slice(text),
            ScreeningResult::Cleaned(text) => {
                self.notes.screened.cleaned(kind);
                text
            }
            ScreeningResult::Refused(found) => {
                self.notes.left_out += 1;
                return self.notes.screened.refused(kind, text, found);
            }
        };
        let own = match check(kind, &own, self.era().shapes.structured) {
            ItemCheck::Sound => own,
            ItemCheck::Repaired(text, what) => {
                self.notes.repaired(what, || format!("{} {}", kind.member(), shown_key(kind, &own)));
                text
            }
            ItemCheck::Unsound(why) => {
                return self.notes.omit(format!(
                    "{} {} is left out: {why}",
                    kind.member(),
                    shown_key(kind, &own)
                ));
            }
        };
        let Some(item) = Item::read(kind, own) else {
            return self.notes.omit(format!(
                "an entry of {} without a {} is left out",
                kind.member(),
                kind.key()
            ));
        };
        if kind == ListKind::Tools && !self.selection.admits(&item.key) {
            return;
        }
        if !self.seen.insert((kind, item.key.clone())) {
            return self.notes.add(format!(
                "{} {:?} is listed twice; the first one is used",
                kind.member(),
                item.key
            ));
        }
        self.lists[kind.index()].push(item);
    }

    fn era(&self) -> &'static Era {
        self.hello.era
    }

    /// The catalogue made from everything that was fetched.
    pub fn finish(self) -> UpstreamCatalogue {
        let (notes, left_out) = self.notes.finish(self.selection.note());
        UpstreamCatalogue {
            listed_in: self.hello.era,
            hello: self.hello,
            cache: self.hint.unwrap_or(CacheHint::NONE),
            notes,
            left_out,
            reader: None,
            behind: self.behind.into(),
            is_confirmed: true,
            failed: self.failed,
            held: Arc::default(),
            refusals: FirstUse::default(),
            tool_tokens: FirstUse::default(),
            lists: Arc::new(self.lists),
        }
    }
}

/// A shortened key of an item, for a note.
fn shown_key(kind: ListKind, text: &[u8]) -> String {
    match Item::read(kind, Bytes::copy_from_slice(text)) {
        Some(item) => format!("{:?}", item.key.chars().take(100).collect::<String>()),
        None => format!("without a {}", kind.key()),
    }
}
