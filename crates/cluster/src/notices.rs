//! Notices between replicas. They are entries of a stream, so a replica that was away for a moment can read those
//! that it missed. Notices can arrive twice and in any order without changing their effect. This module must not
//! know what a replica does about a notice.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use store::keys::KeyRecord;

use crate::families::{MOST_NOTICES, StoreKeys};
use crate::logins::LoginNews;
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::{SealedValues, StoredValue};

/// The name of the field, in an entry of the stream, that contains the notice.
const FIELD: &str = "notice";

/// The number of notices that are read in one batch.
const PAGE: usize = 1000;

/// A notice to all replicas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Notice {
    /// The ids of sessions that have ended, in hexadecimal digits.
    SessionsEnded(Vec<String>),
    /// These API keys were created or revoked.
    Keys(Vec<KeyRecord>),
    /// The managed configuration was changed.
    Changes,
    /// The consents with these names were given, renewed or withdrawn.
    Consents(Vec<String>),
    /// The approved definitions of the servers with these names were changed, or were read by a replica that has just started.
    Definitions(Vec<String>),
    /// The grants with these names began or ended.
    SignIns(Vec<String>),
    /// Logins of operators have ended, or were attempted.
    Logins(LoginNews),
    /// The replica with this id has ended on request.
    Left(String),
}

/// The maximum number of own notices that are remembered.
const MOST_OWN: usize = 256;

/// The ids of notices that a replica has sent itself. It knows what they say, so it does not open them.
#[derive(Debug, Default)]
pub(crate) struct OwnNotices(VecDeque<String>);

impl OwnNotices {
    /// Remembers the notice in the replies to commands that end with [`send`].
    pub(crate) fn sent(&mut self, replies: &[StoreReply]) {
        if let [.., added, _] = replies
            && let Some(id) = added.text()
        {
            self.0.truncate(MOST_OWN - 1);
            self.0.push_front(id.to_owned());
        }
    }

    /// Forgets a notice; returns true if it was remembered.
    pub(crate) fn take(&mut self, id: &str) -> bool {
        let found = self.0.iter().position(|own| own == id);
        found.is_some_and(|at| self.0.remove(at).is_some())
    }
}

/// Notices that were read, and the position from which to continue.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadNotices {
    pub(crate) notices: Vec<Notice>,
    /// The id of the last entry; `None` if there was none.
    pub(crate) last: Option<String>,
    /// True if there may be more notices to read.
    pub(crate) is_full: bool,
}

/// Returns the commands that send a notice; `None` if it cannot be sealed.
pub(crate) fn send(keys: &StoreKeys, values: &SealedValues, notice: &Notice) -> Option<[StoreCommand; 2]> {
    let log = keys.log();
    let sealed = values.write(&log, notice)?;
    let add = StoreCommand::new("XADD").arg(&log).arg("MAXLEN").arg("~").number(MOST_NOTICES);
    Some([add.arg("*").arg(FIELD).arg(sealed), StoreCommand::new("PUBLISH").arg(&log).arg("")])
}

/// Returns the command that reads the notices after an entry.
pub(crate) fn read_after(keys: &StoreKeys, last: &str) -> StoreCommand {
    StoreCommand::new("XRANGE").arg(keys.log()).arg(format!("({last}")).arg("+").arg("COUNT").number(PAGE)
}

/// Returns the command that reads the last entry.
pub(crate) fn read_last(keys: &StoreKeys) -> StoreCommand {
    StoreCommand::new("XREVRANGE").arg(keys.log()).arg("+").arg("-").arg("COUNT").arg("1")
}

/// Returns the command that reads the first entry.
pub(crate) fn read_first(keys: &StoreKeys) -> StoreCommand {
    StoreCommand::new("XRANGE").arg(keys.log()).arg("-").arg("+").arg("COUNT").arg("1")
}

/// Returns the id of the first entry of a reply.
pub(crate) fn first_id(reply: &StoreReply) -> Option<&str> {
    reply.list().first()?.list().first()?.text()
}

/// Reads notices from a reply, except for `own` ones. Entries that no member of the cluster has written are skipped.
pub(crate) fn notices(
    keys: &StoreKeys,
    values: &SealedValues,
    reply: &StoreReply,
    mut is_own: impl FnMut(&str) -> bool,
) -> ReadNotices {
    let (log, mut read) = (keys.log(), ReadNotices::default());
    for entry in reply.list() {
        let [id, fields] = entry.list() else { continue };
        read.last = id.text().map(str::to_owned).or(read.last);
        if id.text().is_some_and(&mut is_own) {
            continue;
        }
        let [name, sealed] = fields.list() else { continue };
        let notice = sealed.bytes().filter(|_| name.text() == Some(FIELD));
        match notice.map_or(StoredValue::Foreign, |sealed| values.value(&log, sealed)) {
            StoredValue::Known(notice) => read.notices.push(notice),
            StoredValue::Newer => {
                tracing::debug!("skipped a notice of a gateway with a newer version of Dragoman");
            }
            StoredValue::Foreign => tracing::warn!(
                "skipped an entry of the cluster's store that no member of the cluster has written"
            ),
        }
    }
    read.is_full = reply.list().len() >= PAGE;
    read
}

/// Returns true if an entry's id is later than another entry's id.
pub(crate) fn is_later(id: &str, than: &str) -> bool {
    let parts = |id: &str| {
        let (time, number) = id.split_once('-').unwrap_or((id, "0"));
        (time.parse::<u64>().unwrap_or(0), number.parse::<u64>().unwrap_or(0))
    };
    parts(id) > parts(than)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{cluster, parts, stays_readable, text};

    fn entry(id: &str, fields: &[StoreReply]) -> StoreReply {
        StoreReply::List(vec![text(id), StoreReply::List(fields.to_vec())])
    }

    #[test]
    fn a_notice_is_read_as_it_was_sent() {
        let (keys, values) = cluster();
        let notice = Notice::SessionsEnded(vec!["00".to_owned()]);
        let [add, publish] = send(&keys, &values, &notice).unwrap();
        let added = parts(&add);
        assert_eq!(added[..6], ["XADD", "test:log", "MAXLEN", "~", "100000", "*"]);
        assert_eq!(parts(&publish)[..2], ["PUBLISH", "test:log"]);
        let reply = StoreReply::List(vec![entry("5-0", &[text(&added[6]), text(&added[7])])]);
        let read = notices(&keys, &values, &reply, |_| false);
        assert_eq!(read, ReadNotices { notices: vec![notice], last: Some("5-0".to_owned()), is_full: false });
    }

    #[test]
    fn entries_of_strangers_are_skipped_and_not_read_again() {
        let (keys, values) = cluster();
        let sealed = |name: &str| text(values.write(name, &Notice::SessionsEnded(Vec::new())).unwrap());
        let field = || text(FIELD);
        let reply = StoreReply::List(vec![
            entry("1-0", &[field(), text("garbage")]),
            entry("2-0", &[text("other"), sealed("test:log")]),
            entry("3-0", &[field(), sealed("test:session:0")]),
            entry("4-0", &[]),
            entry("5-0", &[field(), sealed("test:log"), field(), sealed("test:log")]),
            StoreReply::Nil,
            entry("6-0", &[field(), StoreReply::Integer(1)]),
            entry("7-0", &[field(), sealed("test:log")]),
            entry("8-0", &[field()]),
        ]);
        let read = notices(&keys, &values, &reply, |_| false);
        assert_eq!((read.notices.len(), read.last.as_deref()), (1, Some("8-0")));
        assert_eq!(notices(&keys, &values, &StoreReply::Nil, |_| false), ReadNotices::default());
    }

    #[test]
    fn notices_of_released_versions_stay_readable() {
        for recorded in [
            r#"{"sessionsEnded":["00"]}"#,
            r#"{"keys":[{"digest":"00","prefix":"dr","name":"one","profiles":null,"created_ms":1,"expires_ms":null,"revoked_ms":2}]}"#,
            r#""changes""#,
            r#"{"consents":["ab"]}"#,
            r#"{"definitions":["ab"]}"#,
            r#"{"left":"00000000000000aa"}"#,
            r#"{"signIns":["ab"]}"#,
            r#"{"logins":{"from":"aa","ended":[["07",{"atMs":1,"untilMs":2}]],"attempts":[{"failed":"192.0.2.1"}]}}"#,
        ] {
            stays_readable::<Notice>(recorded);
        }
        let (keys, values) = cluster();
        let later = text(values.write("test:log", &("a notice of a later version",)).unwrap());
        let reply = StoreReply::List(vec![entry("5-0", &[text(FIELD), later])]);
        let read = notices(&keys, &values, &reply, |_| false);
        assert_eq!((read.notices.len(), read.last.as_deref()), (0, Some("5-0")));
    }

    #[test]
    fn own_notices_are_not_opened() {
        let (keys, values) = cluster();
        let mut own = OwnNotices::default();
        for number in 0..2 * MOST_OWN {
            own.sent(&[StoreReply::Nil, text(format!("{number}-0")), StoreReply::Integer(1)]);
        }
        own.sent(&[]);
        assert!(own.0.len() == MOST_OWN && !own.take("0-0"), "the oldest are forgotten");
        let sealed = text(values.write("test:log", &Notice::Changes).unwrap());
        let last = format!("{}-0", 2 * MOST_OWN - 1);
        let reply = StoreReply::List(
            ["600-0", &last, "601-0"].map(|id| entry(id, &[text(FIELD), sealed.clone()])).to_vec(),
        );
        let read = notices(&keys, &values, &reply, |id| own.take(id));
        assert_eq!((read.notices.len(), read.last.as_deref()), (2, Some("601-0")));
        assert!(!own.take(&last), "it was read");
    }

    #[test]
    fn a_full_page_means_that_there_may_be_more() {
        let (keys, values) = cluster();
        let page = |count| StoreReply::List(vec![entry("1-0", &[text("other"), text("x")]); count]);
        assert!(!notices(&keys, &values, &page(PAGE - 1), |_| false).is_full);
        assert!(notices(&keys, &values, &page(PAGE), |_| false).is_full);
        assert_eq!(first_id(&page(1)), Some("1-0"));
        assert_eq!(first_id(&page(0)), None);
    }

    proptest! {
        #[test]
        fn ids_are_ordered_by_time_and_number(one: (u64, u64), other: (u64, u64)) {
            let written = |(time, number): (u64, u64)| format!("{time}-{number}");
            prop_assert_eq!(is_later(&written(one), &written(other)), one > other);
            prop_assert!(!is_later("", &written(one)));
        }
    }
}
