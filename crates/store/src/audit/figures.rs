//! The parts of recorded calls that statistics need, read in one pass. This module must not know how statistics are
//! computed.

use rusqlite::Row;

use super::{CallOutcome, Log, ReasonKind};
use crate::Error;
use crate::database::counted;

/// The maximum number of entries that are examined.
const MOST: u32 = 300_000;

/// The maximum time by which entries can be out of order, in milliseconds. Entries are stored when calls end, so a
/// call that takes long is stored after calls that arrived later.
const LATE_MS: u64 = 60 * 60 * 1000;

/// The parts of a recorded call that statistics need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFigures<'r> {
    /// The time at which the call arrived, in milliseconds since 1970.
    pub at_ms: u64,
    /// The principal that made the call.
    pub principal: &'r str,
    /// The profile to which the call was addressed.
    pub profile: &'r str,
    /// The server to which the call was forwarded, if any.
    pub upstream: Option<&'r str>,
    /// The name that was called.
    pub tool: Option<&'r str>,
    /// The client's name and version.
    pub client: Option<&'r str>,
    /// The outcome of the call.
    pub outcome: CallOutcome,
    /// The time from the call's arrival to its answer, in microseconds.
    pub duration_us: u64,
    /// The kind of the reason why the call did not succeed, if it was recorded.
    pub reason: Option<ReasonKind>,
}

/// The extent of a pass over the entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Examined {
    /// The number of calls.
    pub calls: usize,
    /// If there are too many calls to examine all of them: the arrival time of the earliest examined call, in
    /// milliseconds since 1970.
    pub cut_off_ms: Option<u64>,
}

impl Log {
    /// Passes to `take` the newest calls, at most 300 000, that arrived at this time or later. Changes and
    /// operations, which are recorded without a request, are not calls.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn figures(&self, since_ms: u64, mut take: impl FnMut(&CallFigures<'_>)) -> Result<Examined, Error> {
        self.database().read(|file| {
            let mut select = file.prepare_cached(
                "SELECT at_ms, principal, profile, upstream, tool, client, outcome, duration_us, reason FROM calls \
                 WHERE request_bytes > 0 ORDER BY id DESC LIMIT ?1",
            )?;
            let (mut rows, mut examined) = (select.query([MOST])?, Examined::default());
            let (mut seen, mut earliest) = (0, u64::MAX);
            while let Some(row) = rows.next()? {
                let at_ms = counted(row.get(0)?);
                (seen, earliest) = (seen + 1, earliest.min(at_ms));
                // Entries are stored in the order of their ends, which is nearly the order of their times.
                if at_ms.saturating_add(LATE_MS) < since_ms {
                    break;
                }
                if at_ms >= since_ms {
                    examined.calls += 1;
                    take(&figures(row, at_ms)?);
                }
            }
            examined.cut_off_ms = (seen == MOST).then_some(earliest.max(since_ms));
            Ok(examined)
        })
    }
}

fn figures<'r>(row: &'r Row<'_>, at_ms: u64) -> rusqlite::Result<CallFigures<'r>> {
    let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let maybe = |column| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
    Ok(CallFigures {
        at_ms,
        principal: text(1)?,
        profile: text(2)?,
        upstream: maybe(3)?,
        tool: maybe(4)?,
        client: maybe(5)?,
        outcome: text(6)?.parse().unwrap_or(CallOutcome::Error),
        duration_us: counted(row.get(7)?),
        reason: maybe(8)?.and_then(|kind| kind.parse().ok()),
    })
}
