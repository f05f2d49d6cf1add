//! Notices between replicas: entries of a stream, so that a replica that was away for a moment reads what it missed. A
//! notice can arrive twice, and in any order; its effect is the same. This module must not know what a replica does
//! about a notice.

use serde::{Deserialize, Serialize};
use store::keys::KeyRecord;

use crate::families::{MOST_NOTICES, StoreKeys};
use crate::resp::{Command, Reply};
use crate::sealed::SealedValues;

/// The name of the field of an entry that contains the notice.
const FIELD: &str = "notice";

/// The number of notices that are read at once.
const PAGE: usize = 1000;

/// A notice to all replicas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Notice {
    /// These sessions have ended, as their ids in hexadecimal digits.
    SessionsEnded(Vec<String>),
    /// These API keys were created or revoked.
    Keys(Vec<KeyRecord>),
}

/// Notices that were read, and the place at which to go on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadNotices {
    pub(crate) notices: Vec<Notice>,
    /// The id of the last entry; `None` if there was none.
    pub(crate) last: Option<String>,
    /// True if there may be more.
    pub(crate) is_full: bool,
}

/// Returns the commands that send a notice; `None` if it cannot be sealed.
pub(crate) fn send(keys: &StoreKeys, values: &SealedValues, notice: &Notice) -> Option<[Command; 2]> {
    let log = keys.log();
    let sealed = values.write(&log, notice)?;
    let add = Command::new("XADD").arg(&log).arg("MAXLEN").arg("~").number(MOST_NOTICES);
    Some([add.arg("*").arg(FIELD).arg(sealed), Command::new("PUBLISH").arg(&log).arg("")])
}

/// Returns the command that reads the notices after an entry.
pub(crate) fn read_after(keys: &StoreKeys, last: &str) -> Command {
    Command::new("XRANGE").arg(keys.log()).arg(format!("({last}")).arg("+").arg("COUNT").number(PAGE)
}

/// Returns the command that reads the last entry.
pub(crate) fn read_last(keys: &StoreKeys) -> Command {
    Command::new("XREVRANGE").arg(keys.log()).arg("+").arg("-").arg("COUNT").arg("1")
}

/// Returns the command that reads the first entry.
pub(crate) fn read_first(keys: &StoreKeys) -> Command {
    Command::new("XRANGE").arg(keys.log()).arg("-").arg("+").arg("COUNT").arg("1")
}

/// Returns the id of the first entry of a reply.
pub(crate) fn first_id(reply: &Reply) -> Option<&str> {
    reply.list().first()?.list().first()?.text()
}

/// Reads notices from a reply. Entries that no member of the cluster has written are skipped.
pub(crate) fn notices(keys: &StoreKeys, values: &SealedValues, reply: &Reply) -> ReadNotices {
    let (log, mut read) = (keys.log(), ReadNotices::default());
    for entry in reply.list() {
        let [id, fields] = entry.list() else { continue };
        read.last = id.text().map(str::to_owned).or(read.last);
        let [name, sealed] = fields.list() else { continue };
        let notice = sealed.bytes().filter(|_| name.text() == Some(FIELD));
        match notice.and_then(|sealed| values.read(&log, sealed)) {
            Some(notice) => read.notices.push(notice),
            None => tracing::warn!(
                "skipped an entry of the cluster's store that no member of the cluster has written"
            ),
        }
    }
    read.is_full = reply.list().len() >= PAGE;
    read
}

/// Returns true if an entry's id is later than another one.
pub(crate) fn is_later(id: &str, than: &str) -> bool {
    let parts = |id: &str| {
        let (time, number) = id.split_once('-').unwrap_or((id, "0"));
        (time.parse::<u64>().unwrap_or(0), number.parse::<u64>().unwrap_or(0))
    };
    parts(id) > parts(than)
}
