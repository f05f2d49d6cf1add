//! Data from each era, translated for each other era: tables for every pair.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::era::{ERAS, Era};
use crate::json::{MAX_DEPTH, Scanner};
use crate::rpc::{Frame, FrameLimits};

mod errors;
mod items;
mod notifications;
mod plain;
mod questions;
mod results;

/// Every version, as the tables name them.
const ALL: &[&str] =
    &["1", "2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The versions from `first` to `last`, both included.
fn span(first: &str, last: &str) -> Vec<&'static str> {
    ALL.iter().copied().filter(|version| (first..=last).contains(version)).collect()
}

/// The expected value for some versions; `None` if the item must be absent.
type Row<'a> = (Vec<&'static str>, Option<Value>);

fn bytes(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}

fn parsed(text: &[u8]) -> Value {
    Scanner::new(text, MAX_DEPTH).unwrap().document().unwrap();
    serde_json::from_slice(text).unwrap()
}

fn frame(value: &Value) -> Frame {
    Frame::parse(bytes(value), FrameLimits::default()).unwrap()
}

/// Checks every pair of an era in `from` and any other era against the expected value; equal eras must yield
/// the same bytes.
fn check(
    from: &[&str],
    input: &dyn Fn(&Era) -> Value,
    translate: &dyn Fn(&Bytes, &Era, &Era) -> Option<Bytes>,
    rows: &[Row<'_>],
) {
    for to in ERAS {
        let mut found = rows.iter().filter(|(versions, _)| versions.contains(&to.version));
        let (_, expected) = found.next().unwrap_or_else(|| panic!("no row for {to}"));
        assert!(found.next().is_none(), "two rows for {to}");
        for source in ERAS.into_iter().filter(|era| from.contains(&era.version)) {
            let given = bytes(&input(source));
            let got = translate(&given, source, to);
            if source == to {
                let got = got.expect("between equal eras all passes");
                assert_eq!((got.as_ptr(), got.len()), (given.as_ptr(), given.len()), "{to}");
                continue;
            }
            let got = got.map(|got| parsed(&got));
            assert_eq!(&got, expected, "from {source} to {to}");
            if let Some(expected) = expected
                && *expected == input(source)
            {
                let same = translate(&given, source, to).unwrap();
                assert_eq!(
                    same.as_ptr(),
                    given.as_ptr(),
                    "a copy of what did not change, from {source} to {to}"
                );
            }
        }
    }
}
