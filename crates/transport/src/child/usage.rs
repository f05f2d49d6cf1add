//! The memory of a process, as the system reports it. This module must not know why a process is examined.

/// Returns the number of bytes of memory that a process occupies; `None` if this is unknown. This reads a file of the
/// system, which takes microseconds.
#[cfg(target_os = "linux")]
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Returns `None`, because only Linux reports the memory of a process in a file.
#[cfg(not(target_os = "linux"))]
pub fn resident_bytes(_: u32) -> Option<u64> {
    None
}

/// The memory and the number of a process and its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FamilyUsage {
    /// The bytes of memory that all of them occupy.
    pub resident_bytes: u64,
    /// The number of processes, without the first one.
    pub descendants: u64,
}

/// The maximum number of processes that are counted.
const MOST: usize = 256;

/// Returns the memory use of a process and its descendants, and their number; `None` if this is unknown. This reads
/// files of the system for each process.
pub fn family_usage(pid: u32) -> Option<FamilyUsage> {
    let mut usage = FamilyUsage { resident_bytes: resident_bytes(pid)?, descendants: 0 };
    let mut family = vec![pid];
    let mut next = 0;
    while next < family.len() && family.len() < MOST {
        for child in children(family[next]) {
            // A process that has just ended is not counted.
            if let Some(bytes) = resident_bytes(child).filter(|_| !family.contains(&child)) {
                usage.resident_bytes += bytes;
                usage.descendants += 1;
                family.push(child);
            }
        }
        next += 1;
    }
    Some(usage)
}

/// Returns the processes that a process started, as far as they are known.
fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let all: Vec<String> = lists.collect();
    all.iter().flat_map(|list| list.split_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_occupies_memory_and_no_other_answer_is_made_up() {
        let own = resident_bytes(std::process::id()).unwrap();
        assert!((1 << 20..1 << 36).contains(&own), "{own}");
        assert_eq!(resident_bytes(u32::MAX), None);
    }

    #[test]
    fn a_family_includes_the_processes_that_were_started() {
        // The first process has descendants, or this process is the first one.
        let usage = family_usage(1).or_else(|| family_usage(std::process::id())).unwrap();
        assert!(usage.resident_bytes > 0, "{usage:?}");
        let own = family_usage(std::process::id()).unwrap();
        assert_eq!(own.descendants, 0, "a test starts no process");
        assert!(own.resident_bytes > 1 << 20);
        assert_eq!(family_usage(u32::MAX), None);
    }
}
