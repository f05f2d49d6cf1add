//! The system calls that have no safe wrapper: forking, and receiving signals through a file descriptor. This is
//! the guardian's only file with `unsafe`. This module must not know what forks are for.
#![allow(unsafe_code)]

use std::{
    io, mem,
    os::fd::{FromRawFd, OwnedFd},
    ptr,
};

use rustix::process::Pid;

/// The process in which a call of [`fork`] has returned.
pub(super) enum ForkedProcess {
    /// The calling process, with the id of the new one.
    Parent(Pid),
    /// The new process.
    Child,
}

/// Creates a copy of this process; both share the memory until either of them writes to it.
///
/// # Errors
/// Fails if the system cannot create another process.
pub(super) fn fork() -> io::Result<ForkedProcess> {
    // SAFETY: `fork` takes no pointers. The copy has only the thread that called. The guardian and the holders never
    // start another thread, so no lock can be held by a thread that does not exist in the copy, and the copy may
    // allocate and return as usual.
    let pid = unsafe { libc::fork() };
    match Pid::from_raw(pid) {
        None => Ok(ForkedProcess::Child),
        Some(_) if pid < 0 => Err(io::Error::last_os_error()),
        Some(child) => Ok(ForkedProcess::Parent(child)),
    }
}

/// Blocks every signal that can be blocked, and returns a descriptor that becomes readable when a child has ended. The
/// signals are blocked rather than ignored, because an executed program inherits ignored signals and cannot know why they
/// are ignored.
///
/// # Errors
/// Fails if the system does not support such descriptors, or has none left.
pub(super) fn block_signals() -> io::Result<OwnedFd> {
    // SAFETY: the sets are valid for reads and writes during the calls, `sigfillset` and `sigemptyset` initialise them before
    // they are read, and a null pointer means that the old mask is not requested. No handler is installed: SIGCHLD gets its
    // default back, which a parent may have replaced with "ignored" (then no child could be waited for). The descriptor that
    // `signalfd` returns is new and has no other owner.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigfillset(&raw mut set);
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        let descriptor = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if descriptor < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(descriptor)) }
    }
}

/// Unblocks every signal, as programs expect at their start.
///
/// # Errors
/// The system documents no reason for a failure.
pub(super) fn unblock_signals() -> io::Result<()> {
    // SAFETY: the set is valid during the calls and initialised by `sigemptyset`; a null pointer means that the old mask is
    // not requested. This process has no handlers, so a pending signal takes its default action.
    let done = unsafe {
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the maximum memory that any of the reaped children, or any child that these had reaped, has used, in bytes.
pub(super) fn largest_child() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: a `rusage` whose bytes are all zero is valid, and the call writes to nothing else.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024)
}
