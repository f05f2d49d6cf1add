//! The results as a table: one line per tool, one column per account.

use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The accounts that try the tools. Each has a name, a flag that is true if its password is accepted from the start
/// of a request, and the header of its column.
const COLUMNS: [(&str, bool, &str); 4] = [
    ("admin", false, "administrator"),
    ("admin", true, "administrator, early"),
    ("subscriber", false, "member"),
    ("subscriber", true, "member, early"),
];

/// The number of entries for which sizes are reported, and the maximum size in bytes of a short answer with this
/// number of entries.
const ENTRIES: u64 = 10;
const LARGEST: u64 = 6_000;

/// The results at the sites of one plugin.
#[derive(Debug, Default)]
pub(super) struct Table {
    title: String,
    tools: Vec<String>,
    cells: HashMap<(String, String, bool), String>,
    lists: Vec<ListSize>,
}

/// The size of the answer in which the administrator gets a list. The sizes are measured at the site that was started with
/// `early`, because sites that treat an account as a visitor show it less.
#[derive(Debug)]
struct ListSize {
    tool: String,
    entries: u64,
    /// The sizes in bytes of the short answer, and of the answer with all fields.
    bytes: [u64; 2],
}

impl ListSize {
    fn of(result: &Value) -> Option<Self> {
        let number = |name: &str| result.get(name).and_then(Value::as_u64);
        let tool = result.get("list").and_then(Value::as_str)?.to_owned();
        Some(Self { tool, entries: number("entries")?, bytes: [number("bytes")?, number("full")?] })
    }

    /// The size of ten entries, calculated from the size of another number of entries.
    fn of_ten(&self, bytes: u64) -> u64 {
        if self.entries == 0 { bytes } else { bytes.saturating_mul(ENTRIES).div_ceil(self.entries) }
    }
}

impl Table {
    /// Sets the title: the plugin and version of the sites.
    pub(super) fn title(&mut self, title: &str) {
        title.clone_into(&mut self.title);
    }

    /// Reads the script's output about a site, line by line.
    pub(super) fn add(&mut self, early: bool, said: &str) -> Result<(), String> {
        for line in said.lines().filter(|line| line.starts_with('{')) {
            let result: Value = serde_json::from_str(line).map_err(|error| format!("`{line}`: {error}"))?;
            if result.get("list").is_some() {
                let size = ListSize::of(&result).ok_or_else(|| format!("a list was not measured: {line}"))?;
                self.lists.push(size);
                continue;
            }
            let word = |name: &str| result.get(name).and_then(Value::as_str).map(str::to_owned);
            let (tool, login) =
                word("tool").zip(word("login")).ok_or_else(|| format!("`{line}` says too little"))?;
            if !self.tools.contains(&tool) {
                self.tools.push(tool.clone());
            }
            self.cells.insert((tool, login, early), cell(&result));
        }
        Ok(())
    }

    /// The table in Markdown.
    pub(super) fn markdown(&self) -> String {
        let heads: Vec<&str> = COLUMNS.iter().map(|(_, _, head)| *head).collect();
        let mut text =
            format!("## {}\n\n| tool | {} |\n|---|---|---|---|---|\n", self.title, heads.join(" | "));
        let mut good = [0; COLUMNS.len()];
        for tool in &self.tools {
            let _ = write!(text, "| `{tool}` |");
            for ((login, early, _), good) in COLUMNS.iter().zip(&mut good) {
                let cell = self.cells.get(&(tool.clone(), (*login).to_owned(), *early));
                let cell = cell.map_or("not tried", String::as_str);
                *good += usize::from(cell == "ok");
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
        let good: Vec<String> = good.iter().map(usize::to_string).collect();
        let _ = writeln!(text, "| ok, of {} | {} |", self.tools.len(), good.join(" | "));
        text.push_str("\n| list | entries | bytes for ten | with `full` |\n|---|--:|--:|--:|\n");
        for list in &self.lists {
            let [short, full] = list.bytes.map(|bytes| list.of_ten(bytes));
            let _ = writeln!(text, "| `{}` | {} | {short} | {full} |", list.tool, list.entries);
        }
        text
    }

    /// The lists whose size for ten entries exceeds the maximum, with this size in bytes.
    pub(super) fn too_large(&self) -> Vec<String> {
        let size = |list: &ListSize| (list.of_ten(list.bytes[0]), list.tool.clone());
        let large = self.lists.iter().map(size).filter(|(bytes, _)| *bytes > LARGEST);
        large.map(|(bytes, tool)| format!("{tool} ({bytes} bytes)")).collect()
    }
}

/// The cell of the table: `ok`, or the site's own rejection, or the message of a rejection by Dragoman itself.
fn cell(result: &Value) -> String {
    if result.get("good").and_then(Value::as_bool) == Some(true) {
        return "ok".to_owned();
    }
    let refusal = |name: &str| result.pointer(&format!("/refusal/{name}"));
    match (refusal("status").and_then(Value::as_u64), refusal("code").and_then(Value::as_str)) {
        (Some(status), Some(code)) => format!("{status} `{code}`"),
        _ => result.get("words").and_then(Value::as_str).unwrap_or("?").replace(['|', '\n'], " "),
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn each_account_has_its_column() {
        let mut table = Table::default();
        table.title("A plugin 1.0");
        let said = r#"
{"tool":"a","login":"admin","good":true}
{"tool":"a","login":"subscriber","good":false,"refusal":{"status":403,"code":"no"},"words":"No."}
{"tool":"b","login":"admin","good":false,"words":"not | here"}
"#;
        table.add(false, said).unwrap();
        table.add(true, r#"{"tool":"a","login":"subscriber","good":true}"#).unwrap();
        let lines: Vec<String> = table.markdown().lines().skip(4).take(3).map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                "| `a` | ok | not tried | 403 `no` | ok |",
                "| `b` | not   here | not tried | not tried | not tried |",
                "| ok, of 2 | 1 | 0 | 0 | 1 |",
            ]
        );
        table.add(false, r#"{"list":"a","entries":5,"bytes":400,"full":9000}"#).unwrap();
        table.add(false, r#"{"list":"b","entries":1,"bytes":700,"full":900}"#).unwrap();
        assert!(table.markdown().ends_with("| `a` | 5 | 800 | 18000 |\n| `b` | 1 | 7000 | 9000 |\n"));
        assert_eq!(table.too_large(), ["b (7000 bytes)"]);
        assert!(table.add(false, r#"{"list":"a","failed":"no"}"#).unwrap_err().contains("not measured"));
        assert!(table.add(true, r#"{"tool":"a"}"#).unwrap_err().contains("too little"));
    }
}
