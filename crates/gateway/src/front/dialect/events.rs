//! A client's event stream. The first event contains the path for messages; answers follow, with keep-alive events
//! in between.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::Condition;
use engine::dialect::{Dialect, endpoint_event, error_event, opening, ping_event};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep_until};
use transport::net::{Body, BodySender, Stop};

use super::front::Front;
use crate::admission::identity::Identity;
use crate::dialect_session::sessions::{DialectStream, Session};
use crate::dialect_session::subscribed::Subscriptions;
use crate::process::Shard;
use crate::session::seal;
use crate::session::until::OpenStreamEntry;
use upstream::NO_RANDOM;

/// The number of events that may wait for a client that reads slowly.
const BEHIND: usize = 256;

/// The number of further events that may be in transit to the connection.
const ON_THE_WAY: usize = 4;

/// The interval between two checks of whether a session has expired.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Opens a session with a stream; the client posts its messages to the path `messages`.
///
/// # Errors
/// Returns the message of a refusal if there are too many sessions.
pub(crate) fn open(
    shard: &Arc<Shard>,
    front: &Front,
    identity: &Identity,
    messages: &str,
) -> Result<Body, String> {
    let id = seal::random_id().map_err(|_| NO_RANDOM.to_owned())?;
    let row = front.row.clone();
    let (events, queue) = mpsc::channel(BEHIND);
    let idle =
        (row.events.session_seconds > 0).then(|| Duration::from_secs(row.events.session_seconds.into()));
    let holding = OpenStreamEntry::new(&shard.session.state.holders, identity, "GET");
    let (regime, ends) = (shard.gateway.snapshot.regime, Stop::new());
    let stream = DialectStream {
        events,
        room: Arc::new(Semaphore::new(shard.gateway.snapshot.limits.calls_per_session)),
        held: holding.held.clone(),
        subscriptions: Subscriptions::default(),
        identity: identity.clone(),
        era: row.era,
        regime,
        ends: ends.clone(),
    };
    let session = Session::new(identity.clone(), front.profile, Some(stream), idle);
    let added = shard.gateway.process.dialect_sessions.add(&id, session, identity);
    let session = added.map_err(|full| full.describe("sessions", "limits.sessions"))?;
    // Another configuration may have taken effect before this session was registered; in this case, the change did not end
    // the session.
    let now = shard.view.state.current.load();
    if regime != now.regime || !now.profiles[front.profile].is_there {
        ends.stop();
    }
    let (sender, body) = Body::channel(ON_THE_WAY);
    let profile = &shard.gateway.snapshot.profiles[front.profile].slug;
    let first = [opening(&row), endpoint_event(&row, messages, &id, profile)].concat();
    // There is always room for the first piece.
    let _ = sender.try_send(Bytes::from(first));
    let opened = StreamSession { shard: shard.clone(), id: id.into(), session, holding, ends };
    transport::task::spawn(serve(opened, row, queue, sender));
    Ok(body)
}

/// A session that ends together with its stream.
struct StreamSession {
    shard: Arc<Shard>,
    id: Box<str>,
    session: Arc<Session>,
    holding: OpenStreamEntry,
    ends: Stop,
}

impl Drop for StreamSession {
    fn drop(&mut self) {
        self.shard.gateway.process.dialect_sessions.remove(&self.id);
        // Nobody receives the answers any more.
        self.session.requests.give_up();
    }
}

async fn serve(
    opened: StreamSession,
    row: Arc<Dialect>,
    mut queue: mpsc::Receiver<Bytes>,
    sender: BodySender,
) {
    let every = Duration::from_secs(row.events.ping_seconds.get().into());
    let mut due = Instant::now() + every;
    let mut look = Instant::now() + LOOK_EVERY;
    loop {
        let piece = tokio::select! {
            // Check for a stop first: a stop ends sessions as well, and the client must be told the actual reason.
            biased;
            () = opened.shard.gateway.process.stop.stopped() => {
                let _ = sender.try_send(error_event(&row, Condition::Internal));
                return;
            }
            event = queue.recv() => event,
            () = sleep_until(due) => Some(ping_event(&row)),
            () = sleep_until(look) => {
                look = Instant::now() + LOOK_EVERY;
                if opened.session.is_over() { None } else { continue }
            }
            () = opened.holding.held.revoked() => return,
            () = opened.ends.stopped() => return,
            () = sender.gone() => return,
        };
        let Some(piece) = piece else { return };
        due = Instant::now() + every;
        if sender.send(piece).await.is_err() {
            return;
        }
    }
}
