//! The queries of a Grafana dashboard, with values for its variables. This module must not know which server
//! answers the queries.

use serde_json::Value;

/// The variables of the dashboard, with values that match everything.
const VARIABLES: [(&str, &str); 3] = [("$__rate_interval", "15s"), ("$__range", "1m"), ("$upstream", ".*")];

/// Returns all queries of a dashboard.
pub(super) fn queries(dashboard: &Value) -> Result<Vec<String>, String> {
    let panels = dashboard["panels"].as_array().ok_or("the dashboard has no panels")?;
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut queries = Vec::new();
    for target in targets {
        let query = target["expr"].as_str().ok_or_else(|| format!("a target without a query: {target}"))?;
        let filled =
            VARIABLES.iter().fold(query.to_owned(), |query, (name, value)| query.replace(name, value));
        if filled.contains('$') {
            return Err(format!("the query has an unknown variable: {filled}"));
        }
        if !queries.contains(&filled) {
            queries.push(filled);
        }
    }
    if queries.is_empty() { Err("the dashboard has no queries".to_owned()) } else { Ok(queries) }
}

#[cfg(test)]
mod tests {
    use super::queries;
    use serde_json::json;

    fn of(exprs: &[&str]) -> Result<Vec<String>, String> {
        let targets: Vec<_> = exprs.iter().map(|expr| json!({ "expr": expr })).collect();
        queries(&json!({ "panels": [{ "type": "row" }, { "targets": targets }] }))
    }

    #[test]
    fn variables_are_filled_in() {
        let query = "rate(a{upstream=~\"$upstream\"}[$__rate_interval])";
        let found = of(&[query, query]);
        assert_eq!(found.unwrap(), ["rate(a{upstream=~\".*\"}[15s])"]);
        assert!(of(&["a[$other]"]).unwrap_err().contains("a[$other]"));
        assert!(of(&[]).is_err());
    }
}
