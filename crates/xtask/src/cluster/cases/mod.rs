//! The cases, a small file for each event.

mod anywhere;
mod api_keys;
mod approvals;
mod consents;
mod cost;
mod crash;
mod ends;
mod hostile;
mod lost_store;
mod managed;
mod operators;
mod orphans;
mod passed_on;
mod resumed;
mod rolling;
mod rotation;
mod shared_calls;
mod shared_limits;
mod sign_ins;
mod stopped_replica;
mod stopped_store;
mod store_user;
mod unfit;

use super::case::Case;

/// All cases: the long ones first.
pub(super) fn all() -> Vec<Case> {
    [
        stopped_replica::ALL,
        lost_store::ALL,
        sign_ins::ALL,
        consents::ALL,
        managed::ALL,
        operators::ALL,
        approvals::ALL,
        cost::ALL,
        orphans::ALL,
        passed_on::ALL,
        rolling::ALL,
        rotation::ALL,
        shared_limits::ALL,
        shared_calls::ALL,
        stopped_store::ALL,
        crash::ALL,
        hostile::ALL,
        api_keys::ALL,
        unfit::ALL,
        store_user::ALL,
        anywhere::ALL,
        ends::ALL,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::all;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = all().iter().map(|case| case.name).collect();
        assert_eq!(names.len(), all().len());
    }
}
