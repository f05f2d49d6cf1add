//! Dates and times in UTC, by the proleptic Gregorian calendar. There is no clock here: "now" is an argument.

use std::str::FromStr;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time, date};

use super::super::value::{FormulaFault, Value};
use super::{Function, exactly};

const DAY: i64 = 86_400;
/// The beginning of 1970.
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// Times more than this many seconds after 1970 (about the year 9999) are rejected as mistakes.
const FARTHEST: i64 = 253_402_300_799;

pub(super) const FUNCTIONS: &[Function] = &[
    exactly("unix->date", 1, "(unix->date seconds)", |v| Ok(Value::Text(stamp(seconds(&v[0])?)))),
    exactly("date->unix", 1, "(date->unix \"YYYY-MM-DD\")", |v| Ok(int(seconds(&v[0])?))),
    exactly("days-between", 2, "(days-between from to), as \"YYYY-MM-DD\" or seconds", |v| {
        Ok(int(seconds(&v[1])?.div_euclid(DAY) - seconds(&v[0])?.div_euclid(DAY)))
    }),
    exactly("add-days", 2, "(add-days date days)", |v| {
        let date = later(seconds(&v[0])?, &v[1])?;
        Ok(Value::Text(day(date)))
    }),
    exactly("lock-end", 2, "(lock-end start days)", |v| Ok(Value::Text(day(later(seconds(&v[0])?, &v[1])?)))),
    exactly("lock-remaining", 3, "(lock-remaining start days now), in days", |v| {
        let left = later(seconds(&v[0])?, &v[1])? - seconds(&v[2])?;
        Value::float(days(left.max(0)))
    }),
    exactly("lock-progress", 3, "(lock-progress start days now), in percent", |v| {
        let (start, end, now) = (seconds(&v[0])?, later(seconds(&v[0])?, &v[1])?, seconds(&v[2])?);
        if end <= start {
            return Err(FormulaFault::arithmetic("a lock must end after it starts"));
        }
        Value::float((days(now - start) / days(end - start) * 100.0).clamp(0.0, 100.0))
    }),
];

fn int(number: i64) -> Value {
    Value::Int(i128::from(number))
}

#[expect(clippy::cast_precision_loss, reason = "the seconds of a few thousand years fit into an f64 exactly")]
fn days(seconds: i64) -> f64 {
    seconds as f64 / DAY as f64
}

/// A time in seconds since 1970, from a number of seconds or from `YYYY-MM-DD`, optionally with `THH:MM:SS` and a
/// `Z`.
fn seconds(value: &Value) -> Result<i64, FormulaFault> {
    let no = || FormulaFault::wanted("a time, as seconds since 1970 or \"YYYY-MM-DD\"");
    let found = match value {
        Value::Text(text) => read(text).ok_or_else(no)?,
        other => i64::try_from(other.whole()?).map_err(|_| no())?,
    };
    if found.abs() > FARTHEST {
        Err(FormulaFault::arithmetic("this time is too far from today"))
    } else {
        Ok(found)
    }
}

fn later(seconds: i64, days: &Value) -> Result<i64, FormulaFault> {
    let days = i64::try_from(days.whole()?).ok().and_then(|days| days.checked_mul(DAY));
    let sum = days.and_then(|more| seconds.checked_add(more)).filter(|sum| sum.abs() <= FARTHEST);
    sum.ok_or_else(|| FormulaFault::arithmetic("this time is too far from today"))
}

fn read(text: &str) -> Option<i64> {
    let (date, time) = text.trim().split_once(['T', ' ']).unwrap_or((text.trim(), "00:00:00"));
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (part(parts.next())?, part(parts.next())?, part(parts.next())?);
    let date = Date::new(year, month, day).ok().filter(|date| date.year() > 0)?;
    let mut parts = time.trim_end_matches('Z').splitn(3, ':');
    let (hour, minute) = (part(parts.next())?, part(parts.next())?);
    let second = part(parts.next().or(Some("0")))?;
    let time = Time::new(hour, minute, second, 0).ok()?;
    Some(date.to_datetime(time).duration_since(EPOCH).as_secs())
}

/// A number that is written with digits only; `None` for any other text.
fn part<N: FromStr>(text: Option<&str>) -> Option<N> {
    text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

fn datetime(seconds: i64) -> DateTime {
    EPOCH.saturating_add(SignedDuration::from_secs(seconds))
}

fn day(seconds: i64) -> String {
    let date = datetime(seconds).date();
    format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
}

fn stamp(seconds: i64) -> String {
    format!("{}T{}Z", day(seconds), datetime(seconds).time())
}
