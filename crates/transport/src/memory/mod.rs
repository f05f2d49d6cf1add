//! Protects the memory of this process, which contains secrets of the configuration, tokens and messages. The
//! process writes no core dump, and no other process of the same user can attach to it or read its memory. Children
//! are not affected, because executing a program makes a process dumpable again; they inherit only the limit on
//! core dumps. This module must not know what the memory contains.
//!
//! This module also makes the allocator return its free memory to the operating system. `blocks` is the allocator.

pub mod blocks;

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Protects the memory of this process from now on.
///
/// # Errors
/// Returns the system's error; then either none or only one of the two protections is active.
pub fn protect() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?)
}

/// Makes the allocator return its free memory, in the arenas of all threads, to the operating system. This walks
/// through the heap, so call this function only when much memory has become free, and on threads without connections.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "glibc offers this only as a C function")]
pub fn give_back() {
    // SAFETY: `malloc_trim` takes no pointers, may be called at any time from any thread, and does its own locking.
    unsafe { libc::malloc_trim(0) };
}

/// Makes all threads share a few arenas of the allocator if the address space of this process is limited. Otherwise glibc
/// reserves 64 MiB of the address space for each thread. Call this function before the process starts its threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "glibc offers this only as a C function")]
pub fn share_arenas() {
    if rustix::process::getrlimit(Resource::As).current.is_none() {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = libc::c_int::try_from(cores).unwrap_or(libc::c_int::MAX);
    // SAFETY: `mallopt` takes no pointers, and no other thread exists yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, most) };
}

/// Does nothing, because other allocators reserve no address space for each thread.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share_arenas() {}

/// Does nothing, because other allocators return memory by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior, getrlimit};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the child ends within this statement")]
    fn nothing_is_dumped_and_children_can_look_at_themselves() {
        protect().unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
        // The environment of a process that is not dumpable belongs to root.
        let child =
            std::process::Command::new("cat").arg("/proc/self/environ").env("OWN", "mine").output().unwrap();
        assert!(
            child.status.success() && String::from_utf8_lossy(&child.stdout).contains("OWN=mine"),
            "{child:?}"
        );
    }
}
