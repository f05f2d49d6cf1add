//! `rateLimits`: the allowed number of requests within a period. `engine::rate` counts them.

use std::time::Duration;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::trusted_proxies::{Proxies, TrustedProxies};
use crate::reading::known::ReferenceKind;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{Count, Flag, Optional, Spelling, Word, WordList, some_globs};
use crate::syntax::parse::{Entry, NodeKind};
use crate::values::glob::Glob;
use crate::values::units;
use crate::values::wording::clip;
use crate::values::words::words;

/// The maximum number of limits; there is a maximum because each request checks every limit.
pub(crate) const MAX_LIMITS: usize = 64;
/// The maximum number of requests in a rate or a burst.
const MOST: u32 = 1_000_000;
const LONGEST: Duration = Duration::from_hours(24);

section! {
    /// A limit on the number of requests within a period. If several limits apply to a request, all of them must permit it.
    pub struct RateLimit: "a mapping with `rate`" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            if self.burst == 0 {
                self.burst = self.rate.count;
            }
            if self.tools.is_some() && self.methods == RateMethods::All {
                let help = "remove `tools`, or write methods: calls";
                reader.fault(&entry.key_at, "this limit counts all requests, but `tools` applies only to calls", help);
            }
            // A limit of zero requests must not have a burst either.
            let is_none = self.rate.count == 0 && !self.rate.period.is_zero();
            if let Some(rate) = entry.value.entry("rate").filter(|_| self.enabled && is_none) {
                reader.within("rate", |reader| Rate { least: 1 }.read(reader, rate, None));
            }
        }
    } [
        /// Enables the limit.
        "enabled" enabled: bool = Flag, default true;
        /// The properties by which requests are counted separately. With a list, each combination of their values has its own
        /// count; with an empty list, all requests share one count.
        "per" per: Vec<RatePer> = WordList, default vec![RatePer::Principal];
        /// The requests that are counted: `calls` (`tools/call`) or `all`.
        "methods" methods: RateMethods = Word;
        /// Limits the rule to these profiles (patterns).
        "profiles" profiles: Option<Vec<Glob>> = Optional(some_globs(Some(ReferenceKind::Profile))), absent "all";
        /// Limits the rule to calls to these tools, given as patterns for `server__name`, where `name` is the server's own name for
        /// the tool, or for the name that clients see.
        "tools" tools: Option<Vec<Glob>> = Optional(some_globs(None)), absent "all";
        /// The number of requests and the period: `60/1m`, `10/s`.
        "rate" rate: RequestRate = Rate { least: 0 }, needed "rate: 60/1m";
        /// The number of requests that may arrive at once after a pause.
        "burst" burst: u32 = Count { most: MOST }, absent "the number in `rate`";
        /// The proxies that this limit trusts to name the client, if they differ from the top-level setting.
        "trustForwardedFor" trust_forwarded_for: Option<TrustedProxies> = Optional(Proxies), absent "the top-level setting";
        /// The behavior if the gateways of a cluster, which share the limit, cannot reach their store: `local` or `refuse`.
        "withoutStore" without_store: WithoutStore = Word, see "[cluster.md](cluster.md#rate-limits)";
    ]
}

words! {
    /// A property by which requests are counted separately.
    pub enum RatePer {
        /// Each caller; all callers without authentication share one count.
        Principal = "principal",
        /// Each IPv4 address, and each IPv6 /64 network.
        Ip = "ip",
        /// Each profile.
        Profile = "profile",
        /// Each tool.
        Tool = "tool",
    }
}

words! {
    /// The requests that are counted.
    #[derive(Default)]
    pub enum RateMethods {
        /// `tools/call`.
        #[default]
        Calls = "calls",
        /// Every request.
        All = "all",
    }
}

words! {
    /// The behavior of a shared limit while the store of the cluster cannot be used.
    #[derive(Default)]
    pub enum WithoutStore {
        /// Each gateway applies its share of the limit: the limit divided by the last known number of gateways.
        #[default]
        Local = "local",
        /// Requests that the limit would have to count are refused.
        Refuse = "refuse",
    }
}

/// A number of requests within a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestRate {
    /// The number of requests.
    pub count: u32,
    /// The period in which this number of requests is allowed.
    pub period: Duration,
}

/// A rate of at least this many requests.
pub(crate) struct Rate {
    pub(crate) least: u32,
}

impl Spelling<RequestRate> for Rate {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&RequestRate>) -> Option<RequestRate> {
        let what = "a rate such as 60/1m or 10/s";
        let text = reader.text(&entry.value, what)?;
        let Some((count, period)) = units::parse_rate(text.expose()) else {
            reader.wrong_kind(&entry.value, what);
            return None;
        };
        if !(self.least..=MOST).contains(&count) || period.is_zero() || period > LONGEST {
            let help = format!("write 1 to {MOST} requests in at most {}", units::show_time(LONGEST));
            let message = format!("a rate of {} is out of range", clip(text.shown()));
            reader.fault(&entry.value.at, message, help);
            return None;
        }
        Some(RequestRate { count, period })
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": units::RATE_PATTERN })
    }

    fn written(&self, rate: &RequestRate) -> Value {
        json!(format!("{}/{}", rate.count, units::show_time(rate.period)))
    }
}

/// A rate, or `false` for no limit.
pub(crate) struct RateOrOff;

impl Spelling<Option<RequestRate>> for RateOrOff {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        _: Option<&Option<RequestRate>>,
    ) -> Option<Option<RequestRate>> {
        if let NodeKind::Scalar { .. } = &entry.value.kind
            && matches!(
                reader.text(&entry.value, "a rate such as 30/1m, or false")?.expose(),
                "false" | "False" | "FALSE"
            )
        {
            return Some(None);
        }
        Rate { least: 1 }.read(reader, entry, None).map(Some)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [Rate { least: 1 }.schema(generator), { "const": false }] })
    }

    fn written(&self, rate: &Option<RequestRate>) -> Value {
        rate.as_ref().map_or(json!(false), |rate| Rate { least: 1 }.written(rate))
    }
}
