//! The facts that determine if a store can hold the data of a cluster, read from the store's answer to `INFO`.
//! Pure; this module must not know connections.

/// The lowest version of Redis with all commands that are used. Valkey reports the version of Redis with which it is
/// compatible.
const LEAST_VERSION: (u32, u32) = (7, 0);

/// The maximum difference between the clocks of the store and of this machine, in milliseconds. The expiry of
/// sealed data depends on the clocks.
pub(crate) const MOST_SKEW_MS: i64 = 30_000;

/// The reason why a store cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfitStore {
    /// The version is too old.
    #[error("it is version {0}, and a cluster needs Redis 7.0 or later, or Valkey")]
    Version(String),
    /// The store deletes data when its memory is full.
    #[error(
        "its `maxmemory-policy` is `{0}`, so it would forget revoked keys and ended sessions when its memory is full"
    )]
    Evicts(String),
    /// The store is a replica of another one.
    #[error("it is a read-only replica of another store")]
    Replica,
    /// The store divides its keys among several nodes.
    #[error("it runs in the mode that divides keys among nodes (`cluster-enabled yes`)")]
    Divided,
    /// The clocks differ too much.
    #[error("its clock differs from the clock of this machine by {} seconds", .0 / 1000)]
    Skewed(i64),
}

impl UnfitStore {
    /// Returns the remedy.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Version(_) => "use Redis 7.0 or later, or Valkey",
            Self::Evicts(_) => "set `maxmemory-policy noeviction` in the store's configuration",
            Self::Replica => "write the address of the primary into `cluster.store`",
            Self::Divided => {
                "use a store with `cluster-enabled no`; one small store is enough for a cluster of gateways"
            }
            Self::Skewed(_) => "synchronize the clocks of both machines, for example with chrony",
        }
    }
}

/// The facts about a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServerFacts {
    /// The version of Redis, or the Redis version with which Valkey is compatible.
    pub version: String,
    /// The eviction policy: how data is removed when the memory is full.
    pub eviction: String,
    is_replica: bool,
    is_divided: bool,
}

impl ServerFacts {
    /// Reads the answer to `INFO`; unknown lines are skipped.
    pub(crate) fn parse(info: &str) -> Self {
        let mut facts = Self::default();
        for (key, value) in info.lines().filter_map(|line| line.trim_end().split_once(':')) {
            match key {
                "redis_version" => value.clone_into(&mut facts.version),
                "maxmemory_policy" => value.clone_into(&mut facts.eviction),
                "role" => facts.is_replica = value != "master",
                "cluster_enabled" => facts.is_divided = value == "1",
                _ => {}
            }
        }
        facts
    }

    /// Checks that a store with these facts can be used; `skew_ms` is the difference between the clocks.
    ///
    /// # Errors
    /// Returns the first reason why it cannot be used.
    pub(crate) fn check(&self, skew_ms: i64) -> Result<(), UnfitStore> {
        let mut numbers = self.version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version < LEAST_VERSION {
            return Err(UnfitStore::Version(self.version.clone()));
        }
        if self.is_divided {
            return Err(UnfitStore::Divided);
        }
        if self.is_replica {
            return Err(UnfitStore::Replica);
        }
        if self.eviction != "noeviction" {
            return Err(UnfitStore::Evicts(self.eviction.clone()));
        }
        if skew_ms.abs() > MOST_SKEW_MS {
            return Err(UnfitStore::Skewed(skew_ms));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Server\r\nredis_version:7.0.15\r\nrole:master\r\nmaxmemory_policy:noeviction\r\ncluster_enabled:0\r\n";

    fn checked(from: &str, to: &str, skew_ms: i64) -> Result<(), UnfitStore> {
        ServerFacts::parse(&GOOD.replace(from, to)).check(skew_ms)
    }

    #[test]
    fn a_store_is_checked_before_it_is_used() {
        assert_eq!(checked("", "", 0), Ok(()));
        assert_eq!(checked("7.0.15", "6.2.7", 0), Err(UnfitStore::Version("6.2.7".to_owned())));
        assert_eq!(checked("7.0.15", "10.1", 0), Ok(()));
        assert_eq!(
            checked("noeviction", "allkeys-lru", 0),
            Err(UnfitStore::Evicts("allkeys-lru".to_owned()))
        );
        assert_eq!(
            checked("noeviction", "volatile-ttl", 0),
            Err(UnfitStore::Evicts("volatile-ttl".to_owned()))
        );
        assert_eq!(checked("role:master", "role:slave", 0), Err(UnfitStore::Replica));
        assert_eq!(checked("cluster_enabled:0", "cluster_enabled:1", 0), Err(UnfitStore::Divided));
        assert_eq!(checked("", "", -30_001), Err(UnfitStore::Skewed(-30_001)));
        assert_eq!(checked("", "", 30_000), Ok(()));
    }

    #[test]
    fn an_answer_without_the_facts_is_no_usable_store() {
        assert!(ServerFacts::parse("").check(0).is_err());
    }
}
