//! Amounts between two bounds: times, sizes and numbers.

use std::time::Duration;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::Spelling;
use crate::reading::reader::Reader;
use crate::syntax::parse::Entry;
use crate::values::units;
use crate::values::wording::clip;

/// Reads an amount; `what` is its name in messages, `show` formats one.
fn read<T: PartialOrd + Copy>(
    reader: &mut Reader<'_>,
    entry: &Entry,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
    (least, most): (T, T),
    show: impl Fn(T) -> String,
) -> Option<T> {
    let text = reader.text(&entry.value, what)?;
    let Some(amount) = parse(text.expose()) else {
        reader.wrong_kind(&entry.value, what);
        return None;
    };
    if amount < least || amount > most {
        let shown = if text.hides() { clip(text.shown()) } else { show(amount) };
        let help = format!("write a value from {} to {}", show(least), show(most));
        reader.fault(&entry.value.at, format!("{shown} is out of range"), help);
        return None;
    }
    Some(amount)
}

/// A time between two bounds.
pub(crate) struct Time {
    pub(crate) least: Duration,
    pub(crate) most: Duration,
}

impl Spelling<Duration> for Time {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Duration>) -> Option<Duration> {
        let what = "a time such as 500ms, 30s, 10m or 1h, or a number of seconds";
        read(reader, entry, what, units::parse_time, (self.least, self.most), units::show_time)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "pattern": units::TIME_PATTERN })
    }

    fn written(&self, time: &Duration) -> Value {
        json!(units::show_time(*time))
    }

    fn bounds(&self) -> Option<(String, String)> {
        Some((units::show_time(self.least), units::show_time(self.most)))
    }
}

/// A number of bytes between two bounds.
pub(crate) struct Bytes {
    pub(crate) least: usize,
    pub(crate) most: usize,
}

fn show_bytes(bytes: usize) -> String {
    units::show_bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

impl Spelling<usize> for Bytes {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&usize>) -> Option<usize> {
        let parse = |text: &str| units::parse_bytes(text).map(|bytes| bytes.try_into().unwrap_or(usize::MAX));
        let what = "a size in bytes such as 65536, 64KiB or 4MiB";
        read(reader, entry, what, parse, (self.least, self.most), show_bytes)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"], "minimum": self.least, "maximum": self.most,
            "pattern": units::BYTES_PATTERN,
        })
    }

    fn written(&self, bytes: &usize) -> Value {
        json!(show_bytes(*bytes))
    }

    fn bounds(&self) -> Option<(String, String)> {
        Some((show_bytes(self.least), show_bytes(self.most)))
    }
}

/// A whole number between two bounds.
pub(crate) struct Number {
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl Spelling<usize> for Number {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&usize>) -> Option<usize> {
        let parse = |text: &str| text.parse().ok();
        read(reader, entry, "a whole number", parse, (self.least, self.most), |number| number.to_string())
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": self.least, "maximum": self.most })
    }

    fn written(&self, number: &usize) -> Value {
        json!(number)
    }

    fn bounds(&self) -> Option<(String, String)> {
        Some((self.least.to_string(), self.most.to_string()))
    }
}

/// A whole number of at least 1, which may come from a variable.
pub(crate) struct Count {
    pub(crate) most: u32,
}

impl Spelling<u32> for Count {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&u32>) -> Option<u32> {
        let parse = |text: &str| text.parse().ok();
        read(reader, entry, "a whole number", parse, (1, self.most), |number| number.to_string())
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"], "minimum": 1, "maximum": self.most, "pattern": "^(\\d+|.*\\$\\{.*)$",
        })
    }

    fn written(&self, count: &u32) -> Value {
        json!(count)
    }

    fn bounds(&self) -> Option<(String, String)> {
        Some(("1".to_owned(), self.most.to_string()))
    }
}
