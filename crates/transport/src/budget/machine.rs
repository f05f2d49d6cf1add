//! The memory that this process may use: the minimum of the machine's memory, the limit of the process's control
//! group, and the memory that the process's own limit on address space allows. It must not know what the memory is
//! for.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::LEAST;

/// The memory that is assumed if the system does not report it, in bytes.
const ASSUMED: u64 = 4 << 30;

/// The address space that a thread takes, in bytes. Most of it stays unused: glibc's allocator reserves 64 MiB for
/// each thread, and the thread's stack has 2 MiB.
const OF_THREAD: u64 = 66 << 20;

/// The number of threads in addition to one per core: for files, child processes, and the record of calls.
const MORE_THREADS: u64 = 6;

/// Returns the default budget in bytes: half of the memory that this process may use, because each large message may
/// need its memory twice while it is translated. Call this function before the process starts its threads.
pub fn default_total() -> usize {
    let known = [of_machine(), of_control_group(), of_address_space()];
    let least = known.into_iter().flatten().min().unwrap_or(ASSUMED);
    usize::try_from(least / 2).unwrap_or(usize::MAX).max(LEAST)
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Returns the part of a limit on address space that remains after programs, stacks and the allocator's reserves.
fn of_address_space() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let pages = read(Path::new("/proc/self/statm")).and_then(|text| total_of_statm(&text)).unwrap_or(0);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let taken = pages.saturating_mul(rustix::param::page_size() as u64);
    Some(limit.saturating_sub(taken).saturating_sub((cores + MORE_THREADS) * OF_THREAD))
}

/// Returns the size of the address space from `/proc/self/statm`, in pages.
fn total_of_statm(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

fn of_machine() -> Option<u64> {
    total_of_meminfo(&read(Path::new("/proc/meminfo"))?)
}

/// Returns the total memory from `/proc/meminfo`, in bytes.
fn total_of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the lowest limit of this process's control group and of the groups above it.
fn of_control_group() -> Option<u64> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let root = Path::new("/sys/fs/cgroup");
    let mut limits = Vec::new();
    for (folder, file) in limit_files(&groups) {
        // Version 1 has a separate tree for each resource.
        let root = if file == V1 { root.join("memory") } else { root.to_owned() };
        for above in Path::new(folder).ancestors() {
            let file = root.join(above.strip_prefix("/").unwrap_or(above)).join(file);
            limits.extend(read(&file).and_then(|text| text.trim().parse::<u64>().ok()));
        }
    }
    limits.into_iter().min()
}

/// The file with the limit in version 1 of control groups; version 2 has two such files.
const V1: &str = "memory.limit_in_bytes";

/// Returns the folders of the control groups in `/proc/self/cgroup` that limit memory, each with the name of the file
/// that contains the limit.
fn limit_files(groups: &str) -> Vec<(&str, &'static str)> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(folder)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if number == "0" && controllers.is_empty() {
            files.extend([(folder, "memory.max"), (folder, "memory.high")]);
        } else if controllers.split(',').any(|one| one == "memory") {
            files.push((folder, V1));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_machine_is_read() {
        assert_eq!(total_of_meminfo("MemTotal:       16316412 kB\nMemFree: 1 kB\n"), Some(16_316_412 * 1024));
        for odd in ["", "MemTotal: x kB", "MemTotal: 5", "MemTotal: 99999999999999999999 kB"] {
            assert_eq!(total_of_meminfo(odd), None, "{odd}");
        }
    }

    #[test]
    fn the_address_space_in_use_is_read() {
        assert_eq!(total_of_statm("28341 6402 3991 311 0 11873 0\n"), Some(28_341));
        assert_eq!(total_of_statm(""), None);
    }

    #[test]
    fn control_groups_of_both_versions_are_found() {
        assert_eq!(
            limit_files("0::/system.slice/a:b.service\n"),
            [("/system.slice/a:b.service", "memory.max"), ("/system.slice/a:b.service", "memory.high")]
        );
        assert_eq!(limit_files("5:cpu,memory:/docker/1\n4:cpuset:/x\n"), [("/docker/1", V1)]);
        assert_eq!(limit_files("nonsense\n"), []);
    }

    #[test]
    fn the_default_is_at_least_the_least() {
        assert!(default_total() >= LEAST);
    }
}
