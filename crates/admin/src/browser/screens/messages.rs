//! Captured messages as pages show them. This module must not know how messages are captured.

use pages::model::{MessageLane, WireMessage};

use crate::insight::captured::readable;
use gateway::call::capture::{CapturedMessage, Lane};
use gateway::process::Shard;

/// Returns messages without secrets.
pub(super) fn shown(shard: &Shard, messages: &[CapturedMessage]) -> Vec<WireMessage> {
    let all = readable(shard, messages).into_iter();
    all.map(|message| WireMessage {
        after_us: u64::try_from(message.after.as_micros()).unwrap_or(u64::MAX),
        lane: match message.lane {
            Lane::FromClient => MessageLane::FromClient,
            Lane::ToServer => MessageLane::ToServer,
            Lane::FromServer => MessageLane::FromServer,
            Lane::ToClient => MessageLane::ToClient,
        },
        era: message.era.into(),
        title: message.title.into(),
        body: message.text.into(),
        bytes: super::count(message.bytes),
        cut: message.is_cut,
    })
    .collect()
}
