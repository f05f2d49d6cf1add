//! Times and spans, as people write them. All times are in UTC; a point in time is a number of milliseconds since
//! 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time, date};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// The beginning of 1970.
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// The accepted forms of a time or a span, for messages.
pub(crate) const FORMS: &str =
    "write a span as 90s, 30m, 12h, 30d or 4w, or a time in UTC as YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ";

/// Returns the current time, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// Returns a span in milliseconds.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// A span, or a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeArgument {
    /// Milliseconds.
    Span(u64),
    /// Milliseconds since 1970.
    Point(u64),
}

impl TimeArgument {
    /// Reads a time or a span.
    ///
    /// # Errors
    /// Returns the accepted forms.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let read = span(text).map(Self::Span).or_else(|| point(text).map(Self::Point));
        read.ok_or_else(|| format!("not a valid time; {FORMS}"))
    }

    /// Returns the point in time; a span counts backwards from `now`.
    pub(crate) fn before(self, now: u64) -> u64 {
        match self {
            Self::Span(span) => now.saturating_sub(span),
            Self::Point(point) => point,
        }
    }

    /// Returns the point in time; a span counts forwards from `now`.
    pub(crate) fn after(self, now: u64) -> u64 {
        match self {
            Self::Span(span) => now.saturating_add(span),
            Self::Point(point) => point,
        }
    }
}

fn span(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "s" => SECOND,
        "m" | "min" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        "w" => 7 * DAY,
        "y" => 365 * DAY,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// Reads a date, or a date and a time of day (RFC 3339, in UTC).
fn point(text: &str) -> Option<u64> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    let [year, month, day] = numbers(date, '-')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':').or_else(|| {
        let [hour, minute] = numbers(time, ':')?;
        Some([hour, minute, 0])
    })?;
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let millis: String = fraction.chars().chain("00".chars()).take(3).collect();
    let day = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let [hour, minute, second] = [hour, minute, second].map(|part| i8::try_from(part).ok());
    let time = Time::new(hour?, minute?, second?, millis.parse::<i32>().ok()? * 1_000_000).ok()?;
    u64::try_from(day.to_datetime(time).duration_since(EPOCH).as_millis()).ok()
}

/// Reads exactly `N` numbers of two or four digits, with `between` between them.
fn numbers<const N: usize>(text: &str, between: char) -> Option<[i16; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for number in &mut found {
        let part = parts.next()?;
        let sound = matches!(part.len(), 2 | 4) && part.bytes().all(|b| b.is_ascii_digit());
        *number = sound.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

/// Formats a point in time as in RFC 3339, to the millisecond.
pub(crate) fn rfc3339(at: u64) -> String {
    format!("{:.3}Z", datetime(at))
}

/// Returns a point in time for a table, to the minute.
pub(crate) fn short(at: u64) -> String {
    datetime(at).strftime("%Y-%m-%d %H:%M").to_string()
}

fn datetime(at: u64) -> DateTime {
    let since = SignedDuration::from_millis(i64::try_from(at).unwrap_or(i64::MAX));
    EPOCH.saturating_add(since)
}

/// Returns a span in short form: `850µs`, `12ms`, `1.5s`, `3m`.
pub(crate) fn brief(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros}µs"),
        1_000..1_000_000 => format!("{}ms", micros / 1_000),
        1_000_000..60_000_000 => format!("{}.{}s", micros / 1_000_000, micros / 100_000 % 10),
        _ => format!("{}m{:02}s", micros / 60_000_000, micros / 1_000_000 % 60),
    }
}

/// Returns the point in time that a JSON text names, in the form of RFC 3339.
pub(crate) fn millis_of(value: &serde_json::Value) -> Option<u64> {
    point(value.as_str()?)
}

/// Returns the time since a point in time, in one unit: `5 s`, `3 min`, `2 h`, `4 d`.
pub(crate) fn ago(at: u64) -> String {
    span_words(now().saturating_sub(at))
}

/// Returns the time until a point in time: `in 5 s`, or `now` once it has passed.
pub(crate) fn until(at: u64) -> String {
    match at.saturating_sub(now()) {
        0..SECOND => "now".to_owned(),
        left => format!("in {}", span_words(left)),
    }
}

fn span_words(span: u64) -> String {
    match span {
        0..MINUTE => format!("{} s", span / SECOND),
        MINUTE..HOUR => format!("{} min", span / MINUTE),
        HOUR..DAY => format!("{} h", span / HOUR),
        _ => format!("{} d", span / DAY),
    }
}

/// Returns a number of bytes in one unit: `512 B`, `48 MB`.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{} kB", count / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", count / 1_000_000),
        _ => format!("{}.{} GB", count / 1_000_000_000, count / 100_000_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_points_are_read() {
        let cases = [
            ("90s", TimeArgument::Span(90_000)),
            ("30m", TimeArgument::Span(30 * MINUTE)),
            ("12 h", TimeArgument::Span(12 * HOUR)),
            ("30d", TimeArgument::Span(30 * DAY)),
            ("4w", TimeArgument::Span(28 * DAY)),
            ("1970-01-01", TimeArgument::Point(0)),
            ("2000-03-01", TimeArgument::Point(951_868_800_000)),
            ("2024-02-29T12:34", TimeArgument::Point(1_709_210_040_000)),
            ("2024-02-29 12:34:56.7Z", TimeArgument::Point(1_709_210_096_700)),
            ("2026-11-22T05:50:44.123456Z", TimeArgument::Point(1_795_326_644_123)),
        ];
        for (text, wanted) in cases {
            assert_eq!(TimeArgument::parse(text), Ok(wanted), "{text}");
        }
        for text in [
            "",
            "30",
            "d",
            "-1d",
            "1.5h",
            "30 days",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "1969-12-31",
            "2024-1-1",
            "2024-01-01T24:00",
            "2024-01-01T10",
            "2024-01-01T10:00:00+01:00",
            "99999999999999999999s",
            "20000000000000w",
            "2024-01-01-01",
            "2024-01-01T10:00:00.x",
        ] {
            assert!(TimeArgument::parse(text).is_err(), "{text}");
        }
        assert_eq!(TimeArgument::Span(5).before(3), 0);
        assert_eq!(TimeArgument::Span(5).after(u64::MAX), u64::MAX);
        assert_eq!((TimeArgument::Point(5).before(9), TimeArgument::Point(5).after(9)), (5, 5));
    }

    #[test]
    fn every_day_is_shown_as_it_is_read() {
        for day in 0..200_000 {
            let at = day * DAY + 86_399_999;
            let shown = rfc3339(at);
            assert!(shown.ends_with("T23:59:59.999Z"), "{shown}");
            assert_eq!(TimeArgument::parse(&shown), Ok(TimeArgument::Point(at)));
        }
        assert_eq!(short(951_868_800_000 - 1), "2000-02-29 23:59");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn spans_and_sizes_have_one_unit() {
        let spans = [999, 59_999, 60_000, 3_599_999, HOUR, DAY - 1, 9 * DAY].map(span_words);
        assert_eq!(spans, ["0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "9 d"]);
        assert_eq!([5, 5_000, 48_200_000, 4_561_000_000].map(bytes), ["5 B", "5 kB", "48 MB", "4.5 GB"]);
        assert_eq!(ago(now() - 3 * MINUTE), "3 min");
        assert_eq!((until(5), until(now() + 2 * HOUR + SECOND)), ("now".to_owned(), "in 2 h".to_owned()));
        assert_eq!(millis_of(&serde_json::json!("1970-01-01T00:00:01.5Z")), Some(1_500));
        assert_eq!(millis_of(&serde_json::json!(null)), None);
    }

    #[test]
    fn spans_are_shown_briefly() {
        let shown = [0, 999, 12_345, 1_550_000, 125_000_000].map(brief);
        assert_eq!(shown, ["0µs", "999µs", "12ms", "1.5s", "2m05s"]);
    }
}
