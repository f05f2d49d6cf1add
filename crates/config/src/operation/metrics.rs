//! `metrics`: metrics for Prometheus, the address at which they are served, and the callers that may read them.

use std::net::SocketAddr;

use crate::callers::access::CallerSelection;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{MergedSection, Number, Optional};
use crate::serving::listen::OneAddress;
use crate::syntax::parse::Entry;

section! {
    /// Metrics about calls, servers and the process for Prometheus, at `/metrics`.
    pub struct Metrics: "true, false, or a mapping with `listen` or `who`" {
        /// Rejects `who` together with `listen`, because nobody authenticates at the address in `listen`.
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            if let (Some(_), Some(who)) = (entry.value.entry("listen"), entry.value.entry("who")) {
                let message = "`who` has no effect if the metrics have their own address, because callers do not authenticate there";
                let help = "remove `who` and restrict who can reach the address, or remove `listen`";
                reader.within("who", |reader| reader.fault(&who.key_at, message, help));
            }
        }
    } [
        /// An address that serves only `/metrics`, to everybody who can reach the address: `127.0.0.1:9464`, or only a
        /// port, for the loopback address.
        "listen" listen: Option<SocketAddr> = Optional(OneAddress), absent "the addresses at which clients connect";
        /// The callers that may read `/metrics` at the addresses at which clients connect.
        "who" who: Option<CallerSelection> = Optional(MergedSection), absent "callers whose credentials are valid for all profiles";
        /// The maximum number of time series with the same name. Servers and tools above this number are counted together
        /// as `_OTHER`.
        "series" series: usize = Number { least: 100, most: 1_000_000 }, default 2000;
    ]
}
