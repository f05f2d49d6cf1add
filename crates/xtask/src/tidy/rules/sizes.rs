//! Sizes: a file can be read in one sitting, and a function fits on a screen. A note gives the reason for an
//! exception.

use super::{Fault, Repo, Source};

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;

/// The note that permits a longer file (above its first line of code) or function (above its `fn`), with the reason.
const NOTE: &str = "// tidy: long because ";

/// Checks that every Rust file has at most [`FILE_LINES`] lines, unless a note gives a reason.
pub(super) fn files(repo: &Repo) -> Vec<Fault> {
    let long = repo.sources.iter().filter(|source| source.length() > FILE_LINES && !is_noted_file(source));
    long.map(|source| Fault {
        path: source.path.clone(),
        line: FILE_LINES + 1,
        rule: "file-size",
        what: format!("{} lines, at most {FILE_LINES} are allowed", source.length()),
        help: "split it by meaning; tests may move to a sibling tests.rs; \
               if that would harm, note `// tidy: long because REASON` below its `//!` comment",
    })
    .collect()
}

/// Checks that every function has at most [`FUNCTION_LINES`] lines, from the line with `fn` to its closing brace, unless a note
/// gives a reason.
pub(super) fn functions(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in &repo.sources {
        for function in source.functions() {
            let lines = function.last_line - function.first_line + 1;
            if lines > FUNCTION_LINES && !is_noted_function(source, function.first_line) {
                faults.push(Fault {
                    path: source.path.clone(),
                    line: function.first_line,
                    rule: "function-size",
                    what: format!(
                        "fn {} has {lines} lines, at most {FUNCTION_LINES} are allowed",
                        function.name
                    ),
                    help: "give its steps names: a function each; \
                           if that would harm, note `// tidy: long because REASON` above it",
                });
            }
        }
    }
    faults
}

/// Returns true if the line is a note with a reason.
fn is_note(line: &str) -> bool {
    line.trim_start().strip_prefix(NOTE).is_some_and(|reason| reason.split_whitespace().count() >= 2)
}

/// Looks for a note between the comment that opens the file and its first line of code.
fn is_noted_file(source: &Source) -> bool {
    let comments = |line: &&str| line.is_empty() || line.starts_with("//");
    source.text.lines().take_while(comments).any(is_note)
}

/// Looks for a note among the comments and attributes right above a function; `line` is that of its `fn`, from 1.
fn is_noted_function(source: &Source, line: usize) -> bool {
    let above: Vec<&str> = source.text.lines().take(line - 1).collect();
    let belongs = |line: &&&str| line.trim_start().starts_with("//") || line.trim_start().starts_with("#[");
    above.iter().rev().take_while(belongs).any(|line| is_note(line))
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;

    #[test]
    fn a_file_of_401_lines_is_too_long() {
        let (fits, long) = ("//\n".repeat(400), "//\n".repeat(401));
        let files = [("crates/proto/src/a.rs", fits.as_str()), ("crates/proto/src/b.rs", long.as_str())];
        assert_eq!(places(super::files, &files), ["crates/proto/src/b.rs:401"]);
    }

    #[test]
    fn a_function_of_61_lines_is_too_long() {
        let text =
            format!("fn fits() {{\n{}}}\nfn long() {{\n{}}}\n", "x;\n".repeat(58), "\"}\";\n".repeat(59));
        assert_eq!(
            places(super::functions, &[("crates/proto/src/a.rs", &text)]),
            ["crates/proto/src/a.rs:61"]
        );
    }

    #[test]
    fn a_note_with_a_reason_permits_a_long_file() {
        let long = "fn f() {}\n".repeat(401);
        let note = |note: &str| format!("//! A table.\n\n{note}\n{long}");
        let places = |text: &str| places(super::files, &[("crates/proto/src/a.rs", text)]);
        assert!(places(&note("// tidy: long because one table is easier to search")).is_empty());
        assert_eq!(places(&note("// tidy: long because")), ["crates/proto/src/a.rs:401"]);
        assert_eq!(places(&note("// tidy: long")), ["crates/proto/src/a.rs:401"]);
        let below = format!("{long}// tidy: long because one table is easier to search\n");
        assert_eq!(places(&below), ["crates/proto/src/a.rs:401"]);
    }

    #[test]
    fn a_note_with_a_reason_permits_the_function_below_it() {
        let long = format!("fn long() {{\n{}}}\n", "x;\n".repeat(59));
        let note = "/// Does it.\n// tidy: long because its steps share nine variables\n#[inline]\n";
        let places = |text: &str| places(super::functions, &[("crates/proto/src/a.rs", text)]);
        assert!(places(&format!("{note}{long}")).is_empty());
        assert_eq!(places(&format!("// tidy: long because\n{long}")), ["crates/proto/src/a.rs:2"]);
        // A note applies to one function only.
        assert_eq!(places(&format!("{note}fn short() {{}}\n{long}")), ["crates/proto/src/a.rs:5"]);
    }
}
