//! The one client over stdin and stdout: a message a line, in every era, interleaved if it likes.

use std::error::Error;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use engine::config::Limits;
use proto::codec::line::LineDecoder;
use proto::rpc::{Message, code, error_response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::identity::Identity;
use super::lines::{Client, LINES, Way};
use super::{Shard, frame_limits};

/// How much is read at once.
const CHUNK: usize = 64 << 10;

type BoxError = Box<dyn Error + Send + Sync>;

/// Serves until stdin ends or the gateway stops.
pub(super) async fn serve(shard: &Shard, profile: usize) -> Result<(), BoxError> {
    let (lines, queue) = mpsc::channel(LINES);
    let writer = tokio::spawn(write(queue));
    let client = Client::new(
        shard,
        Way {
            id: "stdio".into(),
            profile,
            identity: Identity::anyone(None),
            out: lines,
            behind: None,
            stateless: true,
            stranger: "send an initialize request first, or the metadata of a stateless version in params._meta",
        },
    );
    let limits = &shard.gateway.snapshot.limits;
    let mut tasks = JoinSet::new();
    let outcome = tokio::select! {
        outcome = read(&client, limits, &mut tasks) => outcome,
        () = shard.gateway.stop.stopped() => Ok(()),
    };
    // What was asked before stdin ended is still answered, within the time that a stop gives.
    let drain = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(limits.drain_timeout, drain).await;
    tasks.shutdown().await;
    client.end().await;
    drop(client);
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), writer).await;
    Ok(outcome?)
}

async fn read(client: &Arc<Client>, limits: &Limits, tasks: &mut JoinSet<()>) -> std::io::Result<()> {
    let frames = frame_limits(limits);
    let mut decoder = LineDecoder::new(limits.line);
    let mut stdin = tokio::io::stdin();
    loop {
        let mut chunk = BytesMut::with_capacity(CHUNK);
        let ended = stdin.read_buf(&mut chunk).await? == 0;
        decoder.push(chunk.freeze());
        loop {
            let line = decoder.next_line().or_else(|| if ended { decoder.finish() } else { None });
            match line {
                None => break,
                Some(Ok(line)) => client.take(Message::parse(line, frames), tasks).await,
                Some(Err(e)) => {
                    let message = format!("{e} (`limits.line` in the configuration)");
                    client.say(error_response(None, code::INVALID_REQUEST, &message, None)).await;
                }
            }
        }
        while tasks.try_join_next().is_some() {}
        if ended {
            return Ok(());
        }
    }
}

async fn write(mut queue: mpsc::Receiver<Bytes>) {
    let mut stdout = tokio::io::stdout();
    let mut batch = Vec::new();
    while let Some(line) = queue.recv().await {
        batch.clear();
        append(&mut batch, &line);
        // Lines that wait already are written together.
        while batch.len() < CHUNK
            && let Ok(line) = queue.try_recv()
        {
            append(&mut batch, &line);
        }
        if stdout.write_all(&batch).await.is_err() || stdout.flush().await.is_err() {
            return;
        }
    }
}

/// Appends a message as one line. Line breaks between tokens mean nothing in JSON, and inside strings there are none.
fn append(out: &mut Vec<u8>, message: &[u8]) {
    out.extend(message.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b }));
    out.push(b'\n');
}
