//! The suite's record of a scenario run (`checks.json`), and our verdict on it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A check that runs in every scenario; alone, it proves nothing about the scenario.
const ALWAYS_RUN: &str = "wire-schema-valid";

/// The length of the time stamp that follows the scenario's name in the name of its results folder.
const STAMP: usize = "-2026-11-21T23-04-04-419Z".len();

/// The outcome of a scenario run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// This many checks passed.
    Pass(usize),
    /// These checks failed: the id and the first line of the reason.
    Fail(Vec<(String, String)>),
    /// The suite found nothing to test.
    Nothing,
}

/// The verdicts of all runs below a results folder, by scenario.
pub(super) fn verdicts(folder: &Path) -> Result<BTreeMap<String, Verdict>, String> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, above: &str, found: &mut BTreeMap<String, Verdict>) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(said)? {
        let path = entry.map_err(said)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            // A scenario's name may contain a slash, which creates a folder.
            collect(&path, &format!("{above}{name}/"), found)?;
        } else if name == "checks.json" {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let checks: Vec<Value> =
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            found.insert(scenario(above.trim_end_matches('/')).to_owned(), judge(&checks));
        }
    }
    Ok(())
}

/// The scenario of a results folder: `tools-list` for `server-tools-list-2026-11-21T23-04-04-419Z`.
fn scenario(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    name.len().checked_sub(STAMP).and_then(|end| name.get(..end)).unwrap_or(name)
}

fn judge(checks: &[Value]) -> Verdict {
    let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
    let with = |status: &'static str| checks.iter().filter(move |check| check["status"] == status);
    let why = |check: &Value| {
        text(check, "errorMessage").lines().next().unwrap_or_default().chars().take(300).collect()
    };
    // The suite also counts a warning as a failure.
    let failed = ["FAILURE", "WARNING"].into_iter().flat_map(with);
    let failed: Vec<_> = failed.map(|check| (text(check, "id"), why(check))).collect();
    let passed = with("SUCCESS").filter(|check| check["id"] != ALWAYS_RUN).count();
    match (failed.is_empty(), passed) {
        (false, _) => Verdict::Fail(failed),
        (true, 0) => Verdict::Nothing,
        (true, passed) => Verdict::Pass(passed),
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, judge, scenario};
    use serde_json::json;

    #[test]
    fn a_folder_names_its_scenario() {
        assert_eq!(scenario("server-tools-list-2026-11-21T23-04-04-419Z"), "tools-list");
        assert_eq!(scenario("server-server-stateless-2026-11-21T23-04-04-419Z"), "server-stateless");
        assert_eq!(scenario("initialize-2026-11-21T23-04-04-419Z"), "initialize");
        assert_eq!(scenario("x"), "x");
    }

    #[test]
    fn one_failure_fails_and_the_schema_check_alone_is_nothing() {
        let schema = json!({ "id": "wire-schema-valid", "status": "SUCCESS" });
        let good = json!({ "id": "a", "status": "SUCCESS" });
        let bad = json!({ "id": "b", "status": "FAILURE", "errorMessage": "one\ntwo" });
        assert_eq!(judge(std::slice::from_ref(&schema)), Verdict::Nothing);
        assert_eq!(judge(&[schema.clone(), good.clone()]), Verdict::Pass(1));
        assert_eq!(
            judge(&[schema.clone(), good.clone(), bad]),
            Verdict::Fail(vec![("b".into(), "one".into())])
        );
        let odd = json!({ "id": "c", "status": "WARNING", "errorMessage": "three" });
        assert_eq!(judge(&[schema, good, odd]), Verdict::Fail(vec![("c".into(), "three".into())]));
    }
}
