//! The last steps in a holder's child before the server's program replaces it: the preparation of the program's
//! environment, and the report to the holder if the program cannot run. This module must not know what happens to the
//! server.

use std::{
    fs::File,
    io::{self, PipeReader, PipeWriter, Read, Write},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Command, Stdio},
};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit, setsid,
};

use super::{
    super::program::{LONGEST, ServerProgram},
    kernel,
};

/// Everything that the gateway hands over for a server.
pub(super) struct ServerParts {
    /// The server's stdin, stdout and stderr.
    pub(super) stdio: [OwnedFd; 3],
    /// The memory file with the server's [`ServerProgram`].
    pub(super) program: OwnedFd,
    /// The maximum memory of each of the server's processes, in bytes; `None` means no limit.
    pub(super) memory: Option<u64>,
}

/// Becomes the server. Returns only if this fails; then the error's number has been written to `failure`, and the
/// process must exit with the returned code.
pub(super) fn become_server(parts: ServerParts, holder: Pid, mut failure: PipeWriter) -> u8 {
    let error = execute(parts, holder);
    let errno = error.raw_os_error().unwrap_or(rustix::io::Errno::INVAL.raw_os_error());
    // If the holder is gone, there is no process left to report to.
    let _ = failure.write_all(&errno.to_ne_bytes());
    127
}

/// Limits the memory to which this process and its descendants can write, in bytes. The address space is not limited:
/// runtimes such as Node's reserve far more of it than they use.
fn limit_data(most: u64) -> io::Result<()> {
    let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let before = getrlimit(Resource::Data);
    Ok(setrlimit(Resource::Data, Rlimit { current: least(before.current), maximum: least(before.maximum) })?)
}

/// Reads the error that [`become_server`] wrote; returns `None` if the server's program runs.
pub(super) fn failure(mut pipe: PipeReader) -> Option<i32> {
    let mut errno = [0; 4];
    pipe.read_exact(&mut errno).ok().map(|()| i32::from_ne_bytes(errno))
}

fn execute(parts: ServerParts, holder: Pid) -> io::Error {
    let prepared = || -> io::Result<ServerProgram> {
        // This starts a new session, so that no other server can be in one of its groups.
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the holder died before that call, the signal will never arrive.
        if getppid() != Some(holder) {
            return Err(io::ErrorKind::NotConnected.into());
        }
        if let Some(most) = parts.memory {
            limit_data(most)?;
        }
        let file = File::from(parts.program);
        let length = file.metadata()?.len().min(LONGEST as u64);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
        file.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
        let program = ServerProgram::decode(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        kernel::unblock_signals()?;
        Ok(program)
    };
    let ServerProgram { program, args, env, cwd } = match prepared() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let [stdin, stdout, stderr] = parts.stdio.map(Stdio::from);
    #[expect(clippy::disallowed_methods, reason = "this is a part of the module that starts child processes")]
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env).stdin(stdin).stdout(stdout).stderr(stderr);
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    // This restores the default of SIGPIPE.
    command.exec()
}
