//! The tools of real third-party servers: recorded, and served through a profile of each family of clients. It must not know how
//! they are checked; this is in the scripts.

use crate::peers::cases;
use crate::root::{self, Programs};
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::{Tools, environment};
use std::fs;
use std::path::PathBuf;

/// Records the tools once for each version of the table of servers; returns the file.
fn recorded(tools: &Tools, log: &Log) -> Result<PathBuf, String> {
    let node = tools.node.with("corpus", log)?;
    let python = environment("tests/corpus/python.txt", "py-corpus", log)?;
    let virtual_environment = python.ancestors().nth(2).ok_or("the interpreter is in no environment")?;
    let file = root::tools().join("corpus").join("recorded.jsonl");
    let table = root::checkout().join("tests/corpus/servers.json");
    let table = fs::read_to_string(&table).map_err(|error| format!("{}: {error}", table.display()))?;
    let stamp = file.with_extension("table");
    if file.is_file() && fs::read_to_string(&stamp).is_ok_and(|of| of == table) {
        return Ok(file);
    }
    let mut record = node.script("record.mjs")?;
    record.arg(&file).arg(node.module("")).arg(virtual_environment);
    log.run(&mut record)?;
    fs::write(&stamp, table).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(file)
}

/// Checks the checkers, and then the lists of each family.
pub(crate) fn checked(tools: &Tools, programs: &Programs, log: &Log) -> Result<Tally, String> {
    let recorded = recorded(tools, log)?;
    let node = tools.node.with("schema-families", log)?;
    let python = environment("tests/schema-families/python.txt", "py-schema-families", log)?;
    let folder = root::target().join("schema-families");
    let mut tally = Tally::default();
    let mut slices = tools.node.with("corpus", log)?.script("slices-check.mjs")?;
    let mut awkward = node.script("awkward.mjs")?;
    let mut through = node.script("through.mjs")?;
    through.arg(programs.dragoman()).arg(recorded).arg(folder).env("PYTHON", python);
    for script in [&mut slices, &mut awkward, &mut through] {
        let (good, said) = log.status(script)?;
        tally += cases(&said, good);
    }
    Ok(tally)
}
