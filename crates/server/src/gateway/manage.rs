//! What the management API does with the running gateway: changes that are put in force and kept, the state of servers, and
//! what they offer. It must not know HTTP, nor what a change means.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::catalogue::ListKind;
use parking_lot::Mutex;
use proto::era::{newest_handshake, newest_stateless};
use serde_json::{Value, json};
use store::changes::FreshBytes;
use tokio::sync::oneshot;

use super::Shard;
use super::edits::{Asked, Edit, Edited};
use crate::gateway::admission::identity::Identity;
use crate::manage::{Changes, Known, Refusal};
use upstream::{Kind, Upstream};

/// The time that a server may take to say what it offers.
const PATIENCE: Duration = Duration::from_secs(8);

/// The time that a change may take to be in force.
const EDIT_TIME: Duration = Duration::from_secs(30);

/// Has a change put in force and kept.
pub(crate) async fn edit(shard: &Shard, edit: Edit) -> Result<Edited, Refusal> {
    let busy = || Refusal::new(503, "BUSY", "other changes are being made; try again");
    let (reply, made) = oneshot::channel();
    let edits = shard.gateway.edits.get().ok_or_else(busy)?;
    edits.try_send(Asked { edit, reply }).map_err(|_| busy())?;
    match tokio::time::timeout(EDIT_TIME, made).await {
        Ok(Ok(made)) => made,
        Ok(Err(_)) | Err(_) => Err(Refusal::internal("nobody knows whether the change was made; look again")),
    }
}

/// Where changes are kept.
#[derive(Clone)]
pub(crate) struct Kept {
    folder: Arc<Path>,
    /// Made when there is something to keep.
    file: Arc<Mutex<Option<store::changes::Changes>>>,
}

impl Kept {
    /// Opens the file in this folder; what it says.
    ///
    /// # Errors
    /// Why it cannot be used, and what to do about it.
    pub(super) fn open(folder: &Path) -> Result<(Self, Changes), String> {
        let told = |e: store::Error| format!("{e}; {}", e.mend());
        let file = store::changes::Changes::open_existing(folder, &fresh_bytes()?).map_err(told)?;
        let text = match &file {
            Some(file) => file.text().map_err(told)?,
            None => None,
        };
        let changes = match text {
            Some(text) => Changes::parse(&text).map_err(|e| {
                format!(
                    "changes.db in {} holds changes that cannot be read ({e}); move it away",
                    folder.display()
                )
            })?,
            None => Changes::default(),
        };
        Ok((Self { folder: folder.into(), file: Arc::new(Mutex::new(file)) }, changes))
    }

    /// Keeps changes in the place of those before.
    pub(super) async fn keep(&self, text: String) -> Result<(), Refusal> {
        let (file, folder) = (self.file.clone(), self.folder.clone());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let fresh = fresh_bytes().and_then(|fresh| Ok((fresh, random()?))).map_err(Refusal::internal)?;
        let kept = tokio::task::spawn_blocking(move || {
            let (fresh, nonce) = fresh;
            let mut file = file.lock();
            let open = match file.take() {
                Some(open) => open,
                None => store::changes::Changes::open(&folder, &fresh)?,
            };
            file.insert(open).keep(&text, now, nonce)
        });
        let kept = kept.await;
        match kept {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(Refusal::internal(format!("the change cannot be kept: {e}; {}", e.mend()))),
            Err(e) => Err(Refusal::internal(format!("the change cannot be kept: {e}"))),
        }
    }
}

fn fresh_bytes() -> Result<FreshBytes, String> {
    Ok(FreshBytes { key: random()?, nonce: random()? })
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    let failed = "the operating system's random number generator failed";
    getrandom::fill(&mut bytes).map_err(|_| failed.to_owned())?;
    Ok(bytes)
}

/// A server, as whoever asks has it.
fn upstream(shard: &Shard, identity: &Identity, name: &str) -> Option<Arc<Upstream>> {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| &*spec.name == name)?;
    Some(shard.view.state.upstream_of(spec.id, identity))
}

/// The clients that it is asked for: those for whom it was asked first.
fn kind(upstream: &Upstream) -> Kind {
    let era = if upstream.server.over_http() { newest_stateless() } else { newest_handshake() };
    Kind { era, capabilities: Bytes::from_static(b"{}") }
}

/// How a server does.
pub(crate) fn status(shard: &Shard, identity: &Identity, name: &str) -> Value {
    let Some(upstream) = upstream(shard, identity, name) else {
        return json!({ "id": name, "status": "disconnected", "error": null, "tools": 0 });
    };
    let offer = upstream.offer(&kind(&upstream));
    let (known, cells) = (offer.part().offer, upstream.cells());
    let tools = known.as_ref().map_or(0, |offer| offer.list(ListKind::Tools).len());
    let is_open = upstream.server.is_native() || cells.iter().any(|cell| cell.current().is_some());
    let (status, error) = match known {
        Ok(_) if is_open => ("connected", None),
        Ok(_) => ("disconnected", None),
        Err(_) if offer.is_unknown() && cells.iter().any(|cell| cell.is_opening()) => ("connecting", None),
        Err(_) if offer.is_unknown() => (if is_open { "connected" } else { "disconnected" }, None),
        Err(absence) if offer.is_unauthorized() => ("auth_required", Some(absence.reason)),
        Err(absence) => ("error", Some(absence.reason)),
    };
    json!({ "id": name, "status": status, "error": error, "tools": tools })
}

/// The tools of a server as it lists them; `fresh` when it is asked anew.
///
/// # Errors
/// Why nobody knows them.
pub(crate) async fn tools(
    shard: &Shard,
    identity: &Identity,
    name: &str,
    fresh: bool,
) -> Result<Vec<Value>, String> {
    let upstream = upstream(shard, identity, name).ok_or("it is switched off")?;
    let (kind, told) = (kind(&upstream), |e| upstream.server.told(&e));
    let (offer, cell) = (upstream.offer(&kind), upstream.shared_link(&kind));
    let asking = async {
        if offer.part().offer.is_err() {
            let mut done = offer.fetch(&shard.egress, cell);
            let _ = done.changed().await;
        } else if fresh {
            let link = cell.get(&shard.egress).await.map_err(told)?;
            if !offer.refresh(&shard.egress, &link).await {
                return Err("it could not be asked again; see the log".to_owned());
            }
        }
        Ok(())
    };
    let late = |_| format!("it has not answered within {} s", PATIENCE.as_secs());
    tokio::time::timeout(PATIENCE, asking).await.map_err(late)??;
    let known = offer.part().offer.map_err(|absence| absence.reason)?;
    let tools = known.list(ListKind::Tools).iter();
    Ok(tools.filter_map(|tool| serde_json::from_slice(&tool.text).ok()).collect())
}

/// Tools as profiles show them.
pub(crate) fn known(tools: &[Value]) -> Vec<Known> {
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
    let one = |tool: &Value| {
        let (name, description) = (text(tool, "name")?, text(tool, "description"));
        Some(Known { name, description, input_schema: tool.get("inputSchema").cloned() })
    };
    tools.iter().filter_map(one).collect()
}
