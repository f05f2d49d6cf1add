//! A call on a stream of its session. It must not know what is called.

use std::sync::Arc;

use tokio::time::Instant;
use transport::net::collect;

use super::body::BODY_TIME;
use crate::gateway::Shard;
use crate::gateway::call::call::{Progress, Running};
use crate::gateway::session::session::{Face, Session};
use crate::gateway::session::subscriptions::Change;

/// Runs a call to its end on a stream of the session.
pub(super) async fn drive(
    shard: Shard,
    session: Arc<Session>,
    mut running: Running,
    stream: u64,
    change: Option<Change>,
) {
    let Face::Http(streams) = &session.face else { return };
    loop {
        let (call, progress) = running.await;
        match progress {
            Progress::Relay(text) => streams.push(stream, text),
            Progress::Paused(retry) => streams.pause(stream, retry),
            Progress::Answer(answered) => {
                session.settle(&shard.session, change.as_ref(), answered.ok);
                streams.push(stream, answered.body);
                break;
            }
            Progress::Pass(body) => {
                let cap = shard.gateway.snapshot.limits.result;
                let read = collect(body, cap, Instant::now() + BODY_TIME).await;
                streams.push(stream, read.unwrap_or_else(|_| call.broken().body));
                break;
            }
            Progress::Park(ticket, asked) => {
                streams.push(stream, call.park(&shard.gateway.parked, ticket, asked).body);
                break;
            }
            Progress::End => break,
        }
        running = call.run();
    }
    session.touch();
}
