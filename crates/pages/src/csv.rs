//! The record of calls as CSV (RFC 4180). Cells are escaped if a spreadsheet would treat them as formulas. This
//! module must not know any page.

use crate::model::CallRow;

/// The first line.
pub const HEAD: &str = "id,time,outcome,principal,profile,server,tool,method,code,duration_us,waited_us,tries,request_bytes,\
                        response_bytes,cached,address,client,reason,key\r\n";

/// The line of a call.
pub fn call_line(row: &CallRow) -> String {
    let optional = |text: &Option<crate::model::ForeignText>| {
        text.as_ref().map_or(String::new(), |text| cell(text.raw()))
    };
    let cells = [
        row.id.to_string(),
        crate::part::exact(row.at),
        row.outcome.name().to_owned(),
        cell(row.principal.raw()),
        cell(row.profile.raw()),
        optional(&row.server),
        cell(row.tool.raw()),
        cell(row.method.raw()),
        // A negative number is no formula, but some spreadsheets warn of it. Codes stay numbers, because scripts read them.
        row.code.map_or(String::new(), |code| code.to_string()),
        row.duration_us.to_string(),
        row.waited_us.to_string(),
        row.tries.to_string(),
        row.request_bytes.to_string(),
        row.response_bytes.to_string(),
        row.cached.to_string(),
        optional(&row.address),
        optional(&row.client),
        optional(&row.reason),
        optional(&row.principal.key),
    ];
    let mut line = cells.join(",");
    line.push_str("\r\n");
    line
}

/// A text as one cell. Spreadsheets treat `=`, `+`, `-` and `@` as the start of a formula, even after spaces and control
/// characters, and in their full-width forms. An apostrophe before a cell keeps it a text. Control characters become spaces.
pub fn cell(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let starts = |c: char| matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '\'' | '%' | '|');
    let first =
        flat.chars().find(|c| !c.is_whitespace() && !matches!(c, '"' | '\u{200b}' | '\u{feff}' | '\u{2060}'));
    // Other programs use other separators: where `;` separates cells, `a;=1` opens a second cell.
    let later = flat
        .char_indices()
        .any(|(at, c)| matches!(c, ';' | ',') && flat[at + c.len_utf8()..].trim_start().starts_with(starts));
    let formula = first.is_some_and(starts) || flat.starts_with([' ', '\t']) || later;
    let quote = if formula { "'" } else { "" };
    format!("\"{quote}{}\"", flat.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::{HEAD, call_line, cell};
    use crate::model::CallRow;
    use proptest::prelude::*;

    #[test]
    fn formulas_become_texts() {
        for formula in
            ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r\n=1", "  =1", "＝1", "\"=1", "\u{feff}=1", "%0A=1"]
        {
            assert!(cell(formula).starts_with("\"'"), "{formula:?} {}", cell(formula));
        }
        assert!(cell("a;=1").starts_with("\"'"));
        assert_eq!(cell("blog__read"), "\"blog__read\"");
        assert_eq!(cell("user:ann@example.com"), "\"user:ann@example.com\"");
        assert_eq!(cell("say \"hi\", ann"), "\"say \"\"hi\"\", ann\"");
    }

    #[test]
    fn a_line_has_as_many_cells_as_the_head() {
        let row = CallRow { tool: "a,b\"c\nd".into(), code: Some(-32603), ..CallRow::default() };
        let line = call_line(&row);
        assert!(line.ends_with("\r\n") && line.matches('\n').count() == 1);
        assert_eq!(fields(&line).len(), HEAD.split(',').count());
        assert_eq!(fields(&line)[6], "a,b\"c d");
    }

    /// The cells of a line.
    fn fields(line: &str) -> Vec<String> {
        let mut fields = vec![String::new()];
        let mut quoted = false;
        let mut characters = line.trim_end_matches("\r\n").chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '"' if quoted && characters.peek() == Some(&'"') => {
                    characters.next();
                    fields.last_mut().unwrap().push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                other => fields.last_mut().unwrap().push(other),
            }
        }
        fields
    }

    proptest! {
        #[test]
        fn no_cell_starts_like_a_formula(text in "[ \\t\\r\\n\"=+@\\-a;,＝\u{feff}]{0,8}") {
            let parsed = fields(&cell(&text)).concat();
            let first = parsed.trim_start().chars().next();
            prop_assert!(!matches!(first, Some('=' | '+' | '-' | '@' | '＝')), "{parsed:?}");
            prop_assert_eq!(fields(&format!("{},x", cell(&text))).len(), 2);
        }
    }
}
