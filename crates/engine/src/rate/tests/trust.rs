//! Limits with their own trusted proxies, which differ from those of the rest of the configuration.

use config::TrustedProxies;
use http::HeaderMap;

use super::*;

#[test]
fn a_limit_may_trust_other_proxies_than_the_rest() {
    let through = |trusted: Option<TrustedProxies>| {
        let of = RateLimit { per: vec![RatePer::Ip], trust_forwarded_for: trusted, ..limit(1, MINUTE, 1) };
        let limiter = Limiter::new(&[of], 100, 7);
        [("192.0.2.7", "203.0.113.1"), ("192.0.2.7", "203.0.113.2"), ("192.0.2.8", "203.0.113.1")].map(
            |(client, named)| {
                let mut headers = HeaderMap::new();
                headers.insert("x-forwarded-for", named.parse().unwrap());
                let peer = address("192.0.2.1").unwrap();
                let connection = Some(Connection { peer, headers: &headers });
                let request = RatedRequest { address: address(client), connection, ..call("a") };
                limiter.check(&request, SECOND).unwrap().allowed
            },
        )
    };
    assert_eq!(through(None), [true, false, true], "by the client that was decided for all");
    assert_eq!(through(Some(TrustedProxies::Nobody)), [true, false, false], "by the connection");
    assert_eq!(
        through(Some(TrustedProxies::Hops(1))),
        [true, true, false],
        "by whom this limit's proxy names"
    );
}
