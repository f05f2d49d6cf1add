//! The bytes of a binary by crate, from the output of `nm` and `size`. This module must not know which binary it
//! is, or the limit of its size.

use std::collections::{BTreeMap, BTreeSet};

/// The number of crates that have a row of their own.
const ROWS: usize = 40;

/// Sections whose content has no symbols, and a description of that content.
const SECTIONS: [(&str, &str); 6] = [
    (".rodata", "constants without a name: texts, tables"),
    (".eh_frame", "unwinding"),
    (".eh_frame_hdr", "unwinding"),
    (".gcc_except_table", "unwinding"),
    (".rela.dyn", "relocations"),
    (".relr.dyn", "relocations"),
];

/// The ledger as a table: the crates by size, and then the bytes that belong to no crate. The rows add up to
/// `bytes`, the size of the file.
pub(super) fn lines(bytes: u64, symbols: &str, sections: &str) -> Vec<String> {
    let (crates, named_constants) = by_crate(symbols);
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    for (section, what) in SECTIONS {
        let size = section_size(sections, section);
        let named = if section == ".rodata" { named_constants } else { 0 };
        *others.entry(what).or_default() += size.saturating_sub(named);
    }
    let mut rows: Vec<(String, u64)> = crates.into_iter().collect();
    rows.sort_by(|(left, left_size), (right, right_size)| right_size.cmp(left_size).then(left.cmp(right)));
    let small: u64 = rows.iter().skip(ROWS).map(|(_, size)| size).sum();
    let count = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    rows.push((format!("{count} more crates"), small));
    rows.extend(others.into_iter().map(|(what, size)| (what.to_owned(), size)));
    let known: u64 = rows.iter().map(|(_, size)| size).sum();
    rows.push(("headers, padding, other sections".to_owned(), bytes.saturating_sub(known)));
    rows.push(("the whole file".to_owned(), bytes));
    rows.iter().map(|(what, size)| format!("| {what} | {size} |")).collect()
}

/// The number of bytes in the file for each crate, and the number of bytes of constants in all crates.
fn by_crate(symbols: &str) -> (BTreeMap<String, u64>, u64) {
    let (mut crates, mut constants, mut seen) = (BTreeMap::new(), 0, BTreeSet::new());
    for line in symbols.lines() {
        let mut words = line.splitn(4, ' ');
        let (Some(address), Some(size), Some(class), Some(name)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        // Zeroed memory takes no space in the file; one function may have several names.
        let (Ok(size), false) = (u64::from_str_radix(size, 16), matches!(class, "b" | "B")) else { continue };
        if !seen.insert(address) {
            continue;
        }
        *crates.entry(owner(name).to_owned()).or_default() += size;
        constants += if matches!(class, "r" | "R") { size } else { 0 };
    }
    (crates, constants)
}

/// The crate to which a symbol belongs: for an implementation, the crate of the type; for code that drops a value,
/// the crate of the value's type.
fn owner(name: &str) -> &str {
    let name = name.strip_prefix("core::ptr::drop_in_place").unwrap_or(name);
    let mut path = name;
    for word in ["<", "&", "mut ", "dyn ", "*const ", "*mut ", "[", "(", "impl "].iter().cycle().take(36) {
        path = path.strip_prefix(word).unwrap_or(path);
    }
    let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(path.len());
    let (first, rest) = path.split_at(end);
    match (first, rest.starts_with("::")) {
        (_, true) if !first.is_empty() => first,
        (name, _) if name.starts_with("sqlite3") => "SQLite (C)",
        (name, _) if name.starts_with("aws_lc") => "aws-lc (C and assembler)",
        _ => "C without a prefix, and the standard types",
    }
}

/// The size of a section, as `size -A` prints it.
fn section_size(sections: &str, name: &str) -> u64 {
    let size = |line: &str| {
        let mut words = line.split_whitespace();
        words.next().filter(|first| *first == name).and_then(|_| words.next()?.parse().ok())
    };
    sections.lines().find_map(size).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{lines, owner};

    #[test]
    fn a_symbol_belongs_to_the_crate_of_its_type() {
        for (name, crate_name) in [
            ("hyper::proto::h1::conn::Conn::poll_read", "hyper"),
            ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "alloc"),
            ("<&mut serde_json::de::Deserializer<R> as serde::Deserializer>::x", "serde_json"),
            ("core::ptr::drop_in_place<dragoman_gateway::call::Call>", "dragoman_gateway"),
            ("core::ptr::drop_in_place<[dragoman_store::Row]>", "dragoman_store"),
            ("sqlite3VdbeExec", "SQLite (C)"),
            ("aws_lc_0_38_EVP_sha256", "aws-lc (C and assembler)"),
            ("_start", "C without a prefix, and the standard types"),
        ] {
            assert_eq!(owner(name), crate_name, "{name}");
        }
    }

    #[test]
    fn the_rows_add_up_to_the_size_of_the_file() {
        let symbols = "0000000000001000 0000000000000100 t hyper::a\n0000000000001000 0000000000000100 t hyper::alias\n\
                       0000000000002000 0000000000000010 r serde::TABLE\n0000000000003000 0000000000009000 b hyper::ZEROED\n                 U malloc\n";
        let sections = "x :\nsection size addr\n.rodata 64 1\n.eh_frame 8 2\n.gcc_except_table 8 3\n";
        let rows: Vec<(String, u64)> = lines(1000, symbols, sections)
            .iter()
            .filter_map(|line| {
                let mut cells = line.trim_matches(['|', ' ']).split(" | ");
                Some((cells.next()?.to_owned(), cells.next()?.parse().ok()?))
            })
            .collect();
        let of = |what: &str| rows.iter().find(|(name, _)| name == what).map(|(_, size)| *size);
        assert_eq!(of("hyper"), Some(256));
        assert_eq!(of("serde"), Some(16));
        assert_eq!(of("unwinding"), Some(16));
        assert_eq!(of("constants without a name: texts, tables"), Some(48));
        assert_eq!(of("the whole file"), Some(1000));
        assert_eq!(rows.iter().map(|(_, size)| size).sum::<u64>(), 2000);
    }
}
