//! An open connection: replies arrive in the order of the commands, with announcements between them. This module
//! must not know what is stored.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;
use transport::net::client::ByteStream;

use crate::resp::{Decoder, RespFault, StoreCommand, StoreReply};

/// The time without any data after which a connection with unanswered commands is given up.
const SILENCE: Duration = Duration::from_secs(5);

/// The maximum number of batches whose replies have not arrived.
const MOST_PENDING: usize = 4096;

/// The reason why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error("the connection to the store broke off: {0}")]
    Broken(#[from] io::Error),
    #[error("the store closed the connection")]
    Closed,
    #[error("the store stopped answering")]
    Silent,
    #[error("{0}")]
    Unreadable(#[from] RespFault),
    #[error("the store sent a reply that belongs to no command")]
    Unasked,
}

/// Commands that are sent together, and the receiver of their replies.
pub(super) struct CommandBatch {
    pub(super) commands: Vec<StoreCommand>,
    pub(super) done: oneshot::Sender<Vec<StoreReply>>,
}

/// A batch that was sent.
struct PendingBatch {
    missing: usize,
    replies: Vec<StoreReply>,
    done: oneshot::Sender<Vec<StoreReply>>,
}

/// An open connection.
pub(crate) struct StoreConnection {
    pub(super) stream: Box<dyn ByteStream>,
    decoder: Decoder,
    pending: VecDeque<PendingBatch>,
}

impl StoreConnection {
    pub(super) fn new(stream: Box<dyn ByteStream>) -> Self {
        Self { stream, decoder: Decoder::default(), pending: VecDeque::new() }
    }

    /// Sends the first commands of a connection, and waits for their replies.
    pub(super) async fn ask<const N: usize>(
        &mut self,
        commands: &[StoreCommand; N],
    ) -> Result<[StoreReply; N], Lost> {
        let mut bytes = Vec::new();
        for command in commands {
            command.write(&mut bytes);
        }
        self.stream.write_all(&bytes).await?;
        let mut replies = Vec::with_capacity(N);
        while replies.len() < N {
            match self.decoder.next()? {
                Some(StoreReply::Push(_)) => {}
                Some(reply) => replies.push(reply),
                None => self.read().await?,
            }
        }
        replies.try_into().map_err(|_| Lost::Unasked)
    }

    /// Sends batches until the connection is lost, or until no more batches can come (`None`). `announced` is
    /// notified of each message in a channel.
    pub(super) async fn serve(
        mut self,
        batches: &mut mpsc::Receiver<CommandBatch>,
        announced: &Notify,
    ) -> Option<Lost> {
        loop {
            let may_send = self.pending.len() < MOST_PENDING;
            let owes = !self.pending.is_empty();
            let received = tokio::select! {
                batch = batches.recv(), if may_send => match batch {
                    Some(batch) => self.send(batch).await,
                    None => return None,
                },
                read = timeout(SILENCE, self.stream.read_buf(self.decoder.buffer())) => match read {
                    Ok(Ok(0)) => Err(Lost::Closed),
                    Ok(Ok(_)) => self.take(announced),
                    Ok(Err(error)) => Err(error.into()),
                    Err(_) if owes => Err(Lost::Silent),
                    Err(_) => Ok(()),
                },
            };
            if let Err(lost) = received {
                return Some(lost);
            }
        }
    }

    async fn read(&mut self) -> Result<(), Lost> {
        match self.stream.read_buf(self.decoder.buffer()).await? {
            0 => Err(Lost::Closed),
            _ => Ok(()),
        }
    }

    async fn send(&mut self, batch: CommandBatch) -> Result<(), Lost> {
        let mut bytes = Vec::with_capacity(batch.commands.iter().map(|command| command.size() + 16).sum());
        batch.commands.iter().for_each(|command| command.write(&mut bytes));
        let missing = batch.commands.len();
        self.pending.push_back(PendingBatch {
            missing,
            replies: Vec::with_capacity(missing),
            done: batch.done,
        });
        timeout(SILENCE, self.stream.write_all(&bytes)).await.map_err(|_| Lost::Silent)??;
        Ok(())
    }

    /// Hands over all replies that have arrived.
    fn take(&mut self, announced: &Notify) -> Result<(), Lost> {
        while let Some(reply) = self.decoder.next()? {
            if let StoreReply::Push(values) = &reply {
                if values.first().and_then(StoreReply::text) == Some("message") {
                    announced.notify_one();
                }
                continue;
            }
            let Some(first) = self.pending.front_mut() else { return Err(Lost::Unasked) };
            first.replies.push(reply);
            first.missing -= 1;
            if first.missing == 0
                && let Some(done) = self.pending.pop_front()
            {
                // The sender may have stopped waiting.
                let _ = done.done.send(done.replies);
            }
        }
        Ok(())
    }
}
