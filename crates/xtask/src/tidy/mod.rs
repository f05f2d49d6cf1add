//! `cargo xtask tidy`: the repository's rules, each named, each with its mend, all faults at once.
//!
//! Reads text only. It must not depend on a compiler, so that it runs in a second on broken code.

mod graph;
mod lexer;
mod repo;
mod rules;
mod source;

use std::fmt;

pub(crate) use repo::Repo;
pub(crate) use source::Source;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// Path from the checkout's top.
    pub(crate) path: String,
    /// Line, from 1.
    pub(crate) line: usize,
    /// The rule's short name.
    pub(crate) rule: &'static str,
    /// What is wrong here.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) mend: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, what, mend } = self;
        write!(f, "{path}:{line}: {rule}: {what}. Mend: {mend}.")
    }
}

/// All faults of the checkout, in order of place.
pub(crate) fn faults() -> Result<Vec<Fault>, String> {
    let mut faults = rules::check(&Repo::read(&crate::root::checkout())?);
    faults.sort();
    Ok(faults)
}

/// Checks the checkout and prints every fault; true when there is none.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["circles"] => return Ok(rules::circles::print(&Repo::read(&crate::root::checkout())?)),
        _ => return Err("usage: cargo xtask tidy [circles]".to_owned()),
    }
    let faults = faults()?;
    for fault in &faults {
        println!("{fault}");
    }
    println!("tidy: {} faults", faults.len());
    Ok(faults.is_empty())
}
