//! The description of a program to start. This is plain data: nothing is looked up or started here.

use std::{fmt, path::PathBuf};

use super::caps::ChildCaps;

/// A program with its arguments and environment. There is no shell: every argument is passed exactly as it is written here.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Spec {
    /// A name that is looked up in `PATH`, or a path if it contains a `/` (a relative path is relative to
    /// `cwd`).
    pub program: String,
    /// The arguments, without the program's name.
    pub args: Vec<String>,
    /// Environment variables in addition to the inherited ones, which they override.
    pub env: Vec<(String, String)>,
    /// The working directory; `None` to use the working directory of this process.
    pub cwd: Option<PathBuf>,
    /// The names of further variables to inherit from this process, in addition to those that every child inherits
    /// (`PATH`, `HOME`, locale, proxies and the like). A name that ends in `*` is a prefix.
    pub inherit: Vec<String>,
    /// The caps of the program and all processes that it starts. Only a guardian enforces the caps, so they work only on Linux.
    pub caps: ChildCaps,
}

impl Spec {
    /// Creates the spec of a program without arguments, in this process's directory, with only the usual environment.
    pub fn new(program: impl Into<String>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds one environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }
}

/// Omits arguments and the values of variables, because both may be secrets.
impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .field("inherit", &self.inherit)
            .field("caps", &self.caps)
            .finish()
    }
}
