//! The gateways of the cluster, and the store that they share.

use pages::model::{CopiedEventsRow, ReplicaRow, ReplicasPage, StoreRow, StoreStanding};
use pages::page;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::count;
use crate::insight::replicas::{self, CopiedEvents, ListedReplica, StoreConnection};

/// Shows the gateways.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    // The only refusal says that this gateway works alone.
    let data = replicas::replicas(&request.shard).map_or_else(
        |_| ReplicasPage::default(),
        |list| {
            let mut rows: Vec<ReplicaRow> = list.replicas.into_iter().map(row).collect();
            rows.sort_by(|left, right| {
                right.is_this_one.cmp(&left.is_this_one).then_with(|| left.name.raw().cmp(right.name.raw()))
            });
            ReplicasPage {
                store: Some(store(list.store)),
                replicas: rows,
                events: list.replay.as_ref().map(events),
            }
        },
    );
    page_reply::ok(page::replicas(&request.frame(), &data))
}

fn store(connection: StoreConnection) -> StoreRow {
    let standing = match connection.state {
        "ready" => StoreStanding::Ready,
        "unreachable" => StoreStanding::Unreachable,
        "unfit" => StoreStanding::Unfit,
        _ => StoreStanding::Connecting,
    };
    StoreRow { standing, detail: connection.detail.map(Into::into), since: connection.since.0 }
}

fn events(copied: &CopiedEvents) -> CopiedEventsRow {
    CopiedEventsRow {
        copied: copied.copied,
        lost: copied.lost,
        resumed: copied.resumed,
        streams: copied.streams,
        bytes: copied.bytes,
    }
}

fn row(replica: ListedReplica) -> ReplicaRow {
    ReplicaRow {
        name: replica.name.into(),
        id: replica.id.into(),
        version: replica.version.into(),
        started: replica.started.0,
        sessions: count(replica.sessions),
        address: replica.address.map(Into::into),
        is_this_one: replica.is_this_one,
    }
}
