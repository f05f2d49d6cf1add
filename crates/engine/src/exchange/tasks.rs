//! Tasks in an exchange: their ids are exchanged where clients get others than the upstream's own.

use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;
use proto::json::Splice;
use proto::rpc::{Frame, FrameLimits};

use super::{Binding, Exchange, Sealer, Start, TaskNames};
use crate::fault::Fault;
use crate::tasks::{Edits, Renaming, TaskIds, TaskPlace, message_edits};

/// How the ids in an exchange's messages are exchanged; `None` where they are not.
pub(super) fn renaming(start: &Start<'_>) -> Option<Renaming> {
    match &start.route.names {
        TaskNames::None => None,
        TaskNames::New => Renaming::of_call(&start.frame, start.client),
        TaskNames::Known(method, task) => Some(Renaming::of_task(*method, start.client, task.clone())),
    }
}

impl Exchange {
    /// What the client's answer needs; `answer` is in its own words.
    ///
    /// # Errors
    /// The fault to answer with instead.
    pub(super) fn names(
        &self,
        answer: &Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Result<Edits, Fault> {
        let Some(renaming) = &self.renaming else { return Ok(Edits::new()) };
        renaming.answer(answer, self.ids(sealer, binding), self.place(binding))
    }

    /// A notification for the client, with the ids that it knows; `None` when it cannot be told.
    pub(super) fn named(&self, text: Bytes, sealer: &dyn Sealer, binding: Binding<'_>) -> Option<Bytes> {
        match &self.renaming {
            Some(renaming) if may_name(&text) => {
                let frame = Frame::parse(text, FrameLimits::default()).ok()?;
                let (ids, place) = (self.ids(sealer, binding), self.place(binding));
                Some(applied(&frame, &message_edits(&frame, renaming.task(), ids, place).ok()?))
            }
            _ => Some(text),
        }
    }

    /// A question of the upstream with the ids that the client knows.
    ///
    /// # Errors
    /// The question, and why it cannot be put.
    pub(super) fn named_question(
        &self,
        question: Frame,
        sealer: &dyn Sealer,
        binding: Binding<'_>,
    ) -> Result<Frame, (Frame, String)> {
        let Some(renaming) = self.renaming.as_ref().filter(|_| may_name(question.text())) else {
            return Ok(question);
        };
        let (ids, place) = (self.ids(sealer, binding), self.place(binding));
        let named = message_edits(&question, renaming.task(), ids, place)
            .map_err(|fault| fault.message)
            .and_then(|edits| {
                let text = applied(&question, &edits);
                Frame::parse(text, FrameLimits::default()).map_err(|e| e.to_string())
            });
        named.map_err(|why| (question, why))
    }

    /// The params of a question, a JSON object, with the ids that the client knows.
    pub(super) fn named_params(&self, params: Bytes, sealer: &dyn Sealer, binding: Binding<'_>) -> Bytes {
        let text = [b"{\"jsonrpc\":\"2.0\",\"method\":\"\",\"params\":", &params[..], b"}"].concat();
        let named = self.named(text.into(), sealer, binding);
        let frame = named.and_then(|text| Frame::parse(text, FrameLimits::default()).ok());
        let span = frame.as_ref().and_then(|frame| Some(frame.params()?.members.span()));
        match (frame, span) {
            (Some(frame), Some(span)) => span.share(frame.text()),
            _ => params,
        }
    }

    fn ids<'a>(&self, sealer: &'a dyn Sealer, binding: Binding<'a>) -> TaskIds<'a> {
        TaskIds::new(sealer, binding.principal, self.era)
    }

    fn place<'a>(&self, binding: Binding<'a>) -> TaskPlace<'a> {
        TaskPlace { server: binding.server, home: self.bridge.as_ref().and_then(|bridge| bridge.home()) }
    }
}

/// Made once: making them costs more than most searches.
static NAMES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("taskId"));
static ESCAPES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));

/// Whether a message may name a task. Nearly none does, and this search is far cheaper than looking into each.
fn may_name(text: &[u8]) -> bool {
    NAMES.find(text).is_some() || ESCAPES.find(text).is_some()
}

fn applied(frame: &Frame, edits: &Edits) -> Bytes {
    let mut splice = Splice::new(frame.text());
    for (span, name) in edits {
        splice.replace(*span, name);
    }
    splice.finish()
}
