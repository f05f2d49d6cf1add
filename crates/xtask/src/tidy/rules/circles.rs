//! Forbids import circles between folders. Without circles, readers of a folder need to read only the folders that
//! it imports, not those that import it.

use super::Fault;
use crate::tidy::graph::{Import, components, imports};
use crate::tidy::{Repo, Source};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of files of one folder that may import each other in a circle. A larger circle is in fact one
/// large file in pieces.
const MOST_FILES: usize = 3;

const HELP: &str =
    "move what both sides need below them, or pass it up through a trait or a channel of the lower one";

/// A circle: its members, and the imports between them.
#[derive(Debug, Clone)]
pub(crate) struct Circle {
    /// The folder whose folders or files import each other.
    pub(crate) within: String,
    /// Folders (with everything below) or files, sorted.
    pub(crate) members: Vec<String>,
    /// Every import between two members.
    pub(crate) imports: Vec<Import>,
}

/// Reports circles between folders, and circles of more than three files.
pub(super) fn none(repo: &Repo) -> Vec<Fault> {
    all(repo)
        .into_iter()
        .filter(Circle::is_forbidden)
        .map(|circle| {
            let first = &circle.imports[0];
            Fault {
                path: first.from.clone(),
                line: first.line,
                rule: "import-circle",
                what: format!("{} import each other in a circle", circle.members.join(", ")),
                help: HELP,
            }
        })
        .collect()
}

/// Every circle in the checkout's crates: circles of files, and circles of folders with a common parent.
pub(crate) fn all(repo: &Repo) -> Vec<Circle> {
    let folders = folders(repo);
    imports(repo)
        .into_values()
        .flat_map(|imports| [of_folders(&imports, &folders), of_files(&imports)].concat())
        .collect()
}

impl Circle {
    fn new(within: String, members: Vec<&str>, edges: &BTreeMap<(String, String), Vec<&Import>>) -> Self {
        let has = |name: &String| members.contains(&name.as_str());
        let imports = edges
            .iter()
            .filter(|((from, to), _)| has(from) && has(to))
            .flat_map(|(_, imports)| imports.iter().map(|it| (*it).clone()))
            .collect();
        Self { within, members: members.into_iter().map(str::to_owned).collect(), imports }
    }

    /// Returns true if the rule forbids the circle; up to [`MOST_FILES`] files may import each other.
    fn is_forbidden(&self) -> bool {
        self.is_of_folders() || self.members.len() > MOST_FILES
    }

    /// Returns true for a circle of folders with all their contents, false for a circle of single files.
    fn is_of_folders(&self) -> bool {
        !self.within.is_empty()
    }

    /// Returns true if the file is a member, or belongs to a member. The head file of a folder belongs to the
    /// folder.
    fn has(&self, file: &str) -> bool {
        self.members.iter().any(|member| {
            let head = member.strip_suffix('/').and_then(|folder| file.strip_prefix(folder));
            file == member
                || head == Some(".rs")
                || (member.ends_with('/') && file.starts_with(member.as_str()))
        })
    }
}

fn of_files(imports: &[Import]) -> Vec<Circle> {
    let mut edges: BTreeMap<(String, String), Vec<&Import>> = BTreeMap::new();
    for import in imports {
        edges.entry((import.from.clone(), import.to.clone())).or_default().push(import);
    }
    circles(&edges, "")
}

/// Circles among the files and folders of one folder that involve at least one folder.
fn of_folders(imports: &[Import], folders: &BTreeSet<String>) -> Vec<Circle> {
    let mut edges: BTreeMap<String, BTreeMap<(String, String), Vec<&Import>>> = BTreeMap::new();
    for import in imports {
        let (within, from, to) = beside(&import.from, &import.to, folders);
        if from != to {
            edges.entry(within).or_default().entry((from, to)).or_default().push(import);
        }
    }
    let folders = edges.iter().flat_map(|(within, edges)| circles(edges, within));
    folders.filter(|circle| circle.members.iter().any(|it| it.ends_with('/'))).collect()
}

fn circles(edges: &BTreeMap<(String, String), Vec<&Import>>, within: &str) -> Vec<Circle> {
    let parts = components(edges.keys().map(|(from, to)| (from.as_str(), to.as_str())));
    parts.into_iter().map(|members| Circle::new(within.to_owned(), members, edges)).collect()
}

/// Every folder with sources, with a `/` at its end.
fn folders(repo: &Repo) -> BTreeSet<String> {
    let above = |source: &Source| -> Vec<String> {
        source.path.match_indices('/').map(|(end, _)| source.path[..=end].to_owned()).collect()
    };
    repo.sources.iter().flat_map(above).collect()
}

/// The deepest folder that contains two files, and the two entries of that folder which contain or are these files:
/// a file, or a folder with `/` at its end. If a folder `x/` exists, the file `x.rs` is its head file and belongs
/// to it.
fn beside(from: &str, to: &str, folders: &BTreeSet<String>) -> (String, String, String) {
    let shared = from.split('/').zip(to.split('/')).take_while(|(a, b)| a == b).count();
    let within: Vec<&str> = from.split('/').take(shared).collect();
    let within = format!("{}/", within.join("/"));
    let in_it = |file: &str| {
        if let Some((folder, _)) = file[within.len()..].split_once('/') {
            return format!("{within}{folder}/");
        }
        let folder = format!("{}/", file.trim_end_matches(".rs"));
        if folders.contains(&folder) { folder } else { file.to_owned() }
    };
    let (from, to) = (in_it(from), in_it(to));
    (within, from, to)
}

/// Prints every circle: its members, its length, and the imports that close it. Returns false if the rule forbids one.
pub(crate) fn print(repo: &Repo) -> bool {
    let found = all(repo);
    for circle in &found {
        let within = repo.sources.iter().filter(|source| circle.has(&source.path));
        let lines: usize = within.map(Source::length).sum();
        let what = if circle.is_of_folders() { "rooms" } else { "files" };
        println!("circle of {} {what}, {lines} lines: {}", circle.members.len(), circle.members.join(" "));
        for Import { from, to, line, path } in &circle.imports {
            println!("    {from}:{line} imports {path} ({to})");
        }
    }
    let forbidden = found.iter().filter(|circle| circle.is_forbidden()).count();
    println!("tidy circles: {}, {forbidden} of them forbidden", found.len());
    forbidden == 0
}

#[cfg(test)]
mod tests {
    use super::none;
    use crate::tidy::rules::tests::places;

    #[test]
    fn a_circle_between_folders_is_reported_where_it_closes() {
        let files = [
            ("crates/proto/src/lib.rs", "mod high;\nmod low;"),
            ("crates/proto/src/high/mod.rs", "pub mod deep;"),
            ("crates/proto/src/high/deep.rs", "use crate::low::Tool;\npub struct User;"),
            ("crates/proto/src/low/mod.rs", "mod other;\npub struct Tool;"),
            ("crates/proto/src/low/other.rs", "fn f() -> crate::high::deep::User {}"),
        ];
        assert_eq!(places(none, &files), ["crates/proto/src/high/deep.rs:1"]);
        let one_way = [files[0], files[1], files[2], files[3]];
        assert!(places(none, &one_way).is_empty());
    }

    #[test]
    fn a_circle_through_the_head_of_a_folder_is_reported() {
        let files = [
            ("crates/proto/src/lib.rs", "mod room;\nmod user;"),
            ("crates/proto/src/room.rs", "mod part;\nuse crate::user::User;\npub struct Whole(User);"),
            ("crates/proto/src/room/part.rs", "pub struct Part;"),
            ("crates/proto/src/user.rs", "use crate::room::part::Part;\npub struct User(Part);"),
        ];
        assert_eq!(places(none, &files), ["crates/proto/src/room.rs:2"]);
        // Without the folder's file, both are single files, and two single files may import each other.
        let small =
            [files[0], files[1], ("crates/proto/src/user.rs", "use crate::room::Whole;\npub struct User;")];
        assert!(places(none, &small).is_empty());
    }

    #[test]
    fn the_tools_have_no_circles_either() {
        let files = [
            ("crates/testkit/src/high/mod.rs", "use crate::low::Tool;\npub struct User;"),
            ("crates/testkit/src/low/mod.rs", "use crate::high::User;\npub struct Tool;"),
        ];
        assert_eq!(places(none, &files), ["crates/testkit/src/high/mod.rs:1"]);
    }

    #[test]
    fn a_head_and_its_folder_are_one_room() {
        let files = [
            ("crates/proto/src/lib.rs", "mod room;"),
            ("crates/proto/src/room.rs", "mod part;\npub struct Whole(part::Part);"),
            ("crates/proto/src/room/part.rs", "use super::Whole;\npub struct Part;"),
        ];
        assert!(places(none, &files).is_empty());
    }

    #[test]
    fn three_files_may_know_each_other_and_four_may_not() {
        let names = ["a", "b", "c", "d"];
        let circle = |count: usize| {
            let files = (0..count).map(|at| {
                let next = names[(at + 1) % count];
                (
                    format!("crates/proto/src/{}.rs", names[at]),
                    format!("use crate::{next}::f;\npub fn f() {{}}"),
                )
            });
            let files: Vec<(String, String)> = files.collect();
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
            places(none, &files)
        };
        assert!(circle(3).is_empty());
        assert_eq!(circle(4), ["crates/proto/src/a.rs:1"]);
    }
}
