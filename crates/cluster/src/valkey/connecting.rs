//! A new connection to the store: TCP, TLS, credentials, and the checks that the store is suitable. This module
//! must not know what is stored.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use config::StoreUrl;
use secrecy::ExposeSecret as _;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;
use transport::net::client::{ByteStream, Trust, connect_bytes};

use super::connection::{Lost, StoreConnection};
use super::server_facts::ServerFacts;
use super::{StoreState, UnfitStore};
use crate::resp::{StoreCommand, StoreReply};

/// The maximum time for opening a connection, and for the answers to its first commands.
const WITHIN: Duration = Duration::from_secs(2);

/// The address of a store, and the credentials for it.
#[derive(Debug, Clone)]
pub(crate) struct StoreAddress {
    /// The address and the credentials.
    pub(crate) url: StoreUrl,
    /// The trusted authorities, for connections with TLS.
    pub(crate) trust: Trust,
    /// The channel on which other replicas announce notices.
    pub(crate) channel: String,
}

/// The reason why a connection cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unconnected {
    #[error("{0}")]
    Unreachable(String),
    #[error("{0}")]
    Unfit(#[from] UnfitStore),
}

impl From<Lost> for Unconnected {
    fn from(lost: Lost) -> Self {
        Self::Unreachable(lost.to_string())
    }
}

impl Unconnected {
    pub(crate) fn state(self) -> StoreState {
        match self {
            Self::Unreachable(why) => StoreState::Unreachable(why),
            Self::Unfit(unfit) => StoreState::Unfit(unfit),
        }
    }
}

impl StoreAddress {
    /// Opens a connection that is subscribed to the channel. Also returns the version of the store.
    pub(crate) async fn connect(&self) -> Result<(StoreConnection, String), Unconnected> {
        let StoreUrl { is_secure, host, port, .. } = &self.url;
        let trust = is_secure.then_some(&self.trust);
        let stream = connect_bytes((host, *port), trust, WITHIN).await;
        let stream = stream.map_err(|error| Unconnected::Unreachable(error.to_string()))?;
        timeout(WITHIN, self.greet(stream)).await.map_err(|_| {
            Unconnected::Unreachable(format!("{} accepts connections, but does not answer", self.url))
        })?
    }

    async fn greet(&self, stream: Box<dyn ByteStream>) -> Result<(StoreConnection, String), Unconnected> {
        let mut connection = StoreConnection::new(stream);
        let hello = StoreCommand::new("HELLO").arg("3");
        let hello = match &self.url.password {
            None => hello,
            Some(password) => {
                let user = self.url.user.as_deref().unwrap_or("default");
                hello.arg("AUTH").arg(user).arg(password.expose_secret())
            }
        };
        let first = [
            hello,
            StoreCommand::new("SELECT").number(self.url.database),
            StoreCommand::new("INFO"),
            StoreCommand::new("TIME"),
        ];
        let [greeting, selected, info, time] = connection.ask(&first).await?;
        for reply in [&greeting, &selected, &info, &time] {
            if let StoreReply::Error(why) = reply {
                return Err(Unconnected::Unreachable(format!("{} refused the connection: {why}", self.url)));
            }
        }
        let facts = ServerFacts::parse(info.text().unwrap_or_default());
        facts.check(skew_ms(&time))?;
        let mut subscribe = Vec::new();
        StoreCommand::new("SUBSCRIBE").arg(&self.channel).write(&mut subscribe);
        connection.stream.write_all(&subscribe).await.map_err(Lost::from)?;
        Ok((connection, facts.version))
    }
}

/// Returns how far the store's clock is ahead of this machine's, in milliseconds.
fn skew_ms(time: &StoreReply) -> i64 {
    let [seconds, micros] = time.list() else { return 0 };
    let (Some(seconds), Some(micros)) = (seconds.integer(), micros.integer()) else { return 0 };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    seconds.saturating_mul(1000).saturating_add(micros / 1000).saturating_sub(now)
}
