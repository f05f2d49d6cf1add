//! The rules, one file for each kind. Every rule is a function from the checkout to its violations.

pub(super) mod circles;
mod eras;
mod folders;
mod heads;
mod imports;
mod leaks;
mod naming;
mod promises;
mod sizes;
mod unsafes;
mod words;

use super::{Fault, Repo, Source};

/// All violations of all rules, in no particular order.
pub(crate) fn check(repo: &Repo) -> Vec<Fault> {
    let rules: [fn(&Repo) -> Vec<Fault>; 14] = [
        sizes::files,
        sizes::functions,
        imports::dependencies,
        imports::paths,
        eras::versions,
        folders::mapped,
        heads::documented,
        words::checked,
        leaks::checked,
        unsafes::listed,
        promises::held,
        circles::none,
        naming::types,
        naming::openings,
    ];
    rules.into_iter().flat_map(|rule| rule(repo)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Fault, Repo};

    /// The violations of a rule in a checkout that consists of these files, as `path:line`.
    pub(super) fn places(rule: fn(&Repo) -> Vec<Fault>, files: &[(&str, &str)]) -> Vec<String> {
        let texts = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let mut faults = rule(&Repo::from_texts(texts));
        faults.sort();
        faults.into_iter().map(|fault| format!("{}:{}", fault.path, fault.line)).collect()
    }
}
