//! Points in time. A page shows how long ago something was; the exact time appears on a click, a tap or a key press, and when
//! the mouse hovers over it.

use crate::model::Millis;
use maud::{Markup, html};

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A point in time, relative to now. The script keeps it up to date.
pub(crate) fn when(now: Millis, at: Millis) -> Markup {
    let exact = exact(at);
    html! {
        details.when {
            summary title=(exact) { time datetime=(exact) data-at=(at) { (relative(now, at)) } }
            span.exact { (exact.replace('T', " ").replace('Z', " UTC")) }
        }
    }
}

/// A point in time, or `none` if there is no such time.
pub(crate) fn until(now: Millis, at: Option<Millis>, none: &str) -> Markup {
    html! { @match at { Some(at) => (when(now, at)), None => span.quiet { (none) } } }
}

/// A point in time as in RFC 3339: `2026-11-26T04:06:03Z`.
pub(crate) fn exact(at: Millis) -> String {
    let days = at / DAY;
    let (year, month, day) = civil(days);
    let rest = at % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / HOUR,
        rest / MINUTE % 60,
        rest / SECOND % 60
    )
}

fn relative(now: Millis, at: Millis) -> String {
    let distance = now.abs_diff(at);
    let amount = match distance {
        0..5_000 => return if at > now { "in a moment" } else { "just now" }.to_owned(),
        5_000..MINUTE => format!("{} s", distance / SECOND),
        MINUTE..HOUR => format!("{} min", distance / MINUTE),
        HOUR..DAY => format!("{} h", distance / HOUR),
        _ if distance < 30 * DAY => format!("{} d", distance / DAY),
        _ => return exact(at)[..10].to_owned(),
    };
    if at > now { format!("in {amount}") } else { format!("{amount} ago") }
}

/// The date of a day after 1970-01-01, in the Gregorian calendar. Years after 9999 become 9999.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days.min(2_932_896) + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::{DAY, exact, relative};

    #[test]
    fn times_are_exact() {
        assert_eq!(exact(0), "1970-01-01T00:00:00Z");
        assert_eq!(exact(951_782_399_000), "2000-02-28T23:59:59Z");
        assert_eq!(exact(951_868_800_000), "2000-03-01T00:00:00Z");
        assert_eq!(exact(1_795_670_763_123), "2026-11-26T05:26:03Z");
        assert_eq!(exact(u64::MAX).len(), 20);
    }

    #[test]
    fn times_are_told_from_now() {
        let now = 1_795_670_763_000;
        assert_eq!(relative(now, now - 3_000), "just now");
        assert_eq!(relative(now, now - 59_999), "59 s ago");
        assert_eq!(relative(now, now + 90_000), "in 1 min");
        assert_eq!(relative(now, now - 2 * DAY), "2 d ago");
        assert_eq!(relative(now, now - 40 * DAY), "2026-10-17");
    }
}
