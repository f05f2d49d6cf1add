//! `cargo xtask tidy`: the repository's rules, each named, each with its mend, all faults at once.
//!
//! Reads text only. It must not depend on a compiler, so that it runs in a second on broken code.

mod lexer;
mod repo;
mod rules;
mod source;

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

/// Checks the whole checkout, prints every fault; true when there is none.
pub(crate) fn run() -> Result<bool, String> {
    let repo = Repo::read(&crate::root::checkout())?;
    let mut faults = rules::check(&repo);
    faults.sort();
    for Fault { path, line, rule, what, mend } in &faults {
        println!("{path}:{line}: {rule}: {what}. Mend: {mend}.");
    }
    if faults.is_empty() {
        println!("tidy: {} Rust files, {} tracked files, no fault", repo.sources.len(), repo.texts.len());
    } else {
        println!("tidy: {} faults", faults.len());
    }
    Ok(faults.is_empty())
}
