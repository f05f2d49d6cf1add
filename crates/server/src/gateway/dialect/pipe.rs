//! The one client over stdin and stdout, of a profile with a dialect: a message a line, answered in order. A client that
//! is to be served as the protocol says is, with that message and all that follow.

use std::sync::Arc;

use bytes::Bytes;
use engine::Condition;
use engine::access::Principal;
use engine::dialect::{Reply, Trouble};
use tokio::sync::mpsc;

use super::serve::{Front, Taken, refuse, take};
use super::sessions::Session;
use crate::gateway::Shard;
use crate::gateway::identity::Identity;
use crate::gateway::stdio::Stdin;

/// Serves until stdin ends, or until a line that wants to be served otherwise, which is given back.
pub(crate) async fn serve(
    shard: &Shard,
    front: &Front,
    stdin: &mut Stdin,
    out: &mpsc::Sender<Bytes>,
) -> std::io::Result<Option<Bytes>> {
    let identity = Identity::anyone(None);
    let session = Session::new(Arc::new(Principal::anyone()), front.profile, None, None);
    while let Some(line) = stdin.next().await? {
        let reply = match line {
            Err(e) => refuse(&front.row, &Trouble::new(Condition::InvalidRequest, e)),
            Ok(line) => match take(shard, front, &identity, Some(&session), None, &line).await {
                Taken::Reply(reply, _) => reply,
                Taken::Standard(_) => return Ok(Some(line)),
            },
        };
        say(out, reply).await;
    }
    Ok(None)
}

async fn say(out: &mpsc::Sender<Bytes>, reply: Reply) {
    if !reply.body.is_empty() {
        let _ = out.send(reply.body).await;
    }
}
