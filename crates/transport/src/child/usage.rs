//! The memory of a process, as the system states it. This module must not know why a process is examined.

/// Returns the number of bytes of memory that a process occupies; `None` if this is unknown. This reads a file of the
/// system, which takes microseconds.
#[cfg(target_os = "linux")]
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Returns `None`, because only Linux states this in a file.
#[cfg(not(target_os = "linux"))]
pub fn resident_bytes(_: u32) -> Option<u64> {
    None
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
}
