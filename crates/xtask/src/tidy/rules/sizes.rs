//! Sizes: a file fits a sitting, a function fits a screen.

use super::{Fault, Repo};

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;

/// Every Rust file has at most 400 lines.
pub(super) fn files(repo: &Repo) -> Vec<Fault> {
    let long = repo.sources.iter().filter(|source| source.length() > FILE_LINES);
    long.map(|source| Fault {
        path: source.path.clone(),
        line: FILE_LINES + 1,
        rule: "file-size",
        what: format!("{} lines, at most {FILE_LINES} are allowed", source.length()),
        mend: "split it by meaning; tests may move to a sibling tests.rs",
    })
    .collect()
}

/// Every function has at most 60 lines, from the line with `fn` to its closing brace.
pub(super) fn functions(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in &repo.sources {
        for function in source.functions() {
            let lines = function.last_line - function.first_line + 1;
            if lines > FUNCTION_LINES {
                faults.push(Fault {
                    path: source.path.clone(),
                    line: function.first_line,
                    rule: "function-size",
                    what: format!(
                        "fn {} has {lines} lines, at most {FUNCTION_LINES} are allowed",
                        function.name
                    ),
                    mend: "give its steps names: a function each",
                });
            }
        }
    }
    faults
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
}
