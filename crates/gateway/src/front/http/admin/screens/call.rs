//! The page of one call.

use pages::model::{CallPage, CaptureState};
use pages::page;
use serde_json::Value;
use store::audit::Query;

use super::super::page_reply::{self, Shown};
use super::super::page_request::PageRequest;
use super::call_rows;
use crate::changes::Refusal;
use crate::insight::calls;

/// Shows a call.
pub(in super::super) async fn show(request: &PageRequest) -> Shown {
    let shard = &request.shard;
    let missing = || Refusal::new(404, "CALL_NOT_FOUND", "The number of a call consists of digits.");
    let id: i64 = request.named(0).parse().map_err(|_| missing())?;
    let call = calls::call(shard, id).await?;
    let older = Query { before: Some(id), limit: 1, ..Query::default() };
    let newer = Query { after: Some(id), limit: 1, ..Query::default() };
    let older = call_rows::newest(shard, older).await.first().map(|row| row.id);
    let newer = call_rows::newest(shard, newer).await.last().map(|row| row.id);
    let arguments = call.arguments.as_deref().map(indented);
    let data = CallPage {
        row: call_rows::row(call),
        arguments: arguments.map(Into::into),
        older,
        newer,
        capture: CaptureState::Off,
        ..CallPage::default()
    };
    page_reply::ok(page::call(&request.frame(), &data))
}

/// Returns JSON text with a line for each value; other text stays as it is.
fn indented(text: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(text);
    value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| text.to_owned())
}
