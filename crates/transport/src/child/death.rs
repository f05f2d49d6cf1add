//! Preparations in a child before its program starts. If the system supports it (Linux), the child ends together with
//! this process. The child's limit of open files is the limit with which this process was started.

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(super) fn with_parent(command: &mut tokio::process::Command) {
    use rustix::process::{Resource, Signal, getpid, getppid, set_parent_process_death_signal, setrlimit};

    let (parent, files) = (getpid(), crate::files::started_with());
    let tie = move || {
        // SIGTERM, not SIGKILL: launchers such as npx and docker pass SIGTERM on to the processes that they launched,
        // and cannot pass on SIGKILL. A child that ignores SIGTERM still sees that its stdin is closed.
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // If the parent died before that call, the signal will never arrive.
        if getppid() != Some(parent) {
            return Err(std::io::ErrorKind::NotConnected.into());
        }
        if let Some(files) = files {
            setrlimit(Resource::Nofile, files)?;
        }
        Ok(())
    };
    // SAFETY: the closure runs in the forked child before exec, where only async-signal-safe functions may be called.
    // It makes three bare system calls (prctl, getppid, setrlimit), allocates nothing, takes no lock and cannot panic; building an
    // `io::Error` from an error number or a kind allocates nothing either.
    unsafe {
        command.pre_exec(tie);
    }
}

/// Does nothing, because only Linux ends a child together with its parent. On other systems, a child notices the
/// end of this process because the child's stdin is closed.
#[cfg(not(target_os = "linux"))]
pub(super) fn with_parent(_command: &mut tokio::process::Command) {}
