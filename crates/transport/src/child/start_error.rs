//! Explains failed starts of programs, and suggests fixes. Looks at files and `PATH` only to explain a failure.

use std::{
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::spec::Spec;

/// The reason why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program does not exist.
    #[error("{program} was not found in {place}; {help}")]
    NotFound {
        /// The program as requested.
        program: String,
        /// The location where the program was searched for.
        place: String,
        /// The suggested fix.
        help: String,
    },
    /// The program exists but the system refuses to run it.
    #[error("{program} cannot be run: {reason}")]
    NotRunnable {
        /// The program as requested.
        program: String,
        /// The problem and its fix.
        reason: String,
    },
    /// The working directory does not exist.
    #[error("the working directory {} of {program} {reason}", .directory.display())]
    Directory {
        /// The program as requested.
        program: String,
        /// The directory as requested.
        directory: PathBuf,
        /// The problem.
        reason: &'static str,
    },
    /// The program, an argument or a variable contains something that cannot be passed to a process.
    #[error("{program} cannot be started: {reason}")]
    Invalid {
        /// The program as requested.
        program: String,
        /// The problem.
        reason: String,
    },
    /// The maximum number of children is running.
    #[error("{max} child processes are running, which is the limit; stop one or raise the limit")]
    TooMany {
        /// The limit.
        max: usize,
    },
    /// The supervisor is ending all children.
    #[error("no program can be started: Dragoman is stopping all child processes")]
    ShuttingDown,
    /// Any other error, such as a lack of memory, processes or file descriptors.
    #[error("{program} could not be started: {source}")]
    Other {
        /// The program as requested.
        program: String,
        /// The system's error.
        source: io::Error,
    },
}

impl SpawnError {
    /// Returns true if another attempt may soon succeed without any change.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::TooMany { .. } | Self::Other { .. })
    }
}

/// Returns the short name of a program for messages: the last part of its path.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').find(|part| !part.is_empty()).unwrap_or(program)
}

/// Rejects a spec that the system would reject anyway; unlike the system, names the part at fault.
pub(super) fn check(spec: &Spec) -> Result<(), SpawnError> {
    let refuse = |reason: String| Err(SpawnError::Invalid { program: printable(&spec.program), reason });
    if spec.program.is_empty() {
        return Err(SpawnError::Invalid {
            program: "the program".into(),
            reason: "`command` is empty; set it to the name or the path of a program".into(),
        });
    }
    if spec.program.contains('\0') {
        return refuse("its name contains a NUL character".into());
    }
    if let Some(index) = spec.args.iter().position(|arg| arg.contains('\0')) {
        return refuse(format!("argument {} contains a NUL character", index + 1));
    }
    for (name, value) in &spec.env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return refuse(format!("{:?} is not a valid name for an environment variable", printable(name)));
        }
        if value.contains('\0') {
            return refuse(format!("the environment variable {name} contains a NUL character"));
        }
    }
    Ok(())
}

/// Returns an explanation of `error` for `spec`.
pub(super) fn explain(spec: &Spec, error: io::Error) -> SpawnError {
    let program = printable(&spec.program);
    if let Some(directory) = &spec.cwd
        && let Some(reason) = directory_fault(directory)
    {
        return SpawnError::Directory { program, directory: directory.clone(), reason };
    }
    match error.kind() {
        io::ErrorKind::NotFound => not_found(spec, program),
        io::ErrorKind::PermissionDenied => {
            let reason = match find(spec) {
                Some(path) if path.is_dir() => "it is a directory".into(),
                Some(path) => format!("permission denied; `chmod +x {}` makes it executable", path.display()),
                None => "permission denied".into(),
            };
            SpawnError::NotRunnable { program, reason }
        }
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            let reason = "it is neither a program for this machine nor a script with a `#!` line; give the interpreter \
                          as `command` and the file as its first argument";
            SpawnError::NotRunnable { program, reason: reason.into() }
        }
        io::ErrorKind::ArgumentListTooLong => {
            let reason = "its arguments and environment together are too long for this system".into();
            SpawnError::Invalid { program, reason }
        }
        _ => SpawnError::Other { program, source: error },
    }
}

fn not_found(spec: &Spec, program: String) -> SpawnError {
    if let Some(path) = find(spec).filter(|path| path.is_file()) {
        let reason =
            format!("the interpreter that {} names (its `#!` line or loader) does not exist", path.display());
        return SpawnError::NotRunnable { program, reason };
    }
    let place = if spec.program.contains('/') {
        match &spec.cwd {
            Some(cwd) if !spec.program.starts_with('/') => format!("the working directory {}", cwd.display()),
            _ => "the file system".into(),
        }
    } else {
        match search_path(spec) {
            Some(path) => format!("PATH ({path})"),
            None => "the system's own directories (PATH is not set)".into(),
        }
    };
    SpawnError::NotFound { help: help(&spec.program), program, place }
}

/// Returns the suggested fix if `program` is missing.
fn help(program: &str) -> String {
    let package = match name(program) {
        "npx" | "npm" | "node" => "install Node.js (https://nodejs.org)",
        "uvx" | "uv" => "install uv (https://docs.astral.sh/uv)",
        "docker" => "install Docker (https://docs.docker.com/get-docker)",
        "podman" => "install Podman (https://podman.io)",
        "bunx" | "bun" => "install Bun (https://bun.sh)",
        "deno" => "install Deno (https://deno.com)",
        "python" => "install Python or write `python3`",
        "python3" | "pip" | "pipx" => "install Python (https://www.python.org)",
        _ if program.starts_with('~') => {
            return "there is no shell that would expand `~`: write the whole path".into();
        }
        _ if program.contains('$') => {
            return "there is no shell that would expand `$`: write the value".into();
        }
        _ if program.contains(char::is_whitespace) => {
            return "this looks like a whole command line: put the words after the first into `args`".into();
        }
        _ if program.contains('/') => return "check the path".into(),
        _ => "install it",
    };
    format!("{package}, or give the full path as `command`, or set PATH in this server's `env`")
}

/// Returns the `PATH` that the child gets, in which the program is looked up.
fn search_path(spec: &Spec) -> Option<String> {
    match spec.env.iter().rfind(|(name, _)| name == "PATH") {
        Some((_, path)) => Some(path.clone()),
        None => std::env::var_os("PATH").map(|path| path.to_string_lossy().into_owned()),
    }
}

/// Returns the file to which the spec refers: the first executable file with that name in `PATH`, or, if there is
/// none, the first file with that name.
fn find(spec: &Spec) -> Option<PathBuf> {
    let cwd = spec.cwd.as_deref().unwrap_or(Path::new(""));
    if spec.program.contains('/') {
        return Some(cwd.join(&spec.program)).filter(|path| path.exists());
    }
    let path = search_path(spec)?;
    let candidates: Vec<PathBuf> = std::env::split_paths(&path)
        .map(|directory| cwd.join(directory).join(&spec.program))
        .filter(|path| path.exists())
        .collect();
    let executable =
        |path: &&PathBuf| path.metadata().is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
    candidates.iter().find(executable).or(candidates.first()).cloned()
}

fn directory_fault(directory: &Path) -> Option<&'static str> {
    match directory.metadata() {
        Ok(data) if data.is_dir() => None,
        Ok(_) => Some("is not a directory"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some("does not exist"),
        Err(_) => Some("cannot be entered"),
    }
}

/// Returns `text` in a form for messages: short and without control characters.
fn printable(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The programs and files for the other explanations are in `child::tests::starting`. This explanation depends on
    // the C library: some pass such a file to a shell.
    #[test]
    fn a_file_of_an_unknown_format_is_explained() {
        let error = io::Error::from(rustix::io::Errno::NOEXEC);
        let explained = explain(&Spec::new("./server.py"), error).to_string();
        assert!(explained.contains("give the interpreter as `command`"), "{explained}");
    }
}
