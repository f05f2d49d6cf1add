//! Marks with which gateways report to each other the servers behind them. Without the marks, lists would grow
//! endlessly if gateways were connected in a circle. The marks are members of `_meta`, and only Dragoman gateways
//! send them to each other. This module must not know which server a mark stands for.

use std::fmt::Write as _;

use bytes::Bytes;

use crate::json::{Elements, MAX_DEPTH, Members, Splice, quote, unquote};

/// The member of a list's `_meta` that contains the marks of the servers behind the answering gateway.
const BEHIND: &[u8] = b"dragoman/behind";

/// The member of a request's `_meta` that contains the mark of one server: the requesting gateway gets the list
/// through this server.
pub const THROUGH: &str = "dragoman/through";

/// The maximum number of marks that are written or read.
const MOST_MARKS: usize = 1000;

/// The maximum length of a mark that is read, in bytes.
const LONGEST_MARK: usize = 256;

/// Reads the marks of a list, `result`, in the message `text`.
pub fn marks_behind(text: &[u8], result: &Members) -> Vec<Box<str>> {
    let meta = result.get(text, "_meta").and_then(|span| Members::of_value(text, span));
    let behind = meta.and_then(|meta| meta.get(text, "dragoman/behind"));
    let Some(marks) = behind.and_then(|span| Elements::of_value(text, span)) else { return Vec::new() };
    let short = marks.iter().filter(|span| span.len() <= LONGEST_MARK).take(MOST_MARKS);
    short.filter_map(|span| Some(inside(span.of(text))?.into_boxed_str())).collect()
}

fn inside(text: &[u8]) -> Option<String> {
    Some(unquote(text.strip_prefix(b"\"")?.strip_suffix(b"\"")?)?.into_owned())
}

/// Adds marks to a list, a JSON object. Marks beyond the first thousand are left out.
pub fn with_marks<'a>(list: &Bytes, marks: impl Iterator<Item = &'a str>) -> Bytes {
    let Ok(members) = Members::of_document(list, MAX_DEPTH) else { return list.clone() };
    let mut array = String::from("[");
    for (at, mark) in marks.take(MOST_MARKS).enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(array, "{comma}{}", quote(mark));
    }
    array.push(']');
    let meta = members.get(list, "_meta").and_then(|span| Members::of_value(list, span));
    let whole = format!("{{\"dragoman/behind\":{array}}}");
    let mut splice = Splice::new(list);
    match &meta {
        Some(meta) => splice.set(meta, BEHIND, array.as_bytes()),
        None => splice.set(&members, b"_meta", whole.as_bytes()),
    };
    splice.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<Box<str>> {
        marks_behind(text, &Members::of_document(text, MAX_DEPTH).unwrap())
    }

    #[test]
    fn marks_are_read_as_written_and_nothing_else_changes() {
        for (list, wanted) in [
            (r#"{"tools":[]}"#, r#"{"_meta":{"dragoman/behind":["a","b\""]},"tools":[]}"#),
            (
                r#"{ "tools":[],"_meta":{"x":1}}"#,
                r#"{ "tools":[],"_meta":{"dragoman/behind":["a","b\""],"x":1}}"#,
            ),
        ] {
            let marked = with_marks(&Bytes::from(list), ["a", "b\""].into_iter());
            assert_eq!(marked, wanted);
            assert_eq!(read(&marked), [Box::from("a"), Box::from("b\"")]);
        }
        assert!(read(br#"{"tools":[]}"#).is_empty());
    }

    #[test]
    fn a_hostile_list_of_marks_is_cut() {
        let long = "x".repeat(LONGEST_MARK);
        let many: Vec<String> = (0..2 * MOST_MARKS).map(|at| format!("\"{at}\"")).collect();
        let text = format!(r#"{{"_meta":{{"dragoman/behind":[1,null,"{long}",{}]}}}}"#, many.join(","));
        let marks = read(text.as_bytes());
        assert!(marks.len() <= MOST_MARKS && marks.iter().all(|mark| mark.len() < LONGEST_MARK));
        assert!(
            read(br#"{"_meta":{"dragoman/behind":{}}}"#).is_empty() && read(br#"{"_meta":[]}"#).is_empty()
        );
    }
}
