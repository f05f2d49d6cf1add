//! Answers that the gateway itself gives: lists, introductions, and results of its own tools. This module must not
//! know which requests are answered here.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::View;
use proto::era::CacheableResult;
use proto::rpc::{Frame, result_pieces, result_response};

use super::CallContext;
use super::caller::Caller;
use super::decide::{Decision, request_id};
use super::record::Record;
use crate::view::view_cell::ViewCell;

/// The size of a page, in bytes, above which free memory is returned to the system after sending. Otherwise the
/// allocator would keep the memory of the page's temporary copies.
const LARGE: usize = 256 << 10;

/// The size of a ready result, in bytes, above which it is sent in pieces instead of being copied.
const LONG: usize = 16 << 10;

/// Answers with a list or an introduction.
pub(super) fn listed(
    context: &CallContext,
    (cell, view): (&ViewCell, &View),
    frame: &Frame,
    result: &CacheableResult,
) -> Result<Decision, Fault> {
    note_listed(context, cell, result);
    let pieces = result_pieces(request_id(frame)?, result.pieces(|| cell.remaining_ms(view)));
    Ok(if result.text().len() > LONG {
        Decision::Long(pieces)
    } else {
        Decision::Done(200, Bytes::from(pieces.concat()))
    })
}

/// Answers a call of the gateway's own tool, and records it.
pub(super) fn own(
    context: &Arc<CallContext>,
    cell: &ViewCell,
    caller: &Caller,
    frame: &Frame,
    result: &Bytes,
) -> Result<Decision, Fault> {
    // The search index is kept for as long as the pages.
    cell.page_use.note();
    if let Some(mut record) = Record::begin(context, caller.identity(), cell.profile, frame) {
        record.body(result, false);
    }
    Ok(Decision::Done(200, result_response(request_id(frame)?, result)))
}

/// Records that a client has used the ready pages.
fn note_listed(context: &CallContext, cell: &ViewCell, result: &CacheableResult) {
    cell.page_use.note();
    if result.text().len() > LARGE {
        context.view.state.views.note_large();
    }
}
