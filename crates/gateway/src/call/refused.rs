//! A request that is refused before it is forwarded, with its record. This module must not know why requests are refused.

use engine::Fault;

use crate::call::record::Record;

/// A refused request; dropping it completes its record.
pub(crate) struct Refused {
    pub(crate) fault: Fault,
    pub(crate) record: Option<Box<Record>>,
}

impl Refused {
    /// Creates a refusal with this fault; if there is a `masked` fault, the client receives that one instead.
    pub(super) fn new(fault: Fault, masked: Option<Box<Fault>>, mut record: Option<Box<Record>>) -> Self {
        if let Some(record) = &mut record {
            record.refused(&fault);
        }
        Self { fault: masked.map_or(fault, |masked| *masked), record }
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { fault, record: None }
    }
}
