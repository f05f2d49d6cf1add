//! The task that follows the other replicas: it reads their notices, compares API keys, reports every few seconds that
//! this replica is alive, and detects that the store has lost its data. This module must not know connections.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::api_keys::KeyExchange;
use crate::cluster::{Membership, WRITE, now_ms};
use crate::notices::{self, Notice};
use crate::replicas::{self, Replica};
use crate::resp::{StoreCommand, StoreReply};
use crate::sessions;
use crate::valkey::StoreError;
use crate::{formats, homes};

/// The time between two heartbeats.
const BEAT: Duration = Duration::from_secs(3);

/// The time between two checks of the replica's own API keys, which other processes may change.
const KEYS_EVERY: Duration = Duration::from_millis(250);

/// The maximum time for a command whose reply may be large.
const WHOLE: Duration = Duration::from_secs(5);

/// The number of sessions in one batch of a search for ended sessions.
const ENDS_AT_ONCE: usize = 1000;

/// The position of a replica in the history of its cluster.
#[derive(Default)]
struct Position {
    /// The random number in the store; if it changes, the store has lost its data.
    epoch: Option<String>,
    /// The id of the last notice that was read.
    notice: String,
}

/// The part of the history that a replica may have missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Nothing: the replica continues with the next notice.
    None,
    /// Some notices.
    Notices,
    /// The store has lost its data.
    Everything,
}

impl Position {
    /// Compares the position with the random number in the store, and with the ids of the first and the last notice
    /// there.
    fn gap(&self, epoch: Option<&str>, first: Option<&str>, last: Option<&str>) -> Gap {
        match &self.epoch {
            // Before the first contact, the replica may have restored sessions that have ended.
            None => Gap::Notices,
            Some(known) if epoch != Some(known) => Gap::Everything,
            Some(_) if first.is_some_and(|first| notices::is_later(first, &self.notice)) => Gap::Notices,
            Some(_) if self.is_ahead_of(last) => Gap::Notices,
            Some(_) => Gap::None,
        }
    }

    /// Returns true if the stream of notices has lost its newest entries. A replica that does not detect this would
    /// wait for an id that comes late or never.
    fn is_ahead_of(&self, last: Option<&str>) -> bool {
        notices::is_later(&self.notice, last.unwrap_or("0-0"))
    }
}

/// Follows the other replicas until the `Cluster` is dropped.
pub(crate) async fn follow(membership: Arc<Membership>) {
    let mut follower = ClusterFollower {
        exchange: membership.api_keys.clone().map(KeyExchange::new),
        position: Position::default(),
        is_joined: false,
        has_news: false,
        next_beat: Instant::now(),
        membership,
    };
    let mut ticks = interval(KEYS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let store = &follower.membership.store;
        tokio::select! {
            () = store.announced.notified() => follower.has_news = true,
            () = store.changed.notified() => follower.is_joined = false,
            () = follower.membership.standstill.happened.notified() => {}
            _ = ticks.tick() => {}
        }
        if !follower.membership.store.health().is_ready() {
            follower.membership.replicas.store(Arc::default());
            *follower.membership.settled.lock() = None;
            continue;
        }
        if let Err(error) = follower.step().await {
            tracing::debug!("cannot receive changes from the cluster's store; trying again: {error}");
        }
    }
}

struct ClusterFollower {
    membership: Arc<Membership>,
    exchange: Option<KeyExchange>,
    position: Position,
    /// True once all data has been compared over the current connection.
    is_joined: bool,
    /// True if there may be notices to read.
    has_news: bool,
    next_beat: Instant,
}

impl ClusterFollower {
    async fn step(&mut self) -> Result<(), StoreError> {
        let standstills = self.membership.standstill.count();
        if !self.membership.standstill.is_compared(standstills) {
            tracing::warn!(
                "this gateway stood still for some seconds; it compares its data with the cluster's store before it answers"
            );
            self.is_joined = false;
        }
        if !self.is_joined {
            self.membership.peers.joined(std::time::Instant::now());
            self.join().await?;
            self.membership.join_logins().await?;
            self.is_joined = true;
            self.next_beat = Instant::now();
            self.has_news = true;
        }
        if Instant::now() >= self.next_beat {
            self.beat().await?;
            self.next_beat = Instant::now() + BEAT;
            // An announcement can be lost.
            self.has_news = true;
        }
        self.membership.write_logins().await?;
        if self.has_news {
            self.read_notices().await?;
            self.has_news = false;
        }
        if self.is_joined {
            self.membership.standstill.compared(standstills);
        }
        self.write_keys().await
    }

    /// Compares everything with the store.
    async fn join(&mut self) -> Result<(), StoreError> {
        let Membership { store, keys, values, sessions, me, .. } = &*self.membership;
        let mut commands = vec![
            // The first replica that finds an empty store writes the store's number.
            StoreCommand::new("SET").arg(keys.epoch()).arg(format!("{}-{}", me.id, now_ms())).arg("NX"),
            StoreCommand::new("GET").arg(keys.epoch()),
            notices::read_first(keys),
            notices::read_last(keys),
        ];
        commands.extend(self.exchange.as_ref().map(|_| KeyExchange::read_all(keys)));
        let replies = store.run(commands, WHOLE).await?;
        let [_, epoch, first, last, ..] = &replies[..] else { return Ok(()) };
        let (epoch, last) = (epoch.text(), notices::first_id(last));
        let gap = self.position.gap(epoch, notices::first_id(first), last);
        let position = Position {
            epoch: epoch.map(str::to_owned),
            notice: match gap {
                Gap::None => self.position.notice.clone(),
                Gap::Notices | Gap::Everything => last.unwrap_or("0-0").to_owned(),
            },
        };
        if let (Some(exchange), Some(reply)) = (&mut self.exchange, replies.get(4)) {
            exchange.take_all(keys, values, reply).await;
        }
        if gap == Gap::Everything {
            tracing::warn!(
                "the cluster's store has lost its data; this gateway writes its own sessions and keys to it again"
            );
            sessions.store_again();
            let claims = homes::claims(keys, values, &self.membership.homes.here(), &me.id);
            for claims in claims.chunks(ENDS_AT_ONCE) {
                store.run(claims.to_vec(), WHOLE).await?;
            }
        }
        if gap != Gap::Everything {
            // Another replica may have become the home of an owner while this one could not be seen.
            self.membership.homes.ask_again();
        }
        if gap != Gap::None {
            self.check_sessions().await?;
        }
        self.position = position;
        self.membership.managed.notify_one();
        *self.membership.settled.lock() = Some(std::time::Instant::now());
        self.membership.definitions.joined();
        self.membership.consents.joined();
        self.membership.sign_ins.joined();
        Ok(())
    }

    /// Reports that this replica is alive, and finds out which other replicas are alive.
    async fn beat(&mut self) -> Result<(), StoreError> {
        let Membership { store, keys, values, me, sessions, .. } = &*self.membership;
        let me = Replica { sessions: sessions.open().len(), ..me.clone() };
        let Some(beat) = replicas::beat(keys, values, &me, now_ms()) else { return Ok(()) };
        let mut commands: Vec<_> = beat.into();
        commands.extend([StoreCommand::new("GET").arg(keys.epoch()), notices::read_last(keys)]);
        let replies = store.run(commands, WRITE).await?;
        let lost_data = replies.get(4).and_then(StoreReply::text) != self.position.epoch.as_deref();
        if lost_data || self.position.is_ahead_of(replies.get(5).and_then(notices::first_id)) {
            self.is_joined = false;
            return Ok(());
        }
        let ids = replicas::ids(replies.get(2).unwrap_or(&StoreReply::Nil));
        self.membership.read_listed(&ids, WRITE).await
    }

    async fn read_notices(&mut self) -> Result<(), StoreError> {
        let Membership { store, keys, values, sessions, managed, me, consents, sign_ins, .. } =
            &*self.membership;
        loop {
            let reply = store.one(notices::read_after(keys, &self.position.notice), WRITE).await?;
            let read =
                notices::notices(keys, values, &reply, |id| self.membership.own_notices.lock().take(id));
            for notice in read.notices {
                match notice {
                    Notice::SessionsEnded(ids) => {
                        let ended: Vec<_> = ids.iter().filter_map(|id| sessions::key(id)).collect();
                        sessions.end(&ended);
                    }
                    Notice::Keys(records) => {
                        if let Some(exchange) = &mut self.exchange {
                            exchange.take(records).await;
                        }
                    }
                    Notice::Changes => managed.notify_one(),
                    Notice::Definitions(names) => self.membership.definitions.changed(&names),
                    Notice::Consents(names) => consents.changed(&names),
                    Notice::SignIns(names) => sign_ins.changed(&names),
                    Notice::Left(id) => {
                        if let Ok(id) = u64::from_str_radix(&id, 16) {
                            self.membership.peers.left(id);
                        }
                    }
                    Notice::Logins(news) => {
                        let attempts = self.membership.logins.lock().take_news(news, &me.id, now_ms());
                        self.membership.operators.attempted(&attempts);
                    }
                }
            }
            if let Some(last) = read.last {
                self.position.notice = last;
            }
            if !read.is_full {
                return Ok(());
            }
        }
    }

    async fn write_keys(&mut self) -> Result<(), StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let Some(exchange) = &mut self.exchange else { return Ok(()) };
        let Some(changed) = exchange.changed(values).await else { return Ok(()) };
        for commands in exchange.commands(keys, values, &changed.keys) {
            store.run(commands, WRITE).await?;
        }
        exchange.written(changed);
        Ok(())
    }

    /// Ends those sessions in memory that ended at another replica while this replica could not read notices.
    async fn check_sessions(&self) -> Result<(), StoreError> {
        let Membership { store, keys, values, sessions, .. } = &*self.membership;
        for part in sessions.open().chunks(ENDS_AT_ONCE) {
            let replies = store.run(sessions::look_up_ends(keys, part), WHOLE).await?;
            sessions.end(&sessions::ends(keys, values, part, &replies));
        }
        Ok(())
    }
}

impl Membership {
    /// Finds out which replicas are alive.
    pub(crate) async fn read_replicas(&self, within: Duration) -> Result<(), StoreError> {
        let listed = self.store.one(replicas::list(&self.keys), within).await?;
        self.read_listed(&replicas::ids(&listed), within).await
    }

    /// Reads the replicas with these ids.
    async fn read_listed(&self, ids: &[String], within: Duration) -> Result<(), StoreError> {
        let Self { store, keys, values, me, peers, .. } = self;
        if ids.is_empty() {
            return Ok(());
        }
        let read = store.one(replicas::read(keys, ids), within).await?;
        let alive = replicas::alive(keys, values, ids, &read);
        let mut incompatible = self.incompatible.lock();
        *incompatible = formats::warn(&alive, &incompatible);
        drop(incompatible);
        peers.take(&alive, me, std::time::Instant::now());
        self.last_replica_count
            .store(u32::try_from(alive.len()).unwrap_or(u32::MAX).max(1), Ordering::Relaxed);
        self.replicas.store(Arc::new(alive));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(notice: &str) -> Position {
        Position { epoch: Some("a".to_owned()), notice: notice.to_owned() }
    }

    #[test]
    fn a_position_within_the_stream_has_missed_nothing() {
        for (notice, first, last) in [
            ("0-0", None, None),
            ("5-1", Some("5-1"), Some("5-1")),
            ("5-1", Some("3-0"), Some("10-0")),
            ("9-9", Some("9-9"), Some("9-10")),
        ] {
            assert_eq!(at(notice).gap(Some("a"), first, last), Gap::None, "{notice}");
        }
    }

    #[test]
    fn a_position_outside_of_the_stream_has_missed_notices() {
        assert_eq!(at("5-1").gap(Some("a"), Some("5-2"), Some("8-0")), Gap::Notices, "the beginning is gone");
        assert_eq!(at("5-1").gap(Some("a"), Some("4-0"), Some("5-0")), Gap::Notices, "the end is gone");
        assert_eq!(at("5-1").gap(Some("a"), None, None), Gap::Notices, "the stream is gone");
        assert_eq!(Position::default().gap(Some("a"), None, None), Gap::Notices, "nothing was read before");
    }

    #[test]
    fn another_number_means_that_everything_is_gone() {
        assert_eq!(at("5-1").gap(Some("b"), Some("5-1"), Some("5-1")), Gap::Everything);
        assert_eq!(at("5-1").gap(None, Some("5-1"), Some("5-1")), Gap::Everything);
    }
}
