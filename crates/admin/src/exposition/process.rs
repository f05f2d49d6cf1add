//! Memory, files, threads and processor time of the process, as the system reports them. Figures that the system does not
//! report are left out.

use std::fmt::Result;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use super::families::{Families, number};

/// The number of ticks per second in files of `/proc`; it does not depend on the kernel's own tick.
const TICKS: f64 = 100.0;

pub(super) fn write(families: &mut Families<'_, '_>, started: SystemTime) -> Result {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let gauges = [
        ("process_resident_memory_bytes", "Resident memory.", field(&status, "VmRSS:").map(|kib| kib * 1024)),
        ("process_threads", "Threads.", field(&status, "Threads:")),
        ("process_open_fds", "Open file descriptors.", open_files()),
        ("process_max_fds", "The limit of open file descriptors.", most_files()),
        (
            "process_start_time_seconds",
            "The start time of the process, in seconds since 1970.",
            seconds(started),
        ),
    ];
    for (name, about, value) in gauges {
        if let Some(value) = value {
            families.gauges((name, about), |series| series(&[], number(value)))?;
        }
    }
    let used = fs::read_to_string("/proc/self/stat").ok().and_then(|stat| processor_seconds(&stat));
    let Some(used) = used else { return Ok(()) };
    families.counters::<f64>(("process_cpu_seconds", "Processor time."), |series| series(&[], used))
}

fn seconds(at: SystemTime) -> Option<u64> {
    at.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Returns the number in a line of `/proc/self/status`.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn open_files() -> Option<u64> {
    // One of them is the folder that is being read.
    fs::read_dir("/proc/self/fd").ok().map(|files| (files.count() as u64).saturating_sub(1))
}

fn most_files() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    field(&limits, "Max open files")
}

/// Returns the processor time in `/proc/self/stat`: the 14th and the 15th field. The second field may contain blanks, and
/// ends with the last parenthesis.
fn processor_seconds(stat: &str) -> Option<f64> {
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(number(ticks(11)? + ticks(12)?) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_read() {
        assert_eq!(field("Name:\tx\nVmRSS:\t   12 kB\n", "VmRSS:"), Some(12));
        assert_eq!(field("Name:\tx\n", "VmRSS:"), None);
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 1 0 1";
        assert_eq!(processor_seconds(stat), Some(2.0));
        assert_eq!(processor_seconds("7 (a"), None);
    }
}
