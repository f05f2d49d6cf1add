//! Parts of messages: texts from a file, shortened, and lists of words. This module must not know where a text comes from.

/// Shortens a text from the file for a message, and puts it on one line.
pub(crate) fn clip(text: &str) -> String {
    let mut chars = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut clipped: String = chars.by_ref().take(60).collect();
    if chars.next().is_some() {
        clipped.push('…');
    }
    clipped
}

/// The words as a phrase: "`a`, `b` or `c`".
pub(crate) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}
