//! Reads `rateLimits`.

use std::time::Duration;

use super::model::{RateLimit, RateMethods, RatePer};
use crate::config::parse::{Entry, Node};
use crate::config::pieces::{self, Known};
use crate::config::proxies;
use crate::config::read::{CHANGE_FILLED, Fields, Reader, clip};
use crate::config::units;

const KEYS: &[&str] =
    &["enabled", "per", "methods", "profiles", "tools", "rate", "burst", "trustForwardedFor"];

/// The most limits: each is looked at for each request.
const MAX_LIMITS: usize = 64;
/// The most requests of a rate, and of a burst.
const MOST: u32 = 1_000_000;
const LONGEST: Duration = Duration::from_hours(24);

pub(in crate::config) fn read(
    reader: &mut Reader<'_>,
    entry: &Entry,
    profiles: &Known<'_>,
) -> Vec<RateLimit> {
    let items = pieces::one_or_more(reader, &entry.value, "a list of limits").unwrap_or_default();
    if items.len() > MAX_LIMITS {
        let mend = format!("write at most {MAX_LIMITS}");
        reader.fault(&entry.value.at, format!("a list of {} limits", items.len()), mend);
        return Vec::new();
    }
    let mut limits = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        limits.extend(reader.within(&format!("[{index}]"), |reader| read_limit(reader, item, profiles)));
    }
    limits
}

fn read_limit(reader: &mut Reader<'_>, node: &Node, known: &Known<'_>) -> Option<RateLimit> {
    let mut fields = reader.fields(node, "a mapping with `rate`")?;
    let at = fields.at.start..fields.at.start;
    let enabled = reader.flag_in(&mut fields, "enabled", true);
    let per = pieces::words(reader, &mut fields, "per", RatePer::ALL);
    let methods = fields
        .take("methods")
        .and_then(|entry| reader.within("methods", |reader| reader.word(&entry.value, RateMethods::ALL)));
    let profiles = pieces::some_globs(reader, &mut fields, "profiles", Some(known));
    let tools = pieces::some_globs(reader, &mut fields, "tools", None);
    let rate = if let Some(entry) = fields.take("rate") {
        // Where nothing is counted, none may come as well.
        let least = u32::from(enabled);
        reader.within("rate", |reader| read_rate(reader, &entry.value, least))
    } else {
        reader.fault(&at, "this limit has no `rate`", "add it: rate: 60/1m");
        None
    };
    let burst = read_burst(reader, &mut fields);
    let trust_forwarded_for = fields
        .take("trustForwardedFor")
        .and_then(|entry| reader.within("trustForwardedFor", |reader| proxies::read(reader, &entry.value)));
    reader.refuse(&fields.rest(), KEYS);
    let (methods, per) = (methods.unwrap_or_default(), per.unwrap_or_else(|| vec![RatePer::Principal]));
    if tools.is_some() && methods == RateMethods::All {
        let mend = "remove `tools`, or write methods: calls";
        reader.fault(&at, "only calls have tools, and this limit counts all requests", mend);
    }
    let (count, period) = rate?;
    let burst = burst.unwrap_or(count);
    Some(RateLimit { enabled, per, methods, profiles, tools, count, period, burst, trust_forwarded_for })
}

/// A rate of `least` requests or more.
pub(in crate::config) fn read_rate(
    reader: &mut Reader<'_>,
    node: &Node,
    least: u32,
) -> Option<(u32, Duration)> {
    let what = "a rate such as 60/1m or 10/s";
    let text = reader.text(node, what)?;
    let Some((count, period)) = units::parse_rate(text.expose()) else {
        reader.wrong_kind(node, what);
        return None;
    };
    if !(least..=MOST).contains(&count) || period.is_zero() || period > LONGEST {
        let mend = format!("write 1 to {MOST} in at most {}", units::show_time(LONGEST));
        let shown = clip(text.shown());
        reader.fault(&node.at, format!("a rate of {shown} is out of bounds"), mend);
        return None;
    }
    Some((count, period))
}

fn read_burst(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<u32> {
    let entry = fields.take("burst")?;
    reader.within("burst", |reader| {
        let what = "a whole number";
        let text = reader.text(&entry.value, what)?;
        let Ok(burst) = text.expose().parse::<u32>() else {
            reader.wrong_kind(&entry.value, what);
            return None;
        };
        if !(1..=MOST).contains(&burst) {
            let mend = if text.hides() {
                CHANGE_FILLED.to_owned()
            } else {
                format!("write a number from 1 to {MOST}")
            };
            reader.fault(&entry.value.at, "this burst is out of bounds", mend);
            return None;
        }
        Some(burst)
    })
}
