//! Replaces the configuration while serving. Running requests keep their configuration; unchanged servers keep
//! their links, child processes and sessions.

use std::sync::Arc;

use config::Config;
use engine::Snapshot;
use transport::net::BindError;

use super::{removal, warm::warm};
use crate::admission::admin::AdminDoor;
use crate::admission::audit::{self, AuditOptions};
use crate::admission::door::door;
use crate::admission::rates::{ManageRates, Rates};
use crate::changes::Standing;
use crate::management::{definitions, logins};
use crate::process::gateway::{configured_rates, manage_rates};
use crate::process::kept_definitions::KeptDefinitions;
use crate::process::serving::NextAddresses;
use crate::process::{Gateway, GatewayParts, Shard, Thread, VERSION};
use upstream::Upstream;
use upstream::catalogue::CatalogueStore;
use upstream::definitions::DefinitionStore;

/// Puts a configuration into force for all threads. Only one replacement may run at a time.
///
/// # Errors
/// Returns the reason why the configuration cannot be applied; in this case nothing has changed.
pub(crate) async fn replace(thread: &Thread, standing: Standing) -> Result<(), String> {
    let before = thread.now();
    let old = &before.gateway;
    let (config, known) = (standing.config(), old.standing.config());
    let snapshot = old.snapshot.followed_by(known, config, VERSION).map_err(|e| e.to_string())?;
    let snapshot = Arc::new(snapshot);
    let new = old.process.view.upstreams.missing(&snapshot)?;
    let door = if config.auth == known.auth || old.process.view.lets_all_in {
        old.door.clone()
    } else {
        let (auth, folder) = (config.auth.clone(), old.process.folder.clone());
        // This may open a file of keys.
        let made = move || door(&auth, folder.as_deref());
        transport::task::spawn_blocking(made).await.map_err(|e| e.to_string())??
    };
    let (rates, manage_rates) = next_rates(old, config)?;
    let has_same_operators = config.admin == known.admin;
    let admin = if has_same_operators { old.admin.clone() } else { AdminDoor::of(config.admin.as_ref())? };
    let serving = old.process.serving.clone();
    let next = serving.map(|serving| Ok((serving.bind(&config.listen)?, serving))).transpose();
    let next = next.map_err(|e: BindError| format!("listen: {e}"))?;
    let metrics_next = bind_metrics(old, config)?;
    let addresses = next.as_ref().map(|(next, _)| next.actual()).unwrap_or_default();
    record_definitions(old, &snapshot, &new).await?;
    // This takes effect at once, so nothing after it may fail.
    switch_audit(old, config).await?;
    restore(old, &new).await;
    // From here on, nothing can fail.
    if config.limits == known.limits {
        // The time limits of individual servers may have changed.
        old.process.view.upstreams.follow(&snapshot);
    } else {
        old.process.follow(&snapshot);
    }
    old.process.view.upstreams.add(new.clone());
    old.process.view.current.store(snapshot.clone());
    if !has_same_operators {
        logins::follow(old, old.admin.as_deref(), admin.as_deref());
    }
    let parts = GatewayParts { standing, snapshot, door, rates, manage_rates, admin, addresses };
    let gateway = Arc::new(Gateway::over(old.process.clone(), parts));
    gateway.process.threads.give(&gateway);
    follow_metrics(&gateway);
    let now = thread.now();
    // This comes last, so that no request arrives at a new address under the old configuration.
    if let Some((next, serving)) = next {
        serving.serve(next);
    }
    if let (Some(next), Some(serving)) = (metrics_next, &old.process.metrics_serving) {
        serving.serve(next);
    }
    follow(&now, old);
    definitions::follow_policies(&now).await;
    warm(&now, &new);
    Ok(())
}

/// Returns the rate limits of the new configuration. Limits that have not changed keep their counts.
fn next_rates(old: &Gateway, config: &Config) -> Result<(Arc<Rates>, Option<Arc<ManageRates>>), String> {
    let known = old.standing.config();
    let rates = if config.rate_limits == known.rate_limits {
        old.rates.clone()
    } else {
        Arc::new(configured_rates(config, &old.process)?)
    };
    let is_managed_as_before = config.management == known.management;
    let managed = if is_managed_as_before { old.manage_rates.clone() } else { manage_rates(config)? };
    Ok((rates, managed))
}

/// Applies the configuration of metrics, unless the only client uses a pipe.
fn follow_metrics(gateway: &Gateway) {
    if gateway.process.serving.is_some() {
        let standing = gateway.standing.config();
        gateway.process.follow_metrics(&gateway.snapshot, standing.metrics.as_ref());
    }
}

/// Binds the separate address for metrics, unless it is served already.
fn bind_metrics(old: &Gateway, config: &Config) -> Result<Option<NextAddresses>, String> {
    let Some(serving) = &old.process.metrics_serving else { return Ok(None) };
    let wanted = config.metrics.as_ref().and_then(|metrics| metrics.listen);
    serving.bind(wanted.as_slice()).map(Some).map_err(|e| format!("metrics.listen: {e}"))
}

/// Switches to the record of calls that the new configuration describes.
async fn switch_audit(old: &Gateway, config: &Config) -> Result<(), String> {
    if config.audit == old.standing.config().audit {
        return Ok(());
    }
    let (audit, folder) = (config.audit.clone(), old.process.folder.clone());
    let sink = old.process.call.audit.clone();
    let switched = transport::task::spawn_blocking(move || {
        let log = audit::open(audit.as_ref(), folder.as_deref())?;
        let options = audit.as_ref().map(AuditOptions::new);
        sink.switch(log.zip(options.as_ref())).map_err(|e| format!("audit: the writer failed to start: {e}"))
    });
    switched.await.map_err(|e| e.to_string())?
}

/// Reads the stored records of the new servers' definitions. If no record was needed before, opens the record.
async fn record_definitions(
    gateway: &Gateway,
    snapshot: &Arc<Snapshot>,
    new: &[Arc<Upstream>],
) -> Result<(), String> {
    let (process, snapshot, new) = (gateway.process.clone(), snapshot.clone(), new.to_vec());
    let recorded = transport::task::spawn_blocking(move || {
        let is_open = process.definitions.get().is_some();
        let opened = match process.definitions.get() {
            Some(open) => Some(open.clone()),
            None => KeptDefinitions::open_for(process.folder.as_deref(), &snapshot.upstreams)?,
        };
        let Some(opened) = opened else { return Ok(()) };
        let store: Arc<dyn DefinitionStore> = opened.clone();
        if !is_open {
            process.view.upstreams.record_definitions(&store)?;
            let _ = process.definitions.set(opened);
        }
        new.iter().try_for_each(|upstream| upstream.record_definitions(&store))
    });
    recorded.await.map_err(|e| e.to_string())?
}

/// Restores the stored catalogues of new servers, and the stored names of new profiles.
async fn restore(gateway: &Gateway, new: &[Arc<Upstream>]) {
    let Some(catalogues) = gateway.process.catalogues.clone() else { return };
    let (store, new): (Arc<dyn CatalogueStore>, Vec<_>) = (catalogues, new.to_vec());
    let (view, snapshot) = (gateway.process.view.clone(), gateway.snapshot.clone());
    let restored = transport::task::spawn_blocking(move || {
        for upstream in new {
            upstream.catalogue.restore(&store);
        }
        view.names.restore(snapshot.profiles.iter().map(|profile| &profile.slug), &store);
    });
    if let Err(e) = restored.await {
        tracing::warn!("the stored lists of new servers cannot be read: {e}");
    }
}

/// Updates the state that outlives a configuration.
fn follow(shard: &Arc<Shard>, old: &Gateway) {
    let gateway = &shard.gateway;
    let is_stricter = gateway.snapshot.regime != old.snapshot.regime;
    gateway.process.view.views.follow(&shard.view);
    for session in gateway.process.session.sessions.all() {
        session.follow(&shard.session);
        session.follow_resources(&shard.session);
        if !gateway.snapshot.profiles[session.profile].is_there {
            removal::end_session(shard, &session);
        }
    }
    if is_stricter {
        // Clients with an open stream must connect and authenticate again.
        gateway.process.session.sessions.hang_up();
    }
    let fits = |regime: u64, profile: usize| {
        regime == gateway.snapshot.regime && gateway.snapshot.profiles[profile].is_there
    };
    gateway.process.session.sessions.end_doors(|door| fits(door.regime, door.profile));
    gateway.process.dialect_sessions.end_streams(fits);
    gateway.process.dialect_sessions.follow(&shard.call);
    for one in gateway.process.view.upstreams.all().iter() {
        let server = &one.common.server;
        if gateway.snapshot.upstream(server.spec.id).is_none() && !server.shutdown.begun.is_stopped() {
            removal::end_upstream(shard, one);
        }
    }
}
