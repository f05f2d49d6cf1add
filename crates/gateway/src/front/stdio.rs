//! The one client over stdin and stdout: one message per line, in any version, answered in any order.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use config::Limits;
use proto::rpc::{Message, code, error_response};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use transport::net::BoxError;

use crate::admission::identity::Identity;
use crate::front::dialect::{Front, serve_pipe};
use crate::front::lines::client::{Client, LINES, LineTransport};
use crate::front::lines::stdin::{Stdin, StdinLine};
use crate::process::Shard;
use engine::snapshot::frame_limits;

/// The size of a write, in bytes, above which no further lines are added to the write.
const BATCH: usize = 64 << 10;

/// Serves until stdin ends or the gateway stops.
pub(crate) async fn serve(shard: &Arc<Shard>, profile: usize) -> Result<(), BoxError> {
    let (lines, queue) = mpsc::channel(LINES);
    let writer = transport::task::spawn(write(queue));
    let limits = &shard.gateway.snapshot.limits;
    let mut stdin = Stdin::new(limits.line);
    let row = shard.gateway.snapshot.profiles[profile].dialect.clone();
    let outcome = match row {
        None => standard(shard, profile, &mut stdin, VecDeque::new(), &lines).await,
        Some(row) => {
            let front = Front { row: Arc::new(row.over_pipes()), profile };
            let begun = tokio::select! {
                begun = serve_pipe(shard, &front, &mut stdin, &lines) => begun,
                () = shard.gateway.process.stop.stopped() => Ok(None),
            };
            match begun {
                Ok(Some(first)) => standard(shard, profile, &mut stdin, first, &lines).await,
                Ok(None) => Ok(()),
                Err(e) => Err(e),
            }
        }
    };
    drop(lines);
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), writer).await;
    Ok(outcome?)
}

/// Serves the standard protocol; processes the lines in `first` before those of stdin.
async fn standard(
    shard: &Arc<Shard>,
    profile: usize,
    stdin: &mut Stdin,
    first: VecDeque<StdinLine>,
    lines: &mpsc::Sender<Bytes>,
) -> std::io::Result<()> {
    let client = Client::new(
        shard,
        LineTransport {
            id: "stdio".into(),
            profile,
            identity: Identity::anyone(None),
            out: lines.clone(),
            behind: None,
            stateless: true,
            stranger: "send an initialize request first, or the metadata of a stateless version in params._meta",
        },
    );
    let limits = &shard.gateway.snapshot.limits;
    let mut tasks = JoinSet::new();
    let reading = async {
        for line in first {
            take(&client, line, limits, &mut tasks).await;
        }
        read(&client, stdin, limits, &mut tasks).await
    };
    let outcome = tokio::select! {
        outcome = reading => outcome,
        () = shard.gateway.process.stop.stopped() => Ok(()),
    };
    // Requests that arrived before stdin ended are still answered, within the drain timeout.
    let drain = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(limits.drain_timeout, drain).await;
    tasks.shutdown().await;
    client.end().await;
    outcome
}

async fn read(
    client: &Arc<Client>,
    stdin: &mut Stdin,
    limits: &Limits,
    tasks: &mut JoinSet<()>,
) -> std::io::Result<()> {
    while let Some(line) = stdin.next().await? {
        take(client, line, limits, tasks).await;
        while tasks.try_join_next().is_some() {}
    }
    Ok(())
}

async fn take(client: &Arc<Client>, line: StdinLine, limits: &Limits, tasks: &mut JoinSet<()>) {
    match line {
        Ok(line) => client.take(Message::parse(line, frame_limits(limits)), tasks).await,
        Err(message) => client.say(error_response(None, code::INVALID_REQUEST, &message, None)).await,
    }
}

async fn write(mut queue: mpsc::Receiver<Bytes>) {
    let mut stdout = tokio::io::stdout();
    let mut batch = Vec::new();
    while let Some(line) = queue.recv().await {
        batch.clear();
        append(&mut batch, &line);
        // Lines that are already waiting are written together.
        while batch.len() < BATCH
            && let Ok(line) = queue.try_recv()
        {
            append(&mut batch, &line);
        }
        if stdout.write_all(&batch).await.is_err() || stdout.flush().await.is_err() {
            return;
        }
    }
}

/// Appends a message as one line. In JSON text, raw line breaks occur only between tokens, where they are
/// insignificant.
fn append(out: &mut Vec<u8>, message: &[u8]) {
    out.extend(message.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b }));
    out.push(b'\n');
}
