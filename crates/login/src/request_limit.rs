//! Limits the requests of one address, because the endpoints are open to everybody. This module must not know
//! what a request asks for.

use std::net::IpAddr;
use std::time::Duration;

use config::{RateLimit, RateMethods, RatePer, RequestRate, address_block};
use engine::rate::{Limiter, UnknownCaller};
use tokio::time::Instant;

use crate::random::{self, NoEntropy};

/// The maximum number of requests in a minute. Hosted clients send the requests of many people from a few
/// addresses.
const RATE: RequestRate = RequestRate { count: 240, period: Duration::from_mins(1) };
/// The maximum number of addresses that are counted; idle addresses are dropped first.
const ADDRESSES: usize = 50_000;
/// The number of leading bits of an IPv6 address that identify a client.
const IPV6_BITS: u8 = 64;

/// The counts of requests by address.
pub(crate) struct RequestLimit {
    limiter: Limiter,
    start: Instant,
}

impl RequestLimit {
    pub(crate) fn new() -> Result<Self, NoEntropy> {
        let limit = RateLimit {
            per: vec![RatePer::Ip],
            methods: RateMethods::All,
            rate: RATE,
            burst: RATE.count,
            ..RateLimit::default()
        };
        let seed = u64::from_ne_bytes(random::bytes()?);
        Ok(Self { limiter: Limiter::new(&[limit], ADDRESSES, seed), start: Instant::now() })
    }

    /// Counts a request.
    ///
    /// # Errors
    /// Returns the time after which to try again if there were too many.
    pub(crate) fn count(&self, address: IpAddr) -> Result<(), Duration> {
        let address = Some(address_block(address, IPV6_BITS));
        let entering = UnknownCaller { nobody: "", address, connection: None, profile: "" };
        let counted = self.limiter.enter(&entering, self.start.elapsed());
        counted.map_err(|verdict| verdict.retry_after)
    }

    /// Forgets idle counts.
    pub(crate) fn sweep(&self) {
        self.limiter.sweep(self.start.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_address_has_a_limit_of_its_own() {
        let limit = RequestLimit::new().unwrap();
        let of = |last: u8| limit.count([203, 0, 113, last].into());
        let admitted = (0..RATE.count + 10).filter(|_| of(1).is_ok()).count();
        assert_eq!(u64::try_from(admitted).unwrap(), u64::from(RATE.count));
        assert!(of(2).is_ok());
        let wait = of(1).unwrap_err();
        tokio::time::advance(wait + Duration::from_millis(1)).await;
        assert!(of(1).is_ok());
    }
}
