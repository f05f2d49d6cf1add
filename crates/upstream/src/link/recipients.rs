//! The receivers of a server's messages on a link, except for answers to requests. This module must not know the
//! content of messages.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use engine::exchange::ProgressToken;
use parking_lot::Mutex;
use proto::rpc::Frame;
use transport::up::{Owner, UnaskedMessages};

use super::inbox::{Inbound, InboxSender};
use super::user::LinkUser;

/// The session that receives the progress of a call, and the session's token for that progress.
type ProgressOwner = (Weak<dyn LinkUser>, ProgressToken);

/// The owner whose turn it is on a link that all clients share, with the owner's session if there is one.
type TurnOwner = (Owner, Option<Weak<dyn LinkUser>>);

/// The sessions and calls that receive messages from one link.
#[derive(Default)]
pub struct LinkRecipients {
    /// The sessions whose calls use the link.
    users: Mutex<Vec<Weak<dyn LinkUser>>>,
    /// The session that receives the progress of each open call. It is needed because an upstream may report
    /// progress outside the call's own stream.
    progress: Mutex<HashMap<u64, ProgressOwner>>,
    /// The receiver of messages that belong to no exchange; set while one call has the link for itself.
    inbox: Mutex<Option<InboxSender>>,
    /// The only owner that can be asked now, on a link that clients use in turn.
    turn: Mutex<Option<TurnOwner>>,
    /// The receiver of the child's unsolicited messages, until a task takes it.
    unasked: Mutex<Option<UnaskedMessages>>,
}

impl LinkRecipients {
    /// Returns the sessions whose calls use the link.
    pub fn users(&self) -> Vec<Arc<dyn LinkUser>> {
        self.users.lock().iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn add_user(&self, session: &Arc<dyn LinkUser>) {
        let mut users = self.users.lock();
        users.retain(|user| user.strong_count() > 0);
        if !users.iter().any(|user| std::ptr::addr_eq(user.as_ptr(), Arc::as_ptr(session))) {
            users.push(Arc::downgrade(session));
        }
    }

    /// Forgets the sessions, and the call that had the link for itself.
    pub(super) fn clear(&self) {
        self.users.lock().clear();
        self.set_inbox(None);
    }

    /// Begins the turn of an owner on a link that clients use in turn.
    pub(crate) fn begin_turn(&self, owner: Owner, user: Option<Weak<dyn LinkUser>>) {
        *self.turn.lock() = Some((owner, user));
    }

    /// Ends the turn. From now on, nobody can be asked.
    pub(crate) fn end_turn(&self) {
        *self.turn.lock() = None;
        self.set_inbox(None);
    }

    /// Returns the owner whose turn it is.
    pub fn turn(&self) -> Option<Owner> {
        self.turn.lock().as_ref().map(|(owner, _)| *owner)
    }

    /// Returns the session whose turn it is.
    pub(crate) fn turn_user(&self) -> Option<Arc<dyn LinkUser>> {
        self.turn.lock().as_ref().and_then(|(_, user)| user.as_ref()?.upgrade())
    }

    /// Stores the receiver of the child's unsolicited messages until it is taken.
    pub fn keep_unasked(&self, unasked: UnaskedMessages) {
        *self.unasked.lock() = Some(unasked);
    }

    /// Takes the receiver of the child's unsolicited messages; works only once.
    pub fn take_unasked(&self) -> Option<UnaskedMessages> {
        self.unasked.lock().take()
    }

    /// Sets the receiver of messages that belong to no exchange: the call that has the link for itself, or none.
    pub fn set_inbox(&self, inbox: Option<InboxSender>) {
        *self.inbox.lock() = inbox;
    }

    /// Delivers a message to the call that has the link for itself; returns the message if there is no such call, or
    /// if the call is busy.
    pub fn deliver(&self, frame: Frame) -> Option<Frame> {
        let inbox = self.inbox.lock().clone();
        let Some(inbox) = inbox else { return Some(frame) };
        match inbox.send(Inbound::Frame(frame)) {
            Err(Inbound::Frame(frame)) => Some(frame),
            _ => None,
        }
    }

    /// Records that a call's progress belongs to this session, until [`LinkRecipients::forget_progress`].
    pub fn expect_progress(&self, session: &Arc<dyn LinkUser>, token: ProgressToken) {
        self.progress.lock().insert(token.key, (Arc::downgrade(session), token));
    }

    /// Forgets the session that gets the progress with this key.
    pub fn forget_progress(&self, key: u64) {
        self.progress.lock().remove(&key);
    }

    /// Returns the session for which a progress notification is meant, and the notification's text for that client;
    /// `None` if the notification belongs to no open call.
    pub fn progress_of(&self, notice: &Frame) -> Option<(Arc<dyn LinkUser>, Bytes)> {
        let (session, token) = self.progress.lock().get(&ProgressToken::named(notice)?)?.clone();
        Some((session.upgrade()?, token.translate(notice)?))
    }
}
