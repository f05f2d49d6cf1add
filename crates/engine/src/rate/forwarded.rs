//! For whom a proxy says that it asks. It must not know whether a limit believes that.

use std::net::IpAddr;

use http::HeaderMap;

/// The header in which proxies name who asked them.
const FORWARDED: &str = "x-forwarded-for";

/// The first address that a proxy names; `None` where it is none.
pub fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let text = headers.get(FORWARDED)?.to_str().ok()?;
    text.split(',').next()?.trim().parse().ok()
}
