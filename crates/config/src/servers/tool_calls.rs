//! The rules for calls to individual tools of a server: their time limits, and the rule for sending a call again. This module must
//! not know how a call is made.

use std::time::Duration;

use super::server::{ResendRule, Timeout};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{Optional, Word};
use crate::syntax::parse::Entry;
use crate::values::units;

/// The maximum total time of a call.
pub(crate) const LONGEST_CALL: Duration = Duration::from_hours(24);

section! {
    /// The rules for calls to a tool.
    pub struct ToolCalls: "a mapping with `timeout`, `callTimeout` or `resend`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            refuse_contradiction(reader, entry, (self.timeout, self.call_timeout));
        }
    } [
        /// The time that a call may go without an answer or a sign of progress.
        "timeout" timeout: Option<Duration> = Optional(Timeout::IDLE), absent "the server's";
        /// The total time that a call may take, even if it reports progress.
        "callTimeout" call_timeout: Option<Duration> = Optional(Timeout::WHOLE), absent "the server's";
        /// Decides whether Dragoman resends a call that may have been executed.
        "resend" resend: Option<ResendRule> = Optional(Word), absent "the server's";
    ]
}

/// Rejects an idle timeout that is longer than the total timeout of a call.
pub(crate) fn refuse_contradiction(
    reader: &mut Reader<'_>,
    entry: &Entry,
    (idle, whole): (Option<Duration>, Option<Duration>),
) {
    let (Some(idle), Some(whole)) = (idle, whole) else { return };
    let Some(written) = entry.value.entry("timeout").filter(|_| idle > whole) else { return };
    let (idle, whole) = (units::show_time(idle), units::show_time(whole));
    let message = format!("the idle timeout of a call ({idle}) is longer than its total timeout ({whole})");
    reader.within("timeout", |reader| {
        reader.fault(&written.value.at, message, "set timeout to at most callTimeout");
    });
}
