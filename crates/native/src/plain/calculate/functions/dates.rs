//! Dates and times in UTC, by the proleptic Gregorian calendar. There is no clock here: "now" is an argument.

use super::super::value::{FormulaFault, Value};
use super::{Function, exactly};

const DAY: i64 = 86_400;

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
            return Err(FormulaFault::arithmetic("a lock must last"));
        }
        Value::float((days(now - start) / days(end - start) * 100.0).clamp(0.0, 100.0))
    }),
];

fn int(number: i64) -> Value {
    Value::Int(i128::from(number))
}

#[expect(clippy::cast_precision_loss, reason = "seconds of some thousand years")]
fn days(seconds: i64) -> f64 {
    seconds as f64 / DAY as f64
}

/// A time in seconds since 1970, from a number of seconds or from `YYYY-MM-DD`, optionally with `THH:MM:SS` and a
/// `Z`.
fn seconds(value: &Value) -> Result<i64, FormulaFault> {
    let no = || FormulaFault::wanted("a time, as seconds since 1970 or \"YYYY-MM-DD\",");
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
    let part = |text: &str| -> Option<i64> {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let mut parts = date.splitn(3, '-').map(part);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let mut parts = time.trim_end_matches('Z').splitn(3, ':').map(part);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let fits = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let number = fits.then(|| number_of(year, month, day))?;
    (calendar(number) == (year, month, day)).then_some(number * DAY + hour * 3600 + minute * 60 + second)
}

/// The number of days since January 1, 1970. The computation begins the year in March, so that a leap day comes
/// last.
fn number_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let in_era = year.rem_euclid(400);
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719_468
}

/// The year, month and day for a number of days.
fn calendar(number: i64) -> (i64, i64, i64) {
    let shifted = number + 719_468;
    let era = shifted.div_euclid(146_097);
    let in_era = shifted.rem_euclid(146_097);
    let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let march = (5 * in_year + 2) / 153;
    let day = in_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn day(seconds: i64) -> String {
    let (year, month, day) = calendar(seconds.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

fn stamp(seconds: i64) -> String {
    let rest = seconds.rem_euclid(DAY);
    format!("{}T{:02}:{:02}:{:02}Z", day(seconds), rest / 3600, rest / 60 % 60, rest % 60)
}
