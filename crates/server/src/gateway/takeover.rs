//! A configuration that takes over from another one while serving. What has begun goes on under the one that it began with;
//! what did not change stays as it is, with its links, its children and its sessions.

use std::sync::Arc;

use engine::config::Config;

use super::reload::Restart;
use super::threads::Thread;
use super::{Gateway, Shard, VERSION, leaving, new_rates, run};

/// Puts a configuration in force for all threads; what of it counts only after a restart. One at a time.
///
/// # Errors
/// Why it cannot be: nothing has changed then.
pub(super) fn take_over(thread: &Thread, mut config: Config) -> Result<Vec<Restart>, String> {
    let before = thread.now();
    let old = &before.gateway;
    let waiting = Restart::keep(&old.config, &mut config);
    let snapshot = old.snapshot.followed_by(&old.config, &config, VERSION).map_err(|e| e.to_string())?;
    let snapshot = Arc::new(snapshot);
    let new = old.upstreams.missing(&snapshot)?;
    let door = if config.auth == old.config.auth || old.lets_all_in {
        old.door.clone()
    } else {
        run::door(&config.auth, old.folder.as_deref()).map_err(|e| e.to_string())?
    };
    let is_counted_as_before = config.rate_limits == old.config.rate_limits;
    let rates = if is_counted_as_before { old.rates.clone() } else { Arc::new(new_rates(&config)?) };
    // From here on nothing can fail.
    old.upstreams.add(new.clone());
    old.current.store(snapshot.clone());
    let gateway = Arc::new(Gateway::over(old.lasting.clone(), (config, snapshot), door, rates));
    gateway.threads.give(&gateway);
    let now = thread.now();
    follow(&now, old);
    run::warm(&now, &new);
    Ok(waiting)
}

/// Brings what outlives a configuration in line with it.
fn follow(shard: &Shard, old: &Gateway) {
    let gateway = &shard.gateway;
    let is_stricter = gateway.snapshot.regime != old.snapshot.regime;
    gateway.views.follow(shard);
    for session in gateway.sessions.all() {
        session.follow(shard);
        if !gateway.snapshot.profiles[session.profile].is_there {
            leaving::end_session(shard, &session);
        }
    }
    if is_stricter {
        // Whoever listens shows once more who it is.
        gateway.sessions.hang_up();
    }
    gateway.sessions.end_doors(|door| {
        door.regime == gateway.snapshot.regime && gateway.snapshot.profiles[door.profile].is_there
    });
    for upstream in gateway.upstreams.all().iter() {
        if gateway.snapshot.upstream(upstream.spec.id).is_none() && !upstream.leaving.is_stopped() {
            leaving::end_upstream(shard, upstream);
        }
    }
}
