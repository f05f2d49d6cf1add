//! Things that may be used once in the whole cluster, such as links and codes: the first replica that writes a use into the
//! store wins. This module must not know what is used.

use std::time::Duration;

use crate::cluster::{Cluster, WRITE, now_ms};
use crate::families::StoreKeys;
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;
use crate::valkey::StoreError;

/// Returns the command that writes a use, unless there is one; `None` if it cannot be sealed.
pub(crate) fn claim(
    keys: &StoreKeys,
    values: &SealedValues,
    name: &str,
    life: Duration,
) -> Option<StoreCommand> {
    let key = keys.used(name);
    let sealed = values.write(&key, &now_ms())?;
    let life = life.max(Duration::from_secs(1)).as_millis();
    Some(StoreCommand::new("SET").arg(key).arg(sealed).arg("NX").arg("PX").number(life))
}

impl Cluster {
    /// Uses a thing up; returns false if it was used before, at any replica. `life` is the time after which the thing is no
    /// longer valid anyway.
    ///
    /// # Errors
    /// Fails if the store does not answer in time. The thing may then have been used up nevertheless.
    pub async fn use_once(&self, name: &str, life: Duration) -> Result<bool, StoreError> {
        let membership = &self.membership;
        let claim = claim(&membership.keys, &membership.values, name, life);
        let Some(claim) = claim else {
            return Err(StoreError::Refused("the system's random number generator failed".to_owned()));
        };
        // The store answers with `OK`, or with nothing if a use is there already. Whoever wrote it, the thing was used.
        Ok(membership.store.one(claim, WRITE).await? != StoreReply::Nil)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, parts};

    #[test]
    fn only_the_first_use_is_written_and_it_outlives_the_thing() {
        let (keys, values) = cluster();
        let command = parts(&claim(&keys, &values, "link/a", Duration::from_secs(9)).unwrap());
        assert_eq!(command[..2], ["SET", "test:used:link/a"]);
        assert_eq!(command[3..], ["NX", "PX", "9000"]);
        let over = parts(&claim(&keys, &values, "link/a", Duration::ZERO).unwrap());
        assert_eq!(over[5], "1000", "the store refuses a life of zero");
    }
}
