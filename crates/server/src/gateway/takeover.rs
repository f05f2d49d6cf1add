//! A configuration that takes over from another one while serving. What has begun goes on under the one that it began with;
//! what did not change stays as it is, with its links, its children and its sessions.

use std::sync::Arc;

use super::changed::tell_changed;
use super::remade::Fate;
use super::session::Session;
use super::subscriptions::Followed;
use super::threads::Thread;
use super::view_cell::ViewCell;
use super::{Gateway, Shard, VERSION, configured_rates, leaving, run};
use crate::manage::Standing;
use upstream::Upstream;

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
    let new = old.upstreams.missing(&snapshot)?;
    let door = if config.auth == known.auth || old.lets_all_in {
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
    old.upstreams.add(new.clone());
    old.current.store(snapshot.clone());
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
    gateway.views.follow(shard);
    for session in gateway.sessions.all() {
        session.follow(shard);
        session.follow_resources(shard);
        if !gateway.snapshot.profiles[session.profile].is_there {
            leaving::end_session(shard, &session);
        }
    }
    if is_stricter {
        // Whoever listens shows once more who it is.
        gateway.sessions.hang_up();
    }
    let fits = |regime: u64, profile: usize| {
        regime == gateway.snapshot.regime && gateway.snapshot.profiles[profile].is_there
    };
    gateway.sessions.end_doors(|door| fits(door.regime, door.profile));
    gateway.dialect_sessions.end_streams(fits);
    gateway.dialect_sessions.follow(shard);
    for one in gateway.upstreams.all().iter() {
        let server = &one.common.server;
        if gateway.snapshot.upstream(server.spec.id).is_none() && !server.leaving.is_stopped() {
            leaving::end_upstream(shard, one);
        }
    }
}

impl Session {
    /// Does [`Session::follow`] where other rules are in force than those under which its view was made.
    pub(crate) fn keep_up(self: &Arc<Self>, shard: &Shard) {
        let regime = shard.gateway.snapshot.regime;
        if self.view.load().as_ref().is_some_and(|view| view.regime < regime) {
            self.follow(shard);
        }
    }

    /// Sees what the rules of now let its client see, and tells the client what that changes.
    pub(crate) fn follow(self: &Arc<Self>, shard: &Shard) {
        let snapshot = &shard.gateway.snapshot;
        let is_over = |old: &Arc<ViewCell>| old.regime < snapshot.regime || old.retired.is_stopped();
        let Some(old) = self.view().filter(is_over) else { return };
        let link = |upstream: &Arc<Upstream>| self.list_link(shard, upstream);
        let new = shard.gateway.views.get_now(shard, self.profile, &self.kind, &self.identity, link);
        self.view.store(Some(new.clone()));
        let view = new.view();
        let is_changed = |one: &Followed| Fate::of(shard, self.profile, &one.upstream) == Fate::Changed;
        self.subscriptions.lock().retain(|uri, one| is_changed(one) || view.resource_owner(uri).is_some());
        for notice in new.differs(&old) {
            tell_changed(self, notice);
        }
    }
}
