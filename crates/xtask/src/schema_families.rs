//! The tools of real third-party servers: recorded, and served through one profile for each family of clients. This
//! module must not know how the tools are checked; the scripts determine this.

use crate::corpus;
use crate::peers::cases;
use crate::root::{self, Programs};
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::{Tools, environment};

/// Tests the checkers themselves, and then checks the lists of each family.
pub(crate) fn checked(tools: &Tools, programs: &Programs, log: &Log) -> Result<Tally, String> {
    let recorded = corpus::recorded(&tools.node.with("corpus", log)?, log)?;
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
