//! Fetching an upstream's lists, page after page, as a state machine: requests out, answers in.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use bytes::Bytes;
use proto::era::{CacheHint, Era, ServerHello, own_meta};
use proto::json::{Elements, Members, quote};
use proto::rpc::{Frame, Id, Kind, RpcError, code};

use super::hidden::{Screening, ScreeningNote, screen, screen_text};
use super::selection::ToolSelection;
use super::{Item, ListKind, Offer};
use crate::config::ServerTools;

/// Caps on what is fetched.
#[derive(Debug, Clone, Copy)]
pub struct GatherLimits {
    /// Pages of one list.
    pub pages: usize,
    /// Items of all lists together.
    pub entries: usize,
}

/// The reason why an upstream's list cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GatherFault {
    /// It answered with an error.
    #[error("{method} was answered with error {code}: {message}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// The error's code.
        code: i32,
        /// The error's message.
        message: String,
    },
    /// The answer has no such list.
    #[error("the answer to {0} has no array of {1}")]
    NoList(&'static str, &'static str),
}

/// One run through an upstream's lists.
#[derive(Debug)]
pub struct Gather {
    limits: GatherLimits,
    client_info: String,
    todo: VecDeque<(ListKind, Option<String>)>,
    pages: usize,
    entries: usize,
    seen: HashSet<String>,
    hint: Option<CacheHint>,
    screened: ScreeningNote,
    selection: ToolSelection,
    offer: Offer,
}

impl Gather {
    /// A run through the lists that the upstream announced. `client_info` is the gateway's own, as JSON.
    pub fn new(mut hello: ServerHello, limits: GatherLimits, client_info: &str) -> Self {
        let mut screened = ScreeningNote::default();
        if let Some(Cow::Owned(text)) = hello.instructions.as_deref().map(screen_text) {
            screened.instructions();
            hello.instructions = Some(text);
        }
        let announced = Members::of_document(&hello.capabilities, proto::json::MAX_DEPTH).ok();
        let has = |kind: &ListKind| {
            announced.as_ref().is_some_and(|m| m.get(&hello.capabilities, kind.capability()).is_some())
        };
        let asked = |kind: &ListKind| hello.era.knows(kind.method()) && has(kind);
        let todo = ListKind::ALL.into_iter().filter(asked).map(|kind| (kind, None)).collect();
        let offer = Offer {
            hello,
            cache: CacheHint::NONE,
            notes: Vec::new(),
            reader: None,
            lists: Default::default(),
        };
        let client_info = client_info.to_owned();
        let seen = HashSet::new();
        let selection = ToolSelection::default();
        Self { limits, client_info, todo, pages: 0, entries: 0, seen, hint: None, screened, selection, offer }
    }

    /// The same run, which keeps only the tools that are served.
    #[must_use]
    pub fn serving(self, tools: ServerTools) -> Self {
        Self { selection: ToolSelection::new(tools), ..self }
    }

    /// The list that the next request asks for; `None` when all are there.
    pub fn wants(&self) -> Option<ListKind> {
        self.todo.front().map(|(kind, _)| *kind)
    }

    /// The next request.
    pub fn request(&self, id: &Id) -> Option<Bytes> {
        let (kind, cursor) = self.todo.front()?;
        let meta = own_meta(self.era(), "{}", &self.client_info);
        let cursor = cursor.as_ref().map(|c| format!("\"cursor\":{c}")).unwrap_or_default();
        let comma = if meta.is_empty() || cursor.is_empty() { "" } else { "," };
        let method = quote(kind.method().name());
        Some(Bytes::from(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{{{meta}{comma}{cursor}}}}}"
        )))
    }

    /// Takes the answer to the last request.
    ///
    /// # Errors
    /// [`GatherFault`]; a template list that the upstream does not know is empty, not a fault.
    pub fn feed(&mut self, answer: &Frame) -> Result<(), GatherFault> {
        let Some((kind, _)) = self.todo.pop_front() else { return Ok(()) };
        let method = kind.method().name();
        let text = answer.text();
        let refused = answer.payload().filter(|_| answer.kind() == Kind::Error);
        if let Some(error) = refused.and_then(|span| RpcError::of_value(text, span)) {
            if kind == ListKind::Templates && error.code == code::METHOD_NOT_FOUND {
                return Ok(());
            }
            let message = error.message.and_then(|m| answer.string(m)).unwrap_or_default().into_owned();
            return Err(GatherFault::Refused { method, code: error.code, message });
        }
        let fault = GatherFault::NoList(method, kind.member());
        let Some(result) = answer.payload().and_then(|span| Members::of_value(text, span)) else {
            return Err(fault);
        };
        let list = |kind: ListKind| Elements::of_value(text, result.get(text, kind.member())?);
        let era = self.era();
        let both = kind == ListKind::Resources && era.shapes.templates_in_resources;
        match list(kind) {
            Some(items) => items.iter().for_each(|span| self.take(kind, span.of(text))),
            // Where one answer has both, either may be missing (MCP "1", `ListResourcesResult`).
            None if both => {}
            None => return Err(fault),
        }
        if let Some(templates) = list(ListKind::Templates).filter(|_| both) {
            templates.iter().for_each(|span| self.take(ListKind::Templates, span.of(text)));
        }
        let hint = if era.typed_results { CacheHint::of_result(text, &result) } else { CacheHint::NONE };
        self.hint = Some(self.hint.map_or(hint, |h| h.and(hint)));
        let next = result.get(text, "nextCursor").filter(|span| era.shapes.pages && span.of(text)[0] == b'"');
        self.turn(kind, next.map(|span| String::from_utf8_lossy(span.of(text)).into_owned()));
        Ok(())
    }

    fn take(&mut self, kind: ListKind, text: &[u8]) {
        if self.entries == self.limits.entries {
            return self.note(format!("more than {} entries; the rest is left out", self.limits.entries));
        }
        // The page's buffer goes when its items are merged, so an item keeps its own bytes.
        let own = match screen(kind, text) {
            Screening::Clean => Bytes::copy_from_slice(text),
            Screening::Cleaned(text) => {
                self.screened.cleaned(kind);
                text
            }
            Screening::Refused(found) => return self.screened.refused(kind, text, found),
        };
        let Some(item) = Item::read(kind, own) else {
            return self.note(format!("an entry of {} without a {} is left out", kind.member(), kind.key()));
        };
        if kind == ListKind::Tools && !self.selection.admits(&item.key) {
            return;
        }
        if !self.seen.insert(format!("{} {}", kind.member(), item.key)) {
            return self.note(format!("{} {:?} is listed twice; the first counts", kind.member(), item.key));
        }
        self.entries += 1;
        self.offer.lists[kind.index()].push(item);
    }

    /// Goes on to the next page, unless the upstream leads in circles.
    fn turn(&mut self, kind: ListKind, next: Option<String>) {
        self.pages += 1;
        let Some(cursor) = next else {
            self.pages = 0;
            return;
        };
        if !self.seen.insert(format!("{} page {cursor}", kind.member())) {
            self.pages = 0;
            return self.note(format!("{} pages lead in a circle; stopped there", kind.member()));
        }
        if self.pages >= self.limits.pages {
            self.pages = 0;
            return self.note(format!(
                "more than {} pages of {}; stopped there",
                self.limits.pages,
                kind.member()
            ));
        }
        self.todo.push_front((kind, Some(cursor)));
    }

    fn note(&mut self, text: String) {
        if self.offer.notes.len() < 32 && !self.offer.notes.contains(&text) {
            self.offer.notes.push(text);
        }
    }

    fn era(&self) -> &'static Era {
        self.offer.hello.era
    }

    /// What was gathered.
    pub fn finish(mut self) -> Offer {
        self.offer.notes.extend(self.screened.text().into_iter().chain(self.selection.note()));
        Offer { cache: self.hint.unwrap_or(CacheHint::NONE), ..self.offer }
    }
}
