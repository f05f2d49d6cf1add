//! The description of a program to start. Plain data: nothing is looked up or started here.

use std::{fmt, path::PathBuf};

use super::caps::ChildCaps;

/// A program and all that it is given. There is no shell: every argument arrives exactly as it stands here.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Spec {
    /// A name that is looked up in `PATH`, or a path when it contains a `/` (a relative one counts from `cwd`).
    pub program: String,
    /// The arguments, program name not included.
    pub args: Vec<String>,
    /// Environment variables on top of those that are inherited; these win.
    pub env: Vec<(String, String)>,
    /// The working directory; without one, that of this process.
    pub cwd: Option<PathBuf>,
    /// Names of further variables to inherit from this process, besides those that every child inherits (`PATH`,
    /// `HOME`, locale, proxies and the like). A name that ends in `*` is a prefix.
    pub inherit: Vec<String>,
    /// The caps of the program and all that it starts. Only a guardian keeps them, so only on Linux.
    pub caps: ChildCaps,
}

impl Spec {
    /// A program without arguments, in this process's directory, with nothing but the usual environment.
    pub fn new(program: impl Into<String>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// The same with one more environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }
}

/// Arguments and values of variables are left out: either may be a secret.
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
