//! The data that the kernel provides about processes: CPU time, memory, children.

use std::fs;

/// Ticks per second of the times in `/proc/*/stat`; fixed by Linux for user space.
const TICKS: u64 = 100;

/// The CPU time that the processes have used, in nanoseconds.
pub(crate) fn cpu_nanos(pids: &[u32]) -> u64 {
    pids.iter().map(|pid| precise(*pid).max(coarse(*pid))).sum()
}

/// The CPU time of a process's living threads, to the nanosecond. Unlike [`cpu_nanos`], it can measure a moment: the coarse time of
/// a process is often ahead once threads have ended. It decreases when a thread ends.
pub(crate) fn precise(pid: u32) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .sum()
}

/// The user and system time of a process, including that of ended threads, rounded down to whole ticks.
fn coarse(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let times: u64 = fields(&stat).skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    times * (1_000_000_000 / TICKS)
}

/// The fields of a `stat` line, starting with the state; the name before it may contain any characters.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace()
}

/// The CPU time that all processes of the machine have used, in nanoseconds.
pub(crate) fn machine_nanos() -> u64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let times: Vec<u64> = stat
        .lines()
        .next()
        .into_iter()
        .flat_map(str::split_whitespace)
        .skip(1)
        .filter_map(|ticks| ticks.parse().ok())
        .collect();
    // The fields are user nice system idle iowait irq softirq steal; guest times are part of user.
    let busy: u64 = [0, 1, 2, 5, 6].iter().filter_map(|at| times.get(*at)).sum();
    busy * (1_000_000_000 / TICKS)
}

/// The memory of several processes together, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Resident pages; a shared page counts for each process.
    pub(crate) rss: u64,
    /// Resident pages, with shared pages divided among the processes that share them.
    pub(crate) pss: u64,
}

/// The current memory of the processes.
pub(crate) fn memory(pids: &[u32]) -> Memory {
    let mut sum = Memory::default();
    for pid in pids {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let value = |name: &str| -> u64 {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        sum.rss += value("Rss:");
        sum.pss += value("Pss:");
    }
    sum
}

/// The process and its direct children.
pub(crate) fn with_children(pid: u32) -> Vec<u32> {
    let children = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let child: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        (fields(&stat).nth(1)?.parse::<u32>().ok()? == pid).then_some(child)
    });
    std::iter::once(pid).chain(children).collect()
}

#[cfg(test)]
mod tests {
    use super::{cpu_nanos, fields, machine_nanos, memory, with_children};
    use std::process::Command;

    #[test]
    fn our_own_figures_can_be_read() {
        let me = [std::process::id()];
        let (cpu, machine) = (cpu_nanos(&me), machine_nanos());
        let mut sum = 0_u64;
        while cpu_nanos(&me) < cpu + 20_000_000 {
            sum = (0..100_000_u64).fold(sum, u64::wrapping_add);
        }
        assert!(machine_nanos() > machine, "{sum}");
        let memory = memory(&me);
        assert!(memory.rss >= memory.pss && memory.pss > 500, "{memory:?}");
    }

    #[test]
    fn children_are_found() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let found = with_children(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()) && found[0] == std::process::id());
    }

    #[test]
    fn names_with_brackets_do_not_confuse() {
        assert_eq!(fields("7 (a) b)) S 3 4").collect::<Vec<_>>(), ["S", "3", "4"]);
    }
}
