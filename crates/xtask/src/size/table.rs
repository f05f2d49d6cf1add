//! The table of sizes in docs/performance.md, and the rule about new rows. This module must not know how a size is
//! measured.

/// The maximum size of the binary, in bytes.
const LIMIT: u64 = 24_000_000;

/// The growth of the binary, in bytes, above which the table needs a new row.
const UNEXPLAINED: u64 = 100_000;

/// The header of the table.
const HEADER: &str = "| bytes | what changed |";

/// The reason why this size is not acceptable, if it is not.
pub(super) fn fault(bytes: u64, page: &str) -> Option<String> {
    let Some(last) = rows(page).last() else {
        return Some(format!(
            "docs/performance.md has no table `{HEADER}` with a row like `| 20 000 000 | … |`"
        ));
    };
    if bytes > LIMIT {
        let above = bytes - LIMIT;
        return Some(format!(
            "the binary has {bytes} bytes, {above} more than the limit of {LIMIT}; make it smaller: the ledger shows the largest crates"
        ));
    }
    let grown = bytes.saturating_sub(last);
    (grown > UNEXPLAINED).then(|| {
        format!(
            "the binary has {bytes} bytes, {grown} more than the last row of the table of sizes in docs/performance.md; make it smaller, or \
             add a row that says what the bytes are for"
        )
    })
}

/// The sizes in the rows that explain a change.
fn rows(page: &str) -> impl Iterator<Item = u64> {
    let table = page.lines().skip_while(|line| *line != HEADER).skip(2);
    table.map_while(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let bytes = cells.next()?.replace(' ', "").parse().ok()?;
        cells.next().filter(|change| !change.is_empty()).map(|_| bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::{LIMIT, fault, rows};

    const PAGE: &str = "# Performance\n\n| bytes | what changed |\n|--:|---|\n| 20 000 000 | pages |\n| 21 500 000 | traces |\n\n| 9 | other |\n";

    #[test]
    fn the_last_row_of_the_table_counts() {
        assert_eq!(rows(PAGE).collect::<Vec<_>>(), [20_000_000, 21_500_000]);
        assert_eq!(fault(21_600_000, PAGE), None);
        assert_eq!(fault(19_000_000, PAGE), None);
        assert!(fault(21_600_001, PAGE).is_some_and(|why| why.contains("100001 more")));
    }

    #[test]
    fn no_row_explains_a_binary_above_the_limit() {
        let page = PAGE.replace("21 500 000", "23 999 999");
        assert_eq!(fault(LIMIT, &page), None);
        assert!(fault(LIMIT + 1, &page).is_some_and(|why| why.contains("1 more than the limit")));
    }

    #[test]
    fn a_row_without_an_explanation_ends_the_table() {
        let page = PAGE.replace("traces", "");
        assert!(fault(21_500_000, &page).is_some());
        assert!(fault(1, "no table").is_some_and(|why| why.contains("has no table")));
    }
}
