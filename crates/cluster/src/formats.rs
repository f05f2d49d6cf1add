//! The format of shared data, and the rule by which gateways of two versions work together while a cluster is updated. This module
//! must not know any value.
//!
//! - A version reads what the version with the previous format has written, and writes what that version can read.
//! - A member of a value that a later version adds is ignored. So an added member must not restrict anything: a version that ignores
//!   it would allow more.
//! - A change that an older version must not ignore needs a value that the older version cannot read (another type, or without a
//!   required member), or another name in the store. Values of the cluster that cannot be read are skipped, and never replaced or
//!   deleted ([`StoredValue::Newer`](crate::sealed::StoredValue)).
//! - Tests record the text of each value (`testing::stays_readable`). If a text has to change, [`FORMAT`] increases, and the new text is
//!   written only by the version after the one that reads it first.

use crate::replicas::Replica;

/// The format of the data that this version shares.
pub(crate) const FORMAT: u32 = 1;

/// The format of replicas that do not name theirs.
pub(crate) fn first() -> u32 {
    1
}

/// Returns true if a replica can read what this one writes, and the other way round.
pub(crate) fn is_compatible(replica: &Replica) -> bool {
    replica.format.abs_diff(FORMAT) <= 1
}

/// Warns about replicas that cannot work with this one, except for those that were already `known`. Returns the ids of all of them.
pub(crate) fn warn(replicas: &[Replica], known: &[String]) -> Vec<String> {
    let incompatible = replicas.iter().filter(|replica| !is_compatible(replica));
    let warned = incompatible.map(|Replica { id, name, version, format, .. }| {
        if !known.contains(id) {
            tracing::error!(
                replica = %name,
                %version,
                "this gateway cannot share data with a gateway whose format of shared data is {format}, not {FORMAT}; update the older one of the two step by step, without leaving out a version"
            );
        }
        id.clone()
    });
    warned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::stays_readable;

    fn replica(id: &str, format: u32) -> Replica {
        let recorded = format!(
            r#"{{"id":"{id}","name":"one","version":"0.2.0","started_ms":1,"sessions":2,"format":{format}}}"#
        );
        serde_json::from_str(&recorded).unwrap()
    }

    #[test]
    fn neighboring_formats_work_together() {
        let all =
            [replica("a", FORMAT), replica("b", FORMAT + 1), replica("c", FORMAT + 2), replica("d", 99)];
        assert_eq!(all.each_ref().map(is_compatible), [true, true, false, false]);
        assert_eq!(warn(&all, &["c".to_owned()]), ["c", "d"]);
    }

    #[test]
    fn a_heartbeat_stays_readable() {
        let recorded = r#"{"id":"00000000000000aa","name":"one","version":"0.2.0","started_ms":1,"sessions":2,"format":1}"#;
        stays_readable::<Replica>(recorded);
        let door = r#"{"id":"00000000000000aa","name":"one","version":"0.2.0","started_ms":1,"sessions":2,"door":{"address":"192.0.2.7:8810","key":"00ff"},"format":1}"#;
        stays_readable::<Replica>(door);
        let first = recorded.replace(r#","format":1"#, "");
        assert_eq!(serde_json::from_str::<Replica>(&first).unwrap(), serde_json::from_str(recorded).unwrap());
    }
}
