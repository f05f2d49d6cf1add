//! What `rateLimits` says, checked. What is counted is in `crate::rate`.

use std::time::Duration;

use schemars::JsonSchema;

use crate::config::glob::Glob;
use crate::config::proxies::TrustedProxies;
use crate::config::written;

/// A limit on how many requests may come in a time. Where several limits speak of a request, all must have room.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateLimit {
    /// Does it count at all?
    #[schemars(with = "Option<written::Flag>", extend("default" = true))]
    pub enabled: bool,
    /// Who has a count of their own; several words together make one count for each combination.
    #[schemars(with = "Option<written::OneOrMany<RatePer>>", extend("default" = "principal"))]
    pub per: Vec<RatePer>,
    /// Which requests are counted.
    #[schemars(with = "Option<RateMethods>", extend("default" = "calls"))]
    pub methods: RateMethods,
    /// Only in these profiles (patterns); in all when left out.
    #[schemars(with = "Option<written::OneOrMany<Glob>>")]
    pub profiles: Option<Vec<Glob>>,
    /// Only calls of these tools, by the names that clients see (patterns); of all when left out.
    #[schemars(with = "Option<written::OneOrMany<Glob>>")]
    pub tools: Option<Vec<Glob>>,
    /// How many requests in which time: `60/1m`, `10/s`.
    #[schemars(rename = "rate", with = "written::Rate")]
    pub count: u32,
    /// The time of `count`.
    #[schemars(skip)]
    pub period: Duration,
    /// The number of requests that may come at once after a rest; as many as the rate names when left out.
    #[schemars(with = "Option<written::Count>")]
    pub burst: u32,
    /// The proxies that this limit trusts to name the client, where they are others than those of the whole configuration.
    pub trust_forwarded_for: Option<TrustedProxies>,
}

/// Who has a count of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum RatePer {
    /// Each asker; those that nobody asked are one.
    Principal,
    /// Each IPv4 address, and each IPv6 network of 64 bits.
    Ip,
    /// Each profile.
    Profile,
    /// Each tool.
    Tool,
}

impl RatePer {
    /// The words of a configuration.
    pub const ALL: &[(&str, Self)] =
        &[("principal", Self::Principal), ("ip", Self::Ip), ("profile", Self::Profile), ("tool", Self::Tool)];
}

/// Which requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum RateMethods {
    /// `tools/call`.
    #[default]
    Calls,
    /// Every request.
    All,
}

impl RateMethods {
    /// The words of a configuration.
    pub const ALL: &[(&str, Self)] = &[("calls", Self::Calls), ("all", Self::All)];
}
