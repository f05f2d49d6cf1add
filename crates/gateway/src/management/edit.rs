//! A manager's change, passed to the task that applies it. This module must not know HTTP, or what a change
//! means.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::changes::Refusal;
use crate::changes::edits::{ConfigRequest, Edit, EditRequest, Edited, Reloaded};
use crate::process::Shard;

/// The time limit for a change to take effect.
const EDIT_TIME: Duration = Duration::from_secs(30);

/// Puts a change into force and stores it.
pub(crate) async fn edit(shard: &Shard, edit: Edit) -> Result<Edited, Refusal> {
    let (reply, made) = oneshot::channel();
    send(shard, ConfigRequest::Edit(EditRequest { edit, reply }))?;
    answer(made).await?
}

/// Reads the file of the configuration again, and puts it into force.
///
/// # Errors
/// Fails if the task is busy; errors of the file are part of the result.
pub async fn reload(shard: &Shard) -> Result<Reloaded, Refusal> {
    let (reply, made) = oneshot::channel();
    send(shard, ConfigRequest::Reload(reply))?;
    answer(made).await
}

fn send(shard: &Shard, request: ConfigRequest) -> Result<(), Refusal> {
    let busy = || Refusal::new(503, "BUSY", "other changes are in progress; try again");
    let edits = shard.gateway.process.edits.get().ok_or_else(busy)?;
    edits.try_send(request).map_err(|_| busy())
}

async fn answer<T>(made: oneshot::Receiver<T>) -> Result<T, Refusal> {
    match tokio::time::timeout(EDIT_TIME, made).await {
        Ok(Ok(made)) => Ok(made),
        Ok(Err(_)) | Err(_) => Err(Refusal::internal(
            "the result of the change is unknown; check whether \
            it was made",
        )),
    }
}
