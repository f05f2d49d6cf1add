//! Access control for every caller, every way to call, and every endpoint: authentication, permissions, rates,
//! and the record. These tests use the whole binary, over real sockets.
//!
//! | file | is for |
//! |---|---|
//! | `place` | the gateway, its keys and its record; callers in sessions, without sessions, and in dialects |
//! | `entrance` | nobody gets access without a valid credential |
//! | `owners` | one caller cannot use what belongs to another |
//! | `rules` | lists and calls under the same rules |
//! | `resources` | reading and subscribing under the same rules |
//! | `quotas` | the share of common capacity for one address, and the address behind proxies |
//! | `rates` | rate limits |
//! | `searched` | rules, limits and records for tools that are found by searching |
//! | `denied` | servers and resources that one caller may not use do not exist for that caller |
//! | `in_flight` | the number of simultaneous calls |
//! | `record` | the content of the record, and what it must not contain |
//! | `withdrawn` | what ends together with the key that opened it |
//! | `tokens` | the lifetime of streams that signed tokens opened |
//! | `upstreams` | the recipients of credentials: none, unless the configuration maps them |
//! | `listening` | listening beyond this machine only if every endpoint authenticates |

#[path = "../support/mod.rs"]
mod support;

mod denied;
mod entrance;
mod in_flight;
mod listening;
mod owners;
mod place;
mod quotas;
mod rates;
mod record;
mod resources;
mod rules;
mod searched;
mod tokens;
mod upstreams;
mod withdrawn;
