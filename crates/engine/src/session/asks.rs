//! Questions from upstreams to a client (sampling, elicitation, roots), under ids of the client's session.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::bridge::input::Question;
use proto::json::Splice;
use proto::mcp::{Notice, meta};
use proto::rpc::{Frame, FrameKind, FrameLimits, Id};

use super::question_text::QuestionText;

/// A question that waits for the client's answer; `L` identifies the link that it came from.
#[derive(Debug)]
struct OpenAsk<L> {
    link: L,
    id: Id,
    method: Box<str>,
    token: Option<Bytes>,
    text: QuestionText,
    expires: Instant,
}

/// A message for the link that asked.
#[derive(Debug, PartialEq, Eq)]
pub struct LinkMessage<L> {
    /// The link that the question came from.
    pub link: L,
    /// The method of the question.
    pub method: Box<str>,
    /// The message under the link's own id or token.
    pub text: Bytes,
}

/// The reason why the client cannot be asked a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AskFault {
    /// The question has no id.
    #[error("the question has no id")]
    NoId,
    /// The question's params are nested more deeply than messages may be.
    #[error("the question cannot be read")]
    Unreadable,
    /// Too many questions are open.
    #[error("{0} questions already wait for this client's answers")]
    Full(usize),
}

/// The number of bits in a question's id that count the questions. The bits above contain the number of the process, and both
/// together stay exact in JavaScript.
const COUNT_BITS: u32 = 32;

/// Returns the number of the process that asked the question to which a message of a client belongs: the answer, or a notification of
/// progress.
pub fn asking_process(message: &Frame) -> Option<u32> {
    let number = match message.kind() {
        FrameKind::Response | FrameKind::Error => message.id()?.as_number()?,
        FrameKind::Notification if message.method() == Notice::Progress.name() => {
            let token = message.param("progressToken").ok().flatten()?.of(message.text());
            std::str::from_utf8(token).ok()?.parse().ok()?
        }
        _ => return None,
    };
    u32::try_from(number >> COUNT_BITS).ok()
}

/// The open questions to one client.
#[derive(Debug)]
pub struct Asks<L> {
    next: u64,
    cap: usize,
    lifetime: Duration,
    open: HashMap<u64, OpenAsk<L>>,
}

impl<L: Clone + PartialEq> Asks<L> {
    /// Creates an empty table; at most `cap` questions may be open, each for at most `lifetime`. The ids of all questions contain the
    /// number `process`; it is 0 if answers arrive at no other process.
    pub fn new(cap: usize, lifetime: Duration, process: u32) -> Self {
        Self { next: u64::from(process) << COUNT_BITS, cap, lifetime, open: HashMap::new() }
    }

    /// Registers a question from a link, and returns the request for the client, under an id of this session.
    ///
    /// # Errors
    /// Returns [`AskFault`] if the client cannot be asked; the caller must then answer the link on the client's
    /// behalf.
    pub fn ask(&mut self, link: L, frame: &Frame, now: Instant) -> Result<Bytes, AskFault> {
        let (id, span) = frame.id().cloned().zip(frame.id_span()).ok_or(AskFault::NoId)?;
        if self.open.len() >= self.cap {
            self.open.retain(|_, ask| ask.expires > now);
        }
        if self.open.len() >= self.cap {
            return Err(AskFault::Full(self.cap));
        }
        self.next += 1;
        let own = self.next.to_string();
        let token_span = frame.meta(meta::PROGRESS_TOKEN).ok().flatten();
        let token = token_span.map(|span| span.share(frame.text()));
        let mut splice = Splice::new(frame.text());
        splice.replace(span, own.as_bytes());
        if let Some(span) = token_span {
            splice.replace(span, own.as_bytes());
        }
        let method = frame.method().into();
        let text = QuestionText::of(frame.text());
        self.open.insert(self.next, OpenAsk { link, id, method, token, text, expires: now + self.lifetime });
        Ok(splice.finish())
    }

    /// Registers a question from a server's result, and returns the request for the client, under an id of this
    /// session.
    ///
    /// # Errors
    /// Returns [`AskFault`] if the client cannot be asked.
    pub fn put(
        &mut self,
        link: L,
        question: &Question,
        limits: FrameLimits,
        now: Instant,
    ) -> Result<Bytes, AskFault> {
        let method = question.method.name();
        let mut text =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"{method}\",\"params\":").into_bytes();
        text.extend_from_slice(&question.params);
        text.push(b'}');
        let frame = Frame::parse(Bytes::from(text), limits).map_err(|_| AskFault::Unreadable)?;
        self.ask(link, &frame, now)
    }

    /// Handles the client's answer, and returns the message for the link; `None` if no question waits for it (it
    /// was already answered, withdrawn, or never asked).
    pub fn answer(&mut self, frame: &Frame) -> Option<LinkMessage<L>> {
        let ask = self.open.remove(&frame.id()?.as_number()?)?;
        let mut splice = Splice::new(frame.text());
        splice.replace(frame.id_span()?, ask.id.json());
        Some(LinkMessage { text: splice.finish(), method: ask.method, link: ask.link })
    }

    /// Handles the client's progress on a question, and returns the message for the link.
    pub fn progress(&self, frame: &Frame) -> Option<LinkMessage<L>> {
        let span = frame.param(meta::PROGRESS_TOKEN).ok().flatten()?;
        let own: u64 = std::str::from_utf8(span.of(frame.text())).ok()?.parse().ok()?;
        let ask = self.open.get(&own)?;
        let mut splice = Splice::new(frame.text());
        splice.replace(span, ask.token.as_ref()?);
        Some(LinkMessage { link: ask.link.clone(), method: ask.method.clone(), text: splice.finish() })
    }

    /// Withdraws a question that its link cancels; returns the notification for the client.
    pub fn withdraw(&mut self, link: &L, frame: &Frame) -> Option<Bytes> {
        let span = frame.param("requestId").ok().flatten()?;
        let id = span.of(frame.text());
        let (&own, _) = self.open.iter().find(|(_, ask)| ask.link == *link && ask.id.json() == id)?;
        self.open.remove(&own);
        let own = own.to_string();
        let mut splice = Splice::new(frame.text());
        splice.replace(span, own.as_bytes());
        Some(splice.finish())
    }

    /// Forgets the questions from a closed link; returns their ids.
    pub fn forget(&mut self, link: &L) -> Vec<u64> {
        self.open.extract_if(|_, ask| ask.link == *link).map(|(own, _)| own).collect()
    }

    /// The open questions, each with the time at which it was asked and the time at which it is given up.
    pub fn listed(&self) -> Vec<(Instant, Instant, QuestionText)> {
        let asked = |ask: &OpenAsk<L>| ask.expires.checked_sub(self.lifetime).unwrap_or(ask.expires);
        self.open.values().map(|ask| (asked(ask), ask.expires, ask.text.clone())).collect()
    }

    /// The number of open questions.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns true if no question is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of the replayed events; all other times are relative to it.
    #[expect(clippy::disallowed_methods, reason = "a replay has to begin at some time")]
    fn start() -> Instant {
        Instant::now()
    }

    fn frame(text: &str) -> Frame {
        Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default()).unwrap()
    }

    fn asks(now: Instant) -> (Asks<u8>, Bytes) {
        let mut asks = Asks::new(2, Duration::from_mins(1), 0);
        let question = frame(
            r#"{"jsonrpc":"2.0","id":"up","method":"elicitation/create","params":{"x":1e2,"_meta":{"progressToken":"p"}}}"#,
        );
        let put = asks.ask(7, &question, now).unwrap();
        (asks, put)
    }

    #[test]
    fn answers_go_back_once_under_the_upstreams_id() {
        let (mut asks, put) = asks(start());
        assert_eq!(
            put.as_ref(),
            br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"x":1e2,"_meta":{"progressToken":1}}}"#
        );
        let progress = frame(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        );
        assert!(asks.progress(&progress).unwrap().text.windows(19).any(|w| w == br#""progressToken":"p""#));
        let answer = frame(r#"{"result":{},"id":1,"jsonrpc":"2.0"}"#);
        let back = asks.answer(&answer).unwrap();
        assert_eq!(
            (back.link, back.text.as_ref()),
            (7, br#"{"result":{},"id":"up","jsonrpc":"2.0"}"#.as_slice())
        );
        assert_eq!(asks.answer(&answer), None);
    }

    #[test]
    fn open_questions_are_listed_with_their_times_and_texts() {
        let now = start();
        let mut asks = Asks::new(2, Duration::from_mins(1), 0);
        let question =
            frame(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Sure?"}}"#);
        asks.ask(7, &question, now).unwrap();
        let listed = asks.listed();
        assert_eq!((listed[0].0, listed[0].1), (now, now + Duration::from_mins(1)));
        assert_eq!((&*listed[0].2.method, &*listed[0].2.text), ("elicitation/create", "Sure?"));
        asks.forget(&7);
        assert_eq!(asks.listed(), []);
    }

    #[test]
    fn withdrawn_and_forgotten_questions_take_no_answers() {
        let (mut asks, _) = asks(start());
        let cancel =
            frame(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"up"}}"#);
        assert_eq!(asks.withdraw(&8, &cancel), None);
        assert!(asks.withdraw(&7, &cancel).unwrap().ends_with(br#""requestId":1}}"#));
        assert!(asks.is_empty());
    }

    #[test]
    fn the_cap_holds_until_old_questions_expire() {
        let now = start();
        let (mut asks, _) = asks(now);
        let question = frame(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
        asks.ask(1, &question, now).unwrap();
        assert_eq!(asks.ask(1, &question, now), Err(AskFault::Full(2)));
        assert!(asks.ask(1, &question, now + Duration::from_secs(61)).is_ok());
        assert_eq!(asks.forget(&1), [3]);
        assert_eq!(asks.len(), 0);
    }
}
