//! A manager's change on its way to the task that puts it into force. This module must not know HTTP, or what a change
//! means.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::changes::Refusal;
use crate::changes::edits::{Edit, EditRequest, Edited};
use crate::process::Shard;

/// The time limit for a change to take effect.
const EDIT_TIME: Duration = Duration::from_secs(30);

/// Puts a change into force and stores it.
pub(crate) async fn edit(shard: &Shard, edit: Edit) -> Result<Edited, Refusal> {
    let busy = || Refusal::new(503, "BUSY", "other changes are in progress; try again");
    let (reply, made) = oneshot::channel();
    let edits = shard.gateway.process.edits.get().ok_or_else(busy)?;
    edits.try_send(EditRequest { edit, reply }).map_err(|_| busy())?;
    match tokio::time::timeout(EDIT_TIME, made).await {
        Ok(Ok(made)) => made,
        Ok(Err(_)) | Err(_) => Err(Refusal::internal(
            "the result of the change is unknown; check whether \
            it was made",
        )),
    }
}
