//! Several gateways that work as one. They share data through a store (Valkey, or Redis from version 7.0), which is
//! never on the path of a call. This crate must not know clients, servers or calls.
//!
//! | module | is for |
//! |---|---|
//! | `cluster` | a replica's membership: the functions that the gateway calls |
//! | `home_search` | the cluster's function for the homes of owners |
//! | `counting` | the cluster's functions for shared counts |
//! | `following` | the task that reads notices, compares API keys, and sends the replica's heartbeats |
//! | `session_outbox` | changes to sessions that wait to be written |
//! | `event_outbox`, `copied_streams`, `event_copies`, `event_replay` | events of clients' streams: sessions whose events wait to be copied; the streams that the store keeps (pure); the task that copies events; the cluster's functions for them |
//! | `publishing` | the task that writes changes to sessions |
//! | `documents` | documents with versions, which are replaced by compare and set (pure) |
//! | `standstill` | detects that the process stood still; requests then wait until its data was compared with the store |
//! | `login_exchange` | the exchange of logins with the other replicas |
//! | `settings` | the settings of a replica |
//! | `member` | what the gateway provides |
//! | `sessions`, `api_keys`, `counts`, `journal`, `managed`, `consents`, `definitions`, `sign_ins`, `logins`, `single_use`, `replicas`, `homes`, `notices`, `event_chunks` | what is shared: each as commands and replies (pure) |
//! | [`peers`], `peer_door`, `peer_table` | requests that a replica passes on to another; its address and key for them; the known replicas |
//! | `families` | the names in the store, as a table |
//! | `formats` | the rule by which gateways of two versions work together |
//! | `sealed` | values under the key ring |
//! | `valkey` | the connection to the store |
//! | `resp` | the store's protocol (pure) |

mod api_keys;
mod cluster;
mod consents;
mod copied_streams;
mod counting;
mod counts;
mod definitions;
mod documents;
mod event_chunks;
mod event_copies;
mod event_outbox;
mod event_replay;
mod families;
mod following;
#[cfg(test)]
mod format_tests;
mod formats;
mod home_search;
mod homes;
mod journal;
mod login_exchange;
mod logins;
mod managed;
mod member;
mod notices;
mod peer_door;
mod peer_table;
pub mod peers;
mod publishing;
mod replicas;
mod resp;
mod sealed;
mod session_outbox;
mod sessions;
mod settings;
mod sign_ins;
mod single_use;
mod standstill;
#[cfg(test)]
mod testing;
mod valkey;

pub use cluster::{Cluster, ClusterMembers};
pub use consents::ConsentLock;
pub use counts::{CountTake, Counted};
pub use documents::{DocumentVersion, StoredDocument, VersionedDocument};
pub use event_chunks::{MissedEvents, NewEvents, StreamCopy, StreamKey};
pub use event_copies::EventFigures;
pub use event_outbox::{EventSource, TakenEvents};
pub use homes::HomeOwner;
pub use journal::{JournalPage, JournalPosition};
pub use logins::{LoginAttempt, LoginMark};
pub use member::{ChangeWatch, SharedKeys, SharedLogins, SharedSessions};
pub use peer_door::PeerDoor;
pub use replicas::Replica;
pub use sealed::{NameDigest, ValueSealer};
pub use session_outbox::OpenSession;
pub use sessions::SharedSession;
pub use settings::{ClusterSettings, ClusterStore};
pub use valkey::{StoreError, StoreHealth, StoreState, UnfitStore};
