//! A journal: a stream of entries that all replicas write and read, and of which the store keeps the newest ones. This module must not
//! know what an entry contains.

use std::time::Duration;

use crate::families::{MOST_JOURNAL, StoreKeys};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;

/// The name of the field, in an entry of the stream, that contains the sealed entry.
const FIELD: &str = "entry";

/// Entries that were read, the newest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JournalPage {
    /// The entries that replicas have written, each with its id.
    pub entries: Vec<(String, Vec<u8>)>,
    /// The id of the last entry that was read, even if no replica has written it.
    pub last: Option<String>,
}

/// The position from which entries are read, from newer to older ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalPosition {
    /// The newest entry.
    Newest,
    /// The entry with this id.
    At(String),
    /// The entry before the one with this id.
    Before(String),
}

impl JournalPosition {
    /// Returns the position of an entry; `None` if a text is not the id of an entry.
    pub fn at(id: &str) -> Option<Self> {
        let (time, number) = id.split_once('-')?;
        let is_number =
            |part: &str| (1..=20).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        (is_number(time) && is_number(number)).then(|| Self::At(id.to_owned()))
    }
}

/// Returns the commands that append an entry, and that keep the journal for some time; `None` if it cannot be sealed.
pub(crate) fn append(
    keys: &StoreKeys,
    values: &SealedValues,
    entry: &[u8],
    life: Duration,
) -> Option<[StoreCommand; 2]> {
    let journal = keys.journal();
    let sealed = values.write_bytes(&journal, entry)?;
    let add = StoreCommand::new("XADD").arg(&journal).arg("MAXLEN").arg("~").number(MOST_JOURNAL);
    let keep = StoreCommand::new("PEXPIRE").arg(&journal).number(life.as_millis());
    Some([add.arg("*").arg(FIELD).arg(sealed), keep])
}

/// Returns the command that reads entries from a position on, from newer to older ones.
pub(crate) fn read(keys: &StoreKeys, from: &JournalPosition, most: usize) -> StoreCommand {
    let from = match from {
        JournalPosition::Newest => "+".to_owned(),
        JournalPosition::At(id) => id.clone(),
        JournalPosition::Before(id) => format!("({id}"),
    };
    StoreCommand::new("XREVRANGE").arg(keys.journal()).arg(from).arg("-").arg("COUNT").number(most)
}

/// Reads the reply to [`read`]. Entries that no replica has written are skipped.
pub(crate) fn page(keys: &StoreKeys, values: &SealedValues, reply: &StoreReply) -> JournalPage {
    let (journal, mut page) = (keys.journal(), JournalPage::default());
    for entry in reply.list() {
        let [id, fields] = entry.list() else { continue };
        let Some(id) = id.text() else { continue };
        page.last = Some(id.to_owned());
        let [name, sealed] = fields.list() else { continue };
        let sealed = sealed.bytes().filter(|_| name.text() == Some(FIELD));
        if let Some(plain) = sealed.and_then(|sealed| values.read_bytes(&journal, sealed)) {
            page.entries.push((id.to_owned(), plain));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, parts, text};

    fn entry(id: &str, fields: &[StoreReply]) -> StoreReply {
        StoreReply::List(vec![text(id), StoreReply::List(fields.to_vec())])
    }

    #[test]
    fn an_entry_is_read_as_it_was_written_and_others_are_skipped() {
        let (keys, values) = cluster();
        let [add, keep] = append(&keys, &values, b"one", Duration::from_secs(7)).unwrap();
        let added = parts(&add);
        assert_eq!(added[..6], ["XADD", "test:journal", "MAXLEN", "~", "5000", "*"]);
        assert_eq!(parts(&keep), ["PEXPIRE", "test:journal", "7000"]);
        let elsewhere = text(values.write_bytes("test:log", b"copied").unwrap());
        let reply = StoreReply::List(vec![
            entry("5-0", &[text(FIELD), text(&added[7])]),
            entry("4-0", &[text(FIELD), elsewhere]),
            entry("3-0", &[text("other"), text(&added[7])]),
            entry("2-0", &[text(FIELD), text("garbage")]),
            StoreReply::Nil,
            entry("1-0", &[]),
        ]);
        let page = page(&keys, &values, &reply);
        assert_eq!(page.entries, [("5-0".to_owned(), b"one".to_vec())]);
        assert_eq!(page.last.as_deref(), Some("1-0"));
    }

    #[test]
    fn positions_are_ids_and_nothing_else() {
        let (keys, _) = cluster();
        let from = |position: &JournalPosition| parts(&read(&keys, position, 9))[2..].to_vec();
        assert_eq!(from(&JournalPosition::Newest), ["+", "-", "COUNT", "9"]);
        assert_eq!(from(&JournalPosition::at("12-3").unwrap())[0], "12-3");
        assert_eq!(from(&JournalPosition::Before("12-3".to_owned()))[0], "(12-3");
        for wrong in ["", "-", "1-", "-1", "1", "+", "(1-2", "1-2 COUNT", "1-2-3", "a-b", "1.5-2"] {
            assert_eq!(JournalPosition::at(wrong), None, "{wrong:?}");
        }
    }
}
