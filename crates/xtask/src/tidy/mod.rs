//! `cargo xtask tidy`: the repository's rules, each with a name and a suggested fix. It reports all violations at
//! once.
//!
//! The rules read only text and need no compiler, so the check takes less than a second and works even for broken
//! code.

mod fault;
mod graph;
mod lexer;
mod repo;
mod rules;
mod source;

pub(crate) use fault::Fault;
pub(crate) use repo::Repo;
pub(crate) use source::Source;

/// All violations in the checkout, in the order of their positions.
pub(crate) fn faults() -> Result<Vec<Fault>, String> {
    let mut faults = rules::check(&Repo::read(&crate::root::checkout())?);
    faults.sort();
    Ok(faults)
}

/// Checks the checkout and prints every violation; true if there is none.
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
