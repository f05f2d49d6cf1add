//! Messages between the gateway, its guardian and the holders of its children, as bytes. This file is pure. Every
//! message is one packet of [`FRAME`] bytes, so no message needs a limit or has to be split. This module must not know
//! sockets.

use super::super::caps::ChildCaps;

/// The length of every message, in bytes.
pub(crate) const FRAME: usize = 24;

/// A message as it is sent.
pub(crate) type Frame = [u8; FRAME];

/// An order from the gateway to its guardian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardianOrder {
    /// The limit of open files for servers; `None` means unlimited.
    Files {
        /// The soft limit.
        soft: Option<u64>,
        /// The hard limit.
        hard: Option<u64>,
    },
    /// Starts a server. The packet carries the descriptors of the server's stdin, stdout and stderr, of the socket
    /// to its holder, and of the file with its program.
    Start {
        /// The time between SIGTERM and SIGKILL, in milliseconds.
        grace: u32,
        /// The caps of the server and all processes that it starts.
        caps: ChildCaps,
    },
}

/// A message from the guardian to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardianNote {
    /// The guardian accepts orders from now on.
    Ready {
        /// False if descendants cannot be found in `/proc`: then only process groups can be ended.
        sees_processes: bool,
    },
}

/// A message from a holder to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HolderReport {
    /// The server's program runs.
    Started {
        /// The server's process id.
        pid: u32,
        /// The holder's process id.
        holder: u32,
    },
    /// The server could not be started.
    Failed {
        /// The number of the system error that is the reason.
        errno: i32,
    },
    /// The server has ended. Processes that it started may still run.
    Exited {
        /// The status as the system reports it.
        status: i32,
        /// The highest observed memory use, in bytes, of the server or of any reaped process that it started.
        memory: u64,
    },
    /// The server and all processes that it started are being ended, because they use this number of bytes of memory.
    TooMuchMemory(u64),
    /// The server and all processes that it started are being ended, because there are this many of them.
    TooManyProcesses(u64),
    /// None of the server's processes is left.
    Gone {
        /// The processor time that the server and all of its descendants took, in milliseconds.
        cpu: u64,
    },
}

/// A message from the gateway to a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HolderWord {
    /// Ends the server and all of its descendants: SIGTERM, the grace period, SIGKILL.
    End,
    /// Ends the server and all of its descendants without a grace period.
    Kill,
}

const UNLIMITED: u64 = u64::MAX;

fn frame(kind: u8, small: u32, first: u64, second: u64) -> Frame {
    let mut frame = [0; FRAME];
    frame[0] = kind;
    frame[4..8].copy_from_slice(&small.to_le_bytes());
    frame[8..16].copy_from_slice(&first.to_le_bytes());
    frame[16..24].copy_from_slice(&second.to_le_bytes());
    frame
}

/// Returns the kind and the numbers in a frame.
fn parts(frame: &Frame) -> (u8, u32, u64, u64) {
    let long = |at: usize| frame[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let small = frame[4..8].iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    (frame[0], small, long(8), long(16))
}

impl GuardianOrder {
    /// Returns the message as bytes.
    pub(crate) fn encode(self) -> Frame {
        match self {
            Self::Files { soft, hard } => frame(1, 0, soft.unwrap_or(UNLIMITED), hard.unwrap_or(UNLIMITED)),
            Self::Start { grace, caps } => {
                let processes = caps.processes.map(u64::from);
                frame(2, grace, caps.memory.unwrap_or(UNLIMITED), processes.unwrap_or(UNLIMITED))
            }
        }
    }

    /// Returns the message in these bytes, if they contain one.
    pub(crate) fn decode(frame: &Frame) -> Option<Self> {
        let limit = |value: u64| (value != UNLIMITED).then_some(value);
        match parts(frame) {
            (1, _, soft, hard) => Some(Self::Files { soft: limit(soft), hard: limit(hard) }),
            (2, grace, memory, processes) => {
                let processes = limit(processes).map(u32::try_from).transpose().ok()?;
                Some(Self::Start { grace, caps: ChildCaps { memory: limit(memory), processes } })
            }
            _ => None,
        }
    }
}

impl GuardianNote {
    /// Returns the message as bytes.
    pub(crate) fn encode(self) -> Frame {
        let Self::Ready { sees_processes } = self;
        frame(3, sees_processes.into(), 0, 0)
    }

    /// Returns the message in these bytes, if they contain one.
    pub(crate) fn decode(frame: &Frame) -> Option<Self> {
        match parts(frame) {
            (3, sees, ..) => Some(Self::Ready { sees_processes: sees != 0 }),
            _ => None,
        }
    }
}

impl HolderReport {
    /// Returns the message as bytes.
    pub(crate) fn encode(self) -> Frame {
        match self {
            Self::Started { pid, holder } => frame(4, pid, holder.into(), 0),
            Self::Failed { errno } => frame(5, errno.cast_unsigned(), 0, 0),
            Self::Exited { status, memory } => frame(6, status.cast_unsigned(), memory, 0),
            Self::TooMuchMemory(used) => frame(10, 0, used, 0),
            Self::TooManyProcesses(used) => frame(11, 0, used, 0),
            Self::Gone { cpu } => frame(7, 0, cpu, 0),
        }
    }

    /// Returns the message in these bytes, if they contain one.
    pub(crate) fn decode(frame: &Frame) -> Option<Self> {
        match parts(frame) {
            (4, pid, holder, _) => Some(Self::Started { pid, holder: holder.try_into().ok()? }),
            (5, errno, ..) => Some(Self::Failed { errno: errno.cast_signed() }),
            (6, status, memory, _) => Some(Self::Exited { status: status.cast_signed(), memory }),
            (10, _, used, _) => Some(Self::TooMuchMemory(used)),
            (11, _, used, _) => Some(Self::TooManyProcesses(used)),
            (7, _, cpu, _) => Some(Self::Gone { cpu }),
            _ => None,
        }
    }
}

impl HolderWord {
    /// Returns the message as bytes.
    pub(crate) fn encode(self) -> Frame {
        match self {
            Self::End => frame(8, 0, 0, 0),
            Self::Kill => frame(9, 0, 0, 0),
        }
    }

    /// Returns the message in these bytes, if they contain one.
    pub(crate) fn decode(frame: &Frame) -> Option<Self> {
        match frame[0] {
            8 => Some(Self::End),
            9 => Some(Self::Kill),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_comes_back() {
        for (soft, hard) in [(None, None), (Some(0), Some(1)), (Some(1024), None)] {
            let order = GuardianOrder::Files { soft, hard };
            assert_eq!(GuardianOrder::decode(&order.encode()), Some(order));
        }
        for grace in [0, 2000, u32::MAX] {
            for (memory, processes) in [(None, None), (Some(0), Some(0)), (Some(1 << 40), Some(u32::MAX))] {
                let order = GuardianOrder::Start { grace, caps: ChildCaps { memory, processes } };
                assert_eq!(GuardianOrder::decode(&order.encode()), Some(order));
            }
        }
        for sees_processes in [true, false] {
            let note = GuardianNote::Ready { sees_processes };
            assert_eq!(GuardianNote::decode(&note.encode()), Some(note));
        }
        let reports = [
            HolderReport::Started { pid: 4_194_304, holder: 7 },
            HolderReport::Failed { errno: 2 },
            HolderReport::Exited { status: 0x0100, memory: 0 },
            HolderReport::Exited { status: -1, memory: u64::MAX },
            HolderReport::TooMuchMemory(7),
            HolderReport::TooManyProcesses(8),
            HolderReport::Gone { cpu: u64::MAX },
        ];
        for report in reports {
            assert_eq!(HolderReport::decode(&report.encode()), Some(report));
        }
        for word in [HolderWord::End, HolderWord::Kill] {
            assert_eq!(HolderWord::decode(&word.encode()), Some(word));
        }
    }

    #[test]
    fn a_message_of_one_kind_is_none_of_another() {
        for kind in 0..=u8::MAX {
            let frame = frame(kind, 1, 2, 3);
            let readings = [
                GuardianOrder::decode(&frame).is_some(),
                GuardianNote::decode(&frame).is_some(),
                HolderReport::decode(&frame).is_some(),
                HolderWord::decode(&frame).is_some(),
            ];
            let count = readings.iter().filter(|reads| **reads).count();
            assert_eq!(count, usize::from((1..=11).contains(&kind)), "kind {kind}");
        }
        assert_eq!(HolderReport::decode(&frame(4, 1, u64::MAX, 0)), None, "that is no process id");
    }
}
