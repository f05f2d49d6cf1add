//! The question for the client's roots, which many servers ask as soon as a link is open. The first call waits until
//! the question has been answered, because a server that does not have the roots yet would execute the call with the
//! wrong folders. This module must not know the roots, or the link.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use proto::rpc::Frame;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

/// The time, from the opening of a link, for which calls wait until the server has asked for the roots and received
/// them. Servers ask right after the handshake, and clients answer from memory, so both take milliseconds; for the
/// calls of a client that does not answer, half a second is bearable.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// The time that a server is given to adopt the roots after it has received them. No message says when the server is
/// done: the official filesystem server, for example, first looks at each folder, and meanwhile serves calls with its
/// old folders.
const ADOPTION: Duration = Duration::from_millis(100);

/// The state of the question on one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionStage {
    NotAsked,
    Asked,
    /// The answer was sent at this time.
    Answered(Instant),
}

/// The question for the roots on one link.
pub struct RootsQuestion {
    stage: watch::Sender<QuestionStage>,
    /// The question, kept for the first call of a client that does not listen.
    kept: Mutex<Option<Frame>>,
    /// True once a call has been sent over the link: later questions belong to calls.
    is_over: AtomicBool,
}

impl Default for RootsQuestion {
    fn default() -> Self {
        Self {
            stage: watch::Sender::new(QuestionStage::NotAsked),
            kept: Mutex::default(),
            is_over: AtomicBool::new(false),
        }
    }
}

impl RootsQuestion {
    /// Records that the server has asked.
    pub(super) fn asked(&self) {
        self.stage.send_replace(QuestionStage::Asked);
    }

    /// Returns true once a call has been sent over the link, or is about to be sent.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Records that a call is about to be sent over the link.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Keeps the question for the first call over the link; returns the question that was kept before. Call this before
    /// [`RootsQuestion::asked`].
    pub(crate) fn keep(&self, question: Frame) -> Option<Frame> {
        self.kept.lock().replace(question)
    }

    /// Takes the kept question, if there is one.
    pub(crate) fn take(&self) -> Option<Frame> {
        self.kept.lock().take()
    }

    /// Records that the answer, or a refusal, has been sent to the server.
    pub fn answered(&self) {
        self.stage.send_replace(QuestionStage::Answered(Instant::now()));
    }

    /// Waits for the answer, at most until `until`, and then for the time that the server needs to adopt the roots. Waits
    /// for a question only if `may_ask` is true. Returns false if the server has not asked by the end of the wait.
    pub(super) async fn settled(&self, may_ask: bool, until: Instant) -> bool {
        let mut stage = self.stage.subscribe();
        let is_over = |stage: &QuestionStage| match stage {
            QuestionStage::NotAsked => !may_ask,
            QuestionStage::Asked => false,
            QuestionStage::Answered(_) => true,
        };
        let _ = timeout_at(until, stage.wait_for(is_over)).await;
        let stage = *self.stage.borrow();
        if let QuestionStage::Answered(at) = stage {
            sleep_until(at + ADOPTION).await;
        }
        stage != QuestionStage::NotAsked
    }

    /// Waits until the server has asked, at most until `until`; returns false if it has not.
    pub(super) async fn arrived(&self, until: Instant) -> bool {
        let mut stage = self.stage.subscribe();
        timeout_at(until, stage.wait_for(|stage| *stage != QuestionStage::NotAsked)).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the time that a wait takes, and its result.
    async fn waited(question: &RootsQuestion, may_ask: bool) -> (Duration, bool) {
        let begun = Instant::now();
        let has_asked = question.settled(may_ask, begun + PATIENCE).await;
        (begun.elapsed(), has_asked)
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_server_that_may_ask_is_waited_for_and_never_for_long() {
        let question = RootsQuestion::default();
        assert_eq!(waited(&question, false).await, (Duration::ZERO, false));
        assert_eq!(waited(&question, true).await, (PATIENCE, false));
        question.asked();
        assert_eq!(waited(&question, false).await, (PATIENCE, true), "its client does not answer");
        question.answered();
        assert_eq!(waited(&question, true).await, (ADOPTION, true));
        assert_eq!(waited(&question, true).await, (Duration::ZERO, true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_continues_as_soon_as_the_server_has_adopted_the_answer() {
        let question = RootsQuestion::default();
        let answers = async {
            tokio::time::sleep(PATIENCE / 4).await;
            question.asked();
            tokio::time::sleep(PATIENCE / 4).await;
            question.answered();
        };
        let (waited, ()) = tokio::join!(waited(&question, true), answers);
        assert_eq!(waited, (PATIENCE / 2 + ADOPTION, true));
    }
}
