//! The caps of one child and all processes that it starts, and the cap that ended the child. Plain data: nothing is
//! measured here.

use std::fmt;

/// The caps of a child and all processes that it starts; `None` means no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildCaps {
    /// The maximum amount of memory, in bytes.
    pub memory: Option<u64>,
    /// The maximum number of processes, including the child itself.
    pub processes: Option<u32>,
}

impl ChildCaps {
    /// Returns true if there is any cap.
    pub fn are_any(self) -> bool {
        self != Self::default()
    }
}

/// A cap that a child has reached, or may have reached, and the amount that the child used. `Display` completes a sentence about
/// the child's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapUse {
    /// The memory that was used, and the cap.
    Memory {
        /// The highest observed use, in bytes.
        used: u64,
        /// The cap, in bytes.
        most: u64,
    },
    /// The number of processes that ran, and the cap.
    Processes {
        /// The highest number that was observed.
        used: u64,
        /// The cap.
        most: u32,
    },
}

impl fmt::Display for CapUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes >> 20;
        match *self {
            Self::Memory { used, most } if used > most => {
                write!(
                    f,
                    "the server used {} MiB of memory, but `maxMemory` allows {} MiB",
                    mib(used),
                    mib(most)
                )
            }
            Self::Memory { used, most } => {
                write!(
                    f,
                    "the server used {} MiB of the {} MiB of memory that `maxMemory` allows",
                    mib(used),
                    mib(most)
                )
            }
            Self::Processes { used, most } => {
                write!(f, "the server had {used} processes, but `maxProcesses` allows {most}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_named_with_what_was_used() {
        let memory = |used: u64, most: u64| CapUse::Memory { used: used << 20, most: most << 20 }.to_string();
        assert_eq!(memory(70, 64), "the server used 70 MiB of memory, but `maxMemory` allows 64 MiB");
        assert_eq!(memory(60, 64), "the server used 60 MiB of the 64 MiB of memory that `maxMemory` allows");
        let processes = CapUse::Processes { used: 9, most: 8 }.to_string();
        assert_eq!(processes, "the server had 9 processes, but `maxProcesses` allows 8");
        assert!(!ChildCaps::default().are_any());
        assert!(ChildCaps { memory: Some(1), processes: None }.are_any());
    }
}
