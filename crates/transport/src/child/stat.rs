//! Processes as `/proc/ID/stat` shows them. This module must not know why a process is examined.

use std::{
    fs::{self, File},
    io::{self, Read},
};

use rustix::process::Pid;

/// A process as it was at the moment of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessStat {
    /// The process's id.
    pub(super) pid: Pid,
    /// The id of the process's parent.
    pub(super) parent: i32,
    /// The process's group.
    pub(super) group: i32,
    /// The process's session.
    pub(super) session: i32,
    /// The state of the process's first thread, as a letter.
    pub(super) state: u8,
    /// The number of the process's threads, including a first thread that has ended.
    pub(super) threads: u32,
    /// The time of the process's start, in ticks; together with the id, it identifies one process forever.
    pub(super) started: u64,
}

impl ProcessStat {
    /// Reads a line: "id (name) state parent group session … start …". The name may contain any characters.
    pub(super) fn parse(stat: &[u8]) -> Option<Self> {
        let behind_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
        let pid = number(stat.split(|byte| *byte == b' ').next()?)?;
        let mut fields = stat[behind_name..].split(|byte| *byte == b' ').filter(|field| !field.is_empty());
        let state = *fields.next()?.first()?;
        let [parent, group, session] =
            [number(fields.next()?)?, number(fields.next()?)?, number(fields.next()?)?];
        let threads = number(fields.nth(13)?)?;
        let started = number(fields.nth(1)?)?;
        Some(Self { pid: Pid::from_raw(pid)?, parent, group, session, state, threads, started })
    }

    /// Reads the process with this id, or `self`; returns `None` if it does not exist or is not visible.
    pub(super) fn read(pid: impl std::fmt::Display) -> Option<Self> {
        // A line has 52 numbers and a name of at most 64 bytes; the needed fields come first.
        let mut line = [0; 1024];
        let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
        Self::parse(&line[..length])
    }

    /// Returns every visible process.
    ///
    /// # Errors
    /// Fails if there is no `/proc`.
    pub(super) fn all() -> io::Result<impl Iterator<Item = Self>> {
        let names = fs::read_dir("/proc")?.flatten().map(|entry| entry.file_name());
        let ids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
        // A process may have vanished in the meantime.
        Ok(ids.filter_map(Self::read))
    }

    /// Returns true if the process has ended and only waits to be reaped. A process whose first thread has ended may still run
    /// in other threads.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X') && self.threads <= 1
    }
}

fn number<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use rustix::process::getpid;

    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat =
            b"12 (a) S 1) (b) T 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 100 200 18446744073709551615";
        let read = ProcessStat::parse(stat).unwrap();
        assert_eq!((read.pid.as_raw_nonzero().get(), read.parent, read.group, read.session), (12, 7, 8, 9));
        assert_eq!((read.state, read.threads, read.started), (b'T', 1, 4711));
        for end in 0..40 {
            assert_eq!(ProcessStat::parse(&stat[..end]), None, "{end} bytes");
        }
        assert_eq!(ProcessStat::parse(b"0 (swapper) R 0 0"), None);
    }

    #[test]
    fn a_process_whose_first_thread_has_ended_may_still_run() {
        let read = |threads: u32| {
            let stat = format!("12 (a) Z 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 {threads} 0 4711 0 0");
            ProcessStat::parse(stat.as_bytes()).unwrap()
        };
        assert!(read(1).has_ended());
        assert!(!read(2).has_ended());
    }

    #[test]
    fn this_process_can_be_read() {
        let own = ProcessStat::read("self").unwrap();
        assert_eq!((own.pid, own.has_ended()), (getpid(), false));
        assert_eq!(ProcessStat::read(own.pid.as_raw_nonzero()).unwrap().started, own.started);
        assert!(ProcessStat::all().unwrap().any(|process| process.pid == own.pid));
    }
}
