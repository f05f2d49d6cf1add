//! The events of random histories of a pool.

use proptest::prelude::*;

use crate::pool::dispatch::OwnerId;

/// One event of a random history.
#[derive(Debug, Clone, Copy)]
pub(super) enum Happening {
    Ask(OwnerId, u8),
    Opens(usize, bool),
    Begin(OwnerId),
    End(OwnerId),
    Release(OwnerId),
    Bind(OwnerId, bool),
    Lose(usize),
    Cancel(usize),
    Pass(u64),
    /// Another server needs a process, so a link is closed.
    MakeRoom,
    /// Links that were idle for this number of milliseconds are closed.
    Shed(u64),
    /// An owner's call waits for its client, and its link may be given up for another owner.
    Park(OwnerId),
    MakeWay,
    /// The server asks for an owner's roots during a call.
    Personal(OwnerId),
    /// The server's configuration changes, and every link is lost.
    Reload,
    /// A process whose link was closed has ended.
    Ends(usize),
}

pub(super) fn happening() -> impl Strategy<Value = Happening> {
    let owner = || 1..6_u64;
    prop_oneof![
        6 => (owner(), 0..16_u8).prop_map(|(owner, bits)| Happening::Ask(owner, bits)),
        6 => (0..8_usize, any::<bool>()).prop_map(|(which, works)| Happening::Opens(which, works)),
        6 => owner().prop_map(Happening::Begin),
        6 => owner().prop_map(Happening::End),
        2 => owner().prop_map(Happening::Release),
        1 => (owner(), any::<bool>()).prop_map(|(owner, task)| Happening::Bind(owner, task)),
        1 => (0..8_usize).prop_map(Happening::Lose),
        2 => (0..8_usize).prop_map(Happening::Cancel),
        4 => (1..3_000_u64).prop_map(Happening::Pass),
        1 => Just(Happening::MakeRoom),
        1 => (1..600_000_u64).prop_map(Happening::Shed),
        2 => owner().prop_map(Happening::Park),
        2 => Just(Happening::MakeWay),
        1 => owner().prop_map(Happening::Personal),
        1 => Just(Happening::Reload),
        3 => (0..8_usize).prop_map(Happening::Ends),
    ]
}
