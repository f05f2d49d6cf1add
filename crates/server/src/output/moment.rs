//! Points in time and spans of it as people write them. All times are in UTC; a point is milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// The end of the year 9999; what is later is shown as that.
const LAST: u64 = 253_402_300_799_999;

/// How a point in time or a span may be written, for messages.
pub(crate) const FORMS: &str =
    "write a span as 90s, 30m, 12h, 30d or 4w, or a time in UTC as YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ";

/// What time it is.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A span in milliseconds.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// What was written: a span, or a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Milliseconds.
    Span(u64),
    /// Milliseconds since 1970.
    Point(u64),
}

impl Written {
    /// Reads what a person wrote.
    ///
    /// # Errors
    /// Says how it may be written.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let read = span(text).map(Self::Span).or_else(|| point(text).map(Self::Point));
        read.ok_or_else(|| format!("it is no time; {FORMS}"))
    }

    /// The point in time, when a span counts backwards from now.
    pub(crate) fn before(self, now: u64) -> u64 {
        match self {
            Self::Span(span) => now.saturating_sub(span),
            Self::Point(point) => point,
        }
    }

    /// The point in time, when a span counts from now on.
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

/// A date, or a date and a time of the day (RFC 3339, in UTC).
fn point(text: &str) -> Option<u64> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    let [year, month, day] = numbers(date, '-')?;
    let days = days_since_1970(year, month, day)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':').or_else(|| {
        let [hour, minute] = numbers(time, ':')?;
        Some([hour, minute, 0])
    })?;
    let millis: String = fraction.chars().chain("00".chars()).take(3).collect();
    if hour > 23 || minute > 59 || second > 59 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(days * DAY + hour * HOUR + minute * MINUTE + second * SECOND + millis.parse::<u64>().ok()?)
}

/// Exactly `N` numbers of two digits or, the first, four.
fn numbers<const N: usize>(text: &str, between: char) -> Option<[u64; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for number in &mut found {
        let part = parts.next()?;
        let sound = matches!(part.len(), 2 | 4) && part.bytes().all(|b| b.is_ascii_digit());
        *number = sound.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

/// The days from 1970 to a date of the Gregorian calendar.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let before: u64 = (1..month).map(|month| days_of(year, month)).sum();
    (day <= days_of(year, month)).then(|| days_before(year) + before + day - 1)
}

/// The days from 1970 to a year's beginning.
fn days_before(year: u64) -> u64 {
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969)
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// A point in time as RFC 3339 has it, to the millisecond.
pub(crate) fn rfc3339(at: u64) -> String {
    let (date, time) = (date(at), at.min(LAST) % DAY);
    let (hour, minute) = (time / HOUR, time / MINUTE % 60);
    format!("{date}T{hour:02}:{minute:02}:{:02}.{:03}Z", time / SECOND % 60, time % SECOND)
}

/// A point in time for a table, to the minute.
pub(crate) fn short(at: u64) -> String {
    format!("{} {:02}:{:02}", date(at), at % DAY / HOUR, at / MINUTE % 60)
}

fn date(at: u64) -> String {
    let mut days = at.min(LAST) / DAY;
    // No year is longer than 366 days, so this is not too late.
    let mut year = 1970 + days / 366;
    while days_before(year + 1) <= days {
        year += 1;
    }
    days -= days_before(year);
    let mut month = 1;
    while month < 12 && days >= days_of(year, month) {
        days -= days_of(year, month);
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

/// A span as a person says it: `850µs`, `12ms`, `1.5s`, `3m`.
pub(crate) fn brief(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros}µs"),
        1_000..1_000_000 => format!("{}ms", micros / 1_000),
        1_000_000..60_000_000 => format!("{}.{}s", micros / 1_000_000, micros / 100_000 % 10),
        _ => format!("{}m{:02}s", micros / 60_000_000, micros / 1_000_000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_points_are_read() {
        let cases = [
            ("90s", Written::Span(90_000)),
            ("30m", Written::Span(30 * MINUTE)),
            ("12 h", Written::Span(12 * HOUR)),
            ("30d", Written::Span(30 * DAY)),
            ("4w", Written::Span(28 * DAY)),
            ("1970-01-01", Written::Point(0)),
            ("2000-03-01", Written::Point(951_868_800_000)),
            ("2024-02-29T12:34", Written::Point(1_709_210_040_000)),
            ("2024-02-29 12:34:56.7Z", Written::Point(1_709_210_096_700)),
            ("2026-11-22T05:50:44.123456Z", Written::Point(1_795_326_644_123)),
        ];
        for (text, wanted) in cases {
            assert_eq!(Written::parse(text), Ok(wanted), "{text}");
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
            assert!(Written::parse(text).is_err(), "{text}");
        }
        assert_eq!(Written::Span(5).before(3), 0);
        assert_eq!(Written::Span(5).after(u64::MAX), u64::MAX);
        assert_eq!((Written::Point(5).before(9), Written::Point(5).after(9)), (5, 5));
    }

    #[test]
    fn every_day_is_shown_as_it_is_read() {
        for day in 0..200_000 {
            let at = day * DAY + 86_399_999;
            let shown = rfc3339(at);
            assert!(shown.ends_with("T23:59:59.999Z"), "{shown}");
            assert_eq!(Written::parse(&shown), Ok(Written::Point(at)));
        }
        assert_eq!(short(951_868_800_000 - 1), "2000-02-29 23:59");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn spans_are_shown_briefly() {
        let shown = [0, 999, 12_345, 1_550_000, 125_000_000].map(brief);
        assert_eq!(shown, ["0µs", "999µs", "12ms", "1.5s", "2m05s"]);
    }
}
