//! The comparison of a gateway's changes with those of its cluster. Pure; this module must not know what a change means.

use cluster::DocumentVersion;

/// The step that follows from a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Both are the same.
    Settled,
    /// The store has newer changes.
    Take,
    /// The store has lost the changes from this gateway, or has older ones.
    Publish,
}

/// The part of a comparison that concerns this gateway's changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnChanges {
    pub(super) version: Option<DocumentVersion>,
    pub(super) is_empty: bool,
    /// True if the changes must be sealed again, because the ring seals with another key.
    pub(super) needs_seal: bool,
}

impl OwnChanges {
    /// Compares the changes with the version in the store; `None` if the store contains no document of the cluster.
    pub(super) fn compare(&self, stored: Option<DocumentVersion>) -> NextStep {
        match (self.version, stored) {
            (None, None) if self.is_empty => NextStep::Settled,
            (None, Some(_)) => NextStep::Take,
            (Some(own), Some(stored)) if own < stored => NextStep::Take,
            (Some(own), Some(stored)) if own == stored && !self.needs_seal => NextStep::Settled,
            _ => NextStep::Publish,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u64, edition: u64) -> DocumentVersion {
        (1..number).fold(DocumentVersion::after(None, edition), |before, _| {
            DocumentVersion::after(Some(before), edition)
        })
    }

    fn own(version: Option<DocumentVersion>) -> OwnChanges {
        OwnChanges { version, is_empty: version.is_none(), needs_seal: false }
    }

    #[test]
    fn the_newer_version_wins() {
        let (old, new) = (version(1, 9), version(2, 1));
        assert_eq!(own(Some(old)).compare(Some(new)), NextStep::Take);
        assert_eq!(own(Some(new)).compare(Some(old)), NextStep::Publish, "an older document came back");
        assert_eq!(own(Some(new)).compare(Some(new)), NextStep::Settled);
        assert_eq!(own(Some(version(2, 2))).compare(Some(new)), NextStep::Publish, "of two, one is chosen");
        assert_eq!(own(Some(new)).compare(Some(version(2, 2))), NextStep::Take);
    }

    #[test]
    fn a_store_that_has_lost_the_changes_gets_them_again() {
        assert_eq!(own(Some(version(1, 1))).compare(None), NextStep::Publish);
        assert_eq!(own(None).compare(None), NextStep::Settled, "nothing was ever changed");
    }

    #[test]
    fn changes_from_before_the_cluster_are_the_first_unless_it_has_some() {
        let early = OwnChanges { version: None, is_empty: false, needs_seal: false };
        assert_eq!(early.compare(None), NextStep::Publish);
        assert_eq!(early.compare(Some(version(1, 1))), NextStep::Take);
    }

    #[test]
    fn changes_are_sealed_again_under_a_new_key() {
        let sealed_before = OwnChanges { needs_seal: true, ..own(Some(version(3, 3))) };
        assert_eq!(sealed_before.compare(Some(version(3, 3))), NextStep::Publish);
        assert_eq!(
            sealed_before.compare(Some(version(4, 3))),
            NextStep::Take,
            "whoever made them sealed them"
        );
        let nothing = OwnChanges { needs_seal: true, ..own(None) };
        assert_eq!(nothing.compare(None), NextStep::Settled);
    }
}
