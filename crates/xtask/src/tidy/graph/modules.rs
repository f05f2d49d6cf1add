//! A crate's modules, one per file, and the file that a path refers to.

use super::paths::{Uses, Written};
use crate::tidy::Source;
use std::collections::BTreeMap;

/// The maximum number of re-exports that are followed; a longer chain is regarded as a circle.
const DEEPEST: usize = 16;

/// The modules of one crate. A module that is written inside a file counts as part of that file's module.
pub(super) struct Modules<'a> {
    by_path: BTreeMap<Vec<String>, (&'a Source, Uses)>,
}

/// The target of a path.
enum Meaning {
    Module(Vec<String>),
    /// An item that the module's file defines.
    Item(Vec<String>),
}

impl<'a> Modules<'a> {
    pub(super) fn new(sources: &[&'a Source]) -> Self {
        let by_path =
            sources.iter().map(|source| (module_path(&source.path), (*source, Uses::of(source)))).collect();
        Self { by_path }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&'a Source, &Uses)> {
        self.by_path.values().map(|(source, uses)| (*source, uses))
    }

    /// The file that defines the target of `path` in `source`. Returns `None` if the path leads out of this crate.
    /// Also returns `None` if the path names only a module: in that case, the items that are used from the module
    /// count as imports.
    pub(super) fn defining_file(&self, source: &Source, path: &[String]) -> Option<&'a str> {
        match self.resolve(&module_path(&source.path), path, 0)? {
            Meaning::Item(module) => self.by_path.get(&module).map(|(source, _)| source.path.as_str()),
            Meaning::Module(_) => None,
        }
    }

    /// Returns true if a path counts as an import. An inline path does not count if a `use` line of the file
    /// imports the item with which the path begins.
    pub(super) fn counts(&self, source: &Source, written: &Written) -> bool {
        let module = module_path(&source.path);
        let known = |name: &String| {
            let named = self.by_path.get(&module)?.1.names.iter().find(|it| it.name == *name)?;
            self.resolve(&module, &named.path.segments, 0)
        };
        !written.is_inline || !matches!(written.segments.first().and_then(known), Some(Meaning::Item(_)))
    }

    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<Meaning> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Meaning::Module(Vec::new()),
            "self" => Meaning::Module(module.to_vec()),
            "super" => Meaning::Module(module.split_last()?.1.to_vec()),
            name => self.member(module, name, depth)?,
        };
        while let Some((next, after)) = rest.split_first() {
            at = match at {
                Meaning::Module(inside) if next == "super" => {
                    Meaning::Module(inside.split_last()?.1.to_vec())
                }
                // An item that no `use` line and no file provides is defined there.
                Meaning::Module(inside) => self.member(&inside, next, depth).unwrap_or(Meaning::Item(inside)),
                // This is an associated item, or a module inside the file.
                Meaning::Item(_) => return Some(at),
            };
            rest = after;
        }
        Some(at)
    }

    /// The meaning of a name in a module, according to files and `use` lines.
    fn member(&self, module: &[String], name: &str, depth: usize) -> Option<Meaning> {
        let child: Vec<String> = module.iter().cloned().chain([name.to_owned()]).collect();
        if self.by_path.contains_key(&child) {
            return Some(Meaning::Module(child));
        }
        let (_, uses) = self.by_path.get(module)?;
        if depth == DEEPEST {
            return None;
        }
        if let Some(named) = uses.names.iter().find(|it| it.name == name) {
            return self.resolve(module, &named.path.segments, depth + 1);
        }
        let mut globs = uses.names.iter().filter(|it| it.name == "*");
        globs.find_map(|glob| match self.resolve(module, &glob.path.segments, depth + 1)? {
            Meaning::Module(inside) => self.declared(&inside, name, depth + 1),
            Meaning::Item(_) => None,
        })
    }

    /// The meaning of a name in a module that a glob imports. `None` if the module neither defines nor imports the
    /// name itself, because the name may come from another module.
    fn declared(&self, module: &[String], name: &str, depth: usize) -> Option<Meaning> {
        if let Some(found) = self.member(module, name, depth) {
            return Some(found);
        }
        let (source, _) = self.by_path.get(module)?;
        let declares = ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "macro_rules!"];
        let mut before = "";
        for (_, word) in source.words() {
            if word == name && declares.iter().any(|it| it.trim_end_matches('!') == before) {
                return Some(Meaning::Item(module.to_vec()));
            }
            before = word;
        }
        None
    }
}

/// The module of a file: `crates/x/src/a/b.rs` and `crates/x/src/a/b/mod.rs` are the module `a::b`; `lib.rs` and
/// `main.rs` are the crate.
fn module_path(file: &str) -> Vec<String> {
    let inside = file.split("/src/").nth(1).unwrap_or(file).trim_end_matches(".rs");
    let mut path: Vec<String> = inside.split('/').map(str::to_owned).collect();
    let last = path.last().map_or("", String::as_str);
    if last == "mod" || (path.len() == 1 && (last == "lib" || last == "main")) {
        path.pop();
    }
    path
}
