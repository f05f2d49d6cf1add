//! Points in time. This module must not know what happened then.

use std::borrow::Cow;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// A point in time, in milliseconds since 1970; written as in RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PointInTime(pub(crate) u64);

impl PointInTime {
    pub(crate) fn now() -> Self {
        Self::of(SystemTime::now())
    }

    pub(crate) fn of(at: SystemTime) -> Self {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns the point in time that the process's own clock shows as `at`.
    pub(crate) fn at(at: Instant) -> Self {
        let now = (Instant::now(), SystemTime::now());
        let shifted = match at.checked_duration_since(now.0) {
            Some(later) => now.1.checked_add(later),
            None => now.1.checked_sub(now.0.saturating_duration_since(at)),
        };
        Self::of(shifted.unwrap_or(UNIX_EPOCH))
    }

    /// Returns the point in time this long ago.
    pub(crate) fn before(ago: Duration) -> Self {
        Self::of(SystemTime::now().checked_sub(ago).unwrap_or(UNIX_EPOCH))
    }

    /// Returns the same point in time without fractions of a second.
    pub(crate) fn to_the_second(self) -> Self {
        Self(self.0 / 1000 * 1000)
    }
}

impl Serialize for PointInTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = i64::try_from(self.0).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
        match at {
            Some(at) => serializer.collect_str(&at),
            None => serializer.serialize_none(),
        }
    }
}

impl JsonSchema for PointInTime {
    fn schema_name() -> Cow<'static, str> {
        "PointInTime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time_are_written_as_programs_expect() {
        let text = |at| serde_json::to_string(&PointInTime(at)).unwrap();
        assert_eq!(text(1_700_000_000_123), "\"2023-11-14T22:13:20.123Z\"");
        assert_eq!(text(1_700_000_000_000), "\"2023-11-14T22:13:20Z\"");
        assert_eq!(PointInTime(1999).to_the_second(), PointInTime(1000));
        assert_eq!(text(u64::MAX), "null");
    }

    #[test]
    fn instants_keep_their_distance() {
        let (now, minute) = (Instant::now(), Duration::from_mins(1));
        let distance = PointInTime::at(now + minute).0 - PointInTime::at(now).0;
        assert!((59_000..=61_000).contains(&distance), "{distance}");
        assert!(PointInTime::before(minute) < PointInTime::now());
    }
}
