//! Tables for people. A table that is wider than the terminal wraps its last column, or becomes a list of its rows.

use super::console::Paint;
use super::layout::{columns, cut, wrap};

/// The smallest width of a last column that is wrapped.
const LEAST: usize = 24;

/// The maximum length of a cell on one line, in columns.
const LONGEST: usize = 400;

/// A table with a line of titles.
#[derive(Debug, Default)]
pub(crate) struct Table {
    titles: Vec<&'static str>,
    rows: Vec<TableRow>,
}

#[derive(Debug)]
struct TableRow {
    cells: Vec<String>,
    is_dim: bool,
}

impl Table {
    /// Creates a table without rows.
    pub(crate) fn new(titles: &[&'static str]) -> Self {
        Self { titles: titles.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; a dim row is less important than the others.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>, is_dim: bool) {
        let cells = cells.into_iter().map(|cell| cut(&cell, LONGEST)).collect();
        self.rows.push(TableRow { cells, is_dim });
    }

    /// Returns the table as lines of at most `width` columns, if the width is known.
    pub(crate) fn lines(&self, width: Option<usize>, paint: Paint) -> String {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
            cells.map(|cell| columns(cell)).chain([columns(self.titles[column])]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.titles.len()).map(widest).collect();
        let before_last: usize = widths.iter().rev().skip(1).map(|wide| wide + 2).sum();
        let last = widths.last().copied().unwrap_or(0);
        match width {
            Some(width) if before_last + last > width && before_last + LEAST > width => {
                self.list(width, paint)
            }
            width => self.grid(&widths, before_last, width, paint),
        }
    }

    fn grid(&self, widths: &[usize], before_last: usize, width: Option<usize>, paint: Paint) -> String {
        let line = |cells: &[String]| {
            let mut text = String::new();
            for (cell, wide) in cells.iter().zip(widths) {
                text.push_str(cell);
                text.push_str(&" ".repeat(wide.saturating_sub(columns(cell)) + 2));
            }
            let text = text.trim_end();
            width.map_or(text.to_owned(), |width| wrapped(text, cells.last(), width, before_last))
        };
        let titles: Vec<String> = self.titles.iter().map(ToString::to_string).collect();
        let mut all = vec![paint.bold(&line(&titles))];
        all.extend(self.rows.iter().map(|row| {
            let text = line(&row.cells);
            if row.is_dim { paint.dim(&text) } else { text }
        }));
        all.join("\n")
    }

    /// Returns the rows one below the other: the first cell as a heading, and the others with their titles.
    fn list(&self, width: usize, paint: Paint) -> String {
        let wide = self.titles.iter().skip(1).map(|title| columns(title)).max().unwrap_or(0);
        let mut all = Vec::new();
        for row in &self.rows {
            let mut cells = row.cells.iter().zip(&self.titles);
            let head = cells.next().map(|(cell, _)| cut(cell, width)).unwrap_or_default();
            all.push(if row.is_dim { paint.dim(&head) } else { paint.bold(&head) });
            for (cell, title) in cells.filter(|(cell, _)| !cell.is_empty()) {
                let title = title.to_lowercase();
                let lead = format!("  {title}{}  ", " ".repeat(wide - columns(&title).min(wide)));
                let at = columns(&lead);
                all.push(format!("{}{}", paint.dim(&lead), wrap(cell, width, at, at.min(width / 2))));
            }
        }
        all.join("\n")
    }
}

/// Returns a line with its last cell wrapped; the cell's further lines are indented to its first column.
fn wrapped(line: &str, last: Option<&String>, width: usize, before_last: usize) -> String {
    match last.and_then(|last| line.strip_suffix(last.trim_end())) {
        Some(before) if columns(line) > width => {
            let last = last.map_or("", |last| last.trim_end());
            format!("{before}{}", wrap(last, width, before_last, before_last))
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["NAME", "STATE", "REASON"]);
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        table.row(row(["files", "ready", ""]), false);
        table.row(
            row(["documents", "failed", "exited 3 times in 10 s: the last words on stderr are these"]),
            true,
        );
        table
    }

    #[test]
    fn a_table_is_aligned() {
        assert_eq!(
            table().lines(None, Paint(false)),
            "NAME       STATE   REASON\nfiles      ready\ndocuments  failed  exited 3 times in 10 s: the last words on stderr are these"
        );
    }

    #[test]
    fn the_last_column_is_wrapped_and_a_narrow_table_is_a_list() {
        assert_eq!(
            table().lines(Some(50), Paint(false)),
            "NAME       STATE   REASON\nfiles      ready\ndocuments  failed  exited 3 times in 10 s: the\n                   last words on stderr are these"
        );
        assert_eq!(
            table().lines(Some(36), Paint(false)),
            "files\n  state   ready\ndocuments\n  state   failed\n  reason  exited 3 times in 10 s:\n          the last words on stderr\n          are these"
        );
        for width in 20..100 {
            let lines = table().lines(Some(width), Paint(false));
            assert!(lines.lines().all(|line| columns(line) <= width), "{width}:\n{lines}");
        }
    }

    #[test]
    fn colors_change_nothing_else() {
        let plain = table().lines(Some(36), Paint(false));
        let mut colored = table().lines(Some(36), Paint(true));
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m"] {
            colored = colored.replace(code, "");
        }
        assert_eq!(colored, plain);
    }
}
