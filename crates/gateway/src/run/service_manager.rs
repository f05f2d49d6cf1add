//! Messages to the service manager that started this process (`NOTIFY_SOCKET`, as `systemd` passes it): that the gateway is ready, that it
//! stops, and that it is alive. Without a service manager, nothing is sent. This module must not know what the gateway does.

use std::time::Duration;

use sd_notify::NotifyState;
use transport::net::Stop;

/// Tells that the gateway listens.
pub(super) fn ready(addresses: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(&format!("listening at {addresses}"))]);
}

/// Tells that the gateway stops, once it does; until then, that it is alive, if the service manager wants to know. This runs on the
/// thread that serves, so a gateway that no longer serves does not seem alive.
pub(super) fn report(stop: Stop) {
    let pause = sd_notify::watchdog_enabled().map(|within| (within / 2).max(Duration::from_millis(10)));
    transport::task::spawn(async move {
        let alive = async {
            let Some(pause) = pause else { return std::future::pending().await };
            loop {
                tell(&[NotifyState::Watchdog]);
                tokio::time::sleep(pause).await;
            }
        };
        tokio::select! {
            () = alive => {}
            () = stop.stopped() => tell(&[NotifyState::Stopping, NotifyState::Status("finishing open requests")]),
        }
    });
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(e) = sd_notify::notify(states) {
        tracing::debug!("the service manager does not accept messages: {e}");
    }
}
