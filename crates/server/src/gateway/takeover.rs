//! A configuration that takes over from another one while serving. What has begun goes on under the one that it began with;
//! what did not change stays as it is, with its links, its children and its sessions.

use std::sync::Arc;

use super::threads::Thread;
use super::{Gateway, Shard, VERSION, configured_rates, leaving, run};
use crate::manage::Standing;

/// Puts a configuration in force for all threads. One at a time.
///
/// # Errors
/// Why it cannot be: nothing has changed then.
pub(super) async fn take_over(thread: &Thread, standing: Standing) -> Result<(), String> {
    let before = thread.now();
    let old = &before.gateway;
    let (config, known) = (standing.config(), old.standing.config());
    let snapshot = old.snapshot.followed_by(known, config, VERSION).map_err(|e| e.to_string())?;
    let snapshot = Arc::new(snapshot);
    let new = old.view.upstreams.missing(&snapshot)?;
    let door = if config.auth == known.auth || old.view.lets_all_in {
        old.door.clone()
    } else {
        let (auth, folder) = (config.auth.clone(), old.folder.clone());
        // It may open a file of keys.
        let made = move || run::door(&auth, folder.as_deref()).map_err(|e| e.to_string());
        tokio::task::spawn_blocking(made).await.map_err(|e| e.to_string())??
    };
    let is_counted_as_before = config.rate_limits == known.rate_limits;
    let rates = if is_counted_as_before { old.rates.clone() } else { Arc::new(configured_rates(config)?) };
    // From here on nothing can fail.
    old.view.upstreams.add(new.clone());
    old.view.current.store(snapshot.clone());
    let gateway = Arc::new(Gateway::over(old.lasting.clone(), (standing, snapshot), door, rates));
    gateway.threads.give(&gateway);
    let now = thread.now();
    follow(&now, old);
    run::warm(&now, &new);
    Ok(())
}

/// Brings what outlives a configuration in line with it.
fn follow(shard: &Shard, old: &Gateway) {
    let gateway = &shard.gateway;
    let is_stricter = gateway.snapshot.regime != old.snapshot.regime;
    gateway.view.views.follow(&shard.view);
    for session in gateway.session.sessions.all() {
        session.follow(&shard.session);
        session.follow_resources(&shard.session);
        if !gateway.snapshot.profiles[session.profile].is_there {
            leaving::end_session(shard, &session);
        }
    }
    if is_stricter {
        // Whoever listens shows once more who it is.
        gateway.session.sessions.hang_up();
    }
    let fits = |regime: u64, profile: usize| {
        regime == gateway.snapshot.regime && gateway.snapshot.profiles[profile].is_there
    };
    gateway.session.sessions.end_doors(|door| fits(door.regime, door.profile));
    gateway.dialect_sessions.end_streams(fits);
    gateway.dialect_sessions.follow(&shard.call);
    for one in gateway.view.upstreams.all().iter() {
        let server = &one.common.server;
        if gateway.snapshot.upstream(server.spec.id).is_none() && !server.leaving.is_stopped() {
            leaving::end_upstream(shard, one);
        }
    }
}
