//! Whoever calls, by whichever way, at whichever endpoint: who may come in, what they may use, how often, and what is
//! written down of it. Through the whole binary, over real sockets.
//!
//! | file | is for |
//! |---|---|
//! | `place` | the gateway, its keys and its record; callers in sessions, without them, and in dialects |
//! | `entrance` | nobody comes in without a credential of their own |
//! | `owners` | what belongs to one caller is of no use to another |
//! | `rules` | lists and calls under the same rules |
//! | `resources` | the same for what is read and listened to |
//! | `quotas` | what one address may hold of what all share, and which address that is |
//! | `rates` | how often |
//! | `denied` | servers and resources that one caller may not use: to that one they are not there |
//! | `in_flight` | how many calls at once |
//! | `record` | what is written down, and what is not |
//! | `withdrawn` | what ends with the key that opened it |
//! | `tokens` | how long streams last that signed tokens have opened |
//! | `upstreams` | where credentials go: nowhere, unless the configuration says so |
//! | `listening` | beyond this machine only where everybody is asked |

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
mod tokens;
mod upstreams;
mod withdrawn;
