//! The check of the cluster's store: it must be reachable, and suitable for the data that gateways share.

use cluster::{ClusterStore, StoreState};

use super::finding::{Finding, Level};
use crate::commands::configuration::settings::Settings;
use crate::output::failure::Failure;

const SUBJECT: &str = "cluster.store";

/// Examines the store; `None` if the gateway works alone.
///
/// # Errors
/// Fails if no event queue can be created.
pub(super) fn finding(settings: &Settings) -> Result<Option<Finding>, Failure> {
    let Some(cluster) = &settings.config.cluster else { return Ok(None) };
    let store = match ClusterStore::of(cluster) {
        Ok(store) => store,
        Err(fault) => return Ok(Some(Finding::new(Level::Error, SUBJECT, fault, None))),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(format!("cannot create an event queue: {e}")))?;
    let (level, message, help) = match runtime.block_on(store.examine()) {
        StoreState::Ready(version) => {
            (Level::Ok, format!("{} answers; it is version {version}", store.url), None)
        }
        StoreState::Unfit(unfit) => {
            (Level::Error, format!("the store cannot be used: {unfit}"), Some(unfit.help().to_owned()))
        }
        StoreState::Unreachable(why) => {
            let help = "start the store, or correct `cluster.store`; until then, each gateway works alone";
            (Level::Error, why, Some(help.to_owned()))
        }
        StoreState::Connecting => (Level::Warning, "the store was not examined".to_owned(), None),
    };
    Ok(Some(Finding::new(level, SUBJECT, message, help)))
}
