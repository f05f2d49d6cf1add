//! A request that is refused before it is forwarded, with its record. This module must not know why requests are refused.

use bytes::Bytes;
use engine::Fault;
use proto::era::Era;
use proto::rpc::Id;

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

impl Refused {
    /// Returns the HTTP status and the answer for the client, and records the answer.
    pub(super) fn answer(self, era: &Era, id: Option<&Id>) -> (u16, Bytes) {
        let answer = self.fault.response(id);
        if let Some(mut record) = self.record {
            record.replied(&answer);
        }
        (self.fault.http_status(era), answer)
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { fault, record: None }
    }
}
