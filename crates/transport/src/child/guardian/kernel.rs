//! The requests to the kernel that have no safe function: to fork, and to receive signals as bytes of a file. The only
//! file with `unsafe` of the guardian. It must not know what forks are for.
#![allow(unsafe_code)]

use std::{
    io, mem,
    os::fd::{FromRawFd, OwnedFd},
    ptr,
};

use rustix::process::Pid;

/// The process in which [`fork`] has returned.
pub(super) enum Forked {
    /// The process that called it, with the id of the new one.
    Parent(Pid),
    /// The new process.
    Child,
}

/// Makes a copy of this process that shares its memory until either writes to it.
///
/// # Errors
/// The system has no room for another process.
pub(super) fn fork() -> io::Result<Forked> {
    // SAFETY: `fork` takes no pointers. The copy has only the thread that called; guardian and holders never start another
    // one, so no lock can be held by a thread that does not exist in the copy, and it may allocate and return as usual.
    let pid = unsafe { libc::fork() };
    match Pid::from_raw(pid) {
        None => Ok(Forked::Child),
        Some(_) if pid < 0 => Err(io::Error::last_os_error()),
        Some(child) => Ok(Forked::Parent(child)),
    }
}

/// Blocks every signal that can be blocked, and returns a descriptor that becomes readable when a child has ended. Blocked
/// rather than ignored, because a program that is executed could not tell who had ignored them.
///
/// # Errors
/// The system has no such descriptors, or none left.
pub(super) fn block_signals() -> io::Result<OwnedFd> {
    // SAFETY: the sets are valid for reads and writes during the calls, `sigfillset` and `sigemptyset` initialise them before
    // they are read, and a null pointer says that the old mask is not wanted. No handler is installed: SIGCHLD gets its
    // default back, which a parent may have replaced by "ignored" (then no child could be waited for). The descriptor that
    // `signalfd` returns is new and belongs to nobody else.
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

/// Lets every signal through again, as programs expect it when they begin.
///
/// # Errors
/// There are none that the system knows of.
pub(super) fn unblock_signals() -> io::Result<()> {
    // SAFETY: the set is valid during the calls and initialised by `sigemptyset`; a null pointer says that the old mask is not
    // wanted. This process has no handlers: a signal that has waited does what it does by default.
    let done = unsafe {
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The most memory that one of the children that were reaped, or of those that they had reaped, has used, in bytes.
pub(super) fn largest_child() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: all bytes zero are a valid `rusage`, and the call writes to nothing else.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024)
}
