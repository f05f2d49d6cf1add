//! Reading what several keys have in common: patterns, lists of words, times, names of what stands elsewhere.

use std::rc::Rc;
use std::time::Duration;

use super::check::{self, Flaw};
use super::glob::Glob;
use super::parse::{Entry, Kind, Node};
use super::read::{Fields, Reader, clip};
use super::suggest;
use super::text::Text;
use super::units;

/// How many names of those that there are a fault tells.
const MOST_TOLD: usize = 16;

/// Names that stand elsewhere in the file, and what they are: "server", "profile", "dialect".
#[derive(Debug, Clone)]
pub(super) struct Known<'k> {
    pub(super) what: &'static str,
    pub(super) names: Vec<&'k str>,
}

/// The patterns under `key`, one or a list of them; `None` when there is no such key.
pub(super) fn globs(reader: &mut Reader<'_>, fields: &mut Fields<'_>, key: &str) -> Option<Vec<Glob>> {
    let entry = fields.take(key)?;
    reader.within(key, |reader| glob_list(reader, &entry.value, None))
}

/// The same where an empty list would make no sense, and where a name without `*` and `?` must be one that is known.
pub(super) fn some_globs(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &str,
    known: Option<&Known<'_>>,
) -> Option<Vec<Glob>> {
    let entry = fields.take(key)?;
    reader.within(key, |reader| {
        let globs = glob_list(reader, &entry.value, known)?;
        refuse_empty(reader, &entry.value);
        Some(globs)
    })
}

fn glob_list(reader: &mut Reader<'_>, node: &Rc<Node>, known: Option<&Known<'_>>) -> Option<Vec<Glob>> {
    let mut globs = Vec::new();
    for (index, item) in reader.items(node, "a list of patterns", true)?.into_iter().enumerate() {
        reader.within(&format!("[{index}]"), |reader| {
            let text = reader.text(item, "a pattern as a text")?;
            match Glob::parse(text.expose()) {
                Ok(glob) => globs.push(glob),
                Err(reason) => {
                    let mend = "write a name with `*` for any characters and `?` for one; what is not to be \
                                shown goes under `deny`";
                    reader.fault(&item.at, reason, mend);
                }
            }
            if let Some(known) = known.filter(|_| !text.expose().contains(['*', '?'])) {
                refuse_unknown(reader, item, &text, known);
            }
            Some(())
        });
    }
    Some(globs)
}

/// Lists of what is meant must mean something.
pub(super) fn refuse_empty(reader: &mut Reader<'_>, node: &Node) {
    if matches!(&node.kind, Kind::List(items) if items.is_empty())
        || matches!(&node.kind, Kind::Map(entries) if entries.is_empty())
    {
        reader.fault(&node.at, "nothing is named here", "name something, or remove the key");
    }
}

/// Some of a few words, one or a list of them.
pub(super) fn words<T: Copy + PartialEq>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &str,
    all: &[(&str, T)],
) -> Option<Vec<T>> {
    let entry = fields.take(key)?;
    reader.within(key, |reader| {
        let mut words = Vec::new();
        for item in reader.items(&entry.value, "a list of words", true)? {
            let Some(word) = reader.word(item, all) else { continue };
            if words.contains(&word) {
                reader.fault(&item.at, "this stands twice", "keep one of the two");
            } else {
                words.push(word);
            }
        }
        Some(words)
    })
}

/// Texts that hide nothing, one or a list of them.
pub(super) fn texts(
    reader: &mut Reader<'_>,
    entry: &Entry,
    checked: fn(&str) -> Result<String, Flaw>,
) -> Vec<String> {
    reader.within(&entry.key, |reader| {
        let mut texts = Vec::new();
        for (index, item) in
            reader.items(&entry.value, "a list", true).unwrap_or_default().into_iter().enumerate()
        {
            reader.within(&format!("[{index}]"), |reader| {
                let text = reader.text(item, "a text")?;
                texts.push(reader.sound(&item.at, checked(text.expose()))?);
                Some(())
            });
        }
        texts
    })
}

/// One mapping, or a list of mappings.
pub(super) fn one_or_more<'n>(
    reader: &mut Reader<'_>,
    node: &'n Rc<Node>,
    what: &str,
) -> Option<Vec<&'n Rc<Node>>> {
    match &node.kind {
        Kind::Map(_) => Some(vec![node]),
        _ => reader.items(node, what, false),
    }
}

/// A time between bounds.
pub(super) fn time(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &str,
    least: Duration,
    most: Duration,
) -> Option<Duration> {
    let entry = fields.take(key)?;
    reader.within(key, |reader| {
        let what = "a time such as 500ms, 30s, 10m, 1h or a number of seconds";
        let text = reader.text(&entry.value, what)?;
        let Some(time) = units::parse_time(text.expose()) else {
            reader.wrong_kind(&entry.value, what);
            return None;
        };
        if time < least || time > most {
            let shown = if text.hides() { clip(text.shown()) } else { units::show_time(time) };
            let (least, most) = (units::show_time(least), units::show_time(most));
            let mend = format!("write a time from {least} to {most}");
            reader.fault(&entry.value.at, format!("{shown} is out of bounds"), mend);
            return None;
        }
        Some(time)
    })
}

/// Says that there is no such server, profile or dialect, and which one may be meant; nothing when there is one.
pub(super) fn refuse_unknown(reader: &mut Reader<'_>, node: &Node, name: &Text, known: &Known<'_>) {
    if known.names.contains(&name.expose()) {
        return;
    }
    let what = known.what;
    let mend = if let Some(near) = suggest::nearest(name.expose(), known.names.iter().copied()) {
        format!("did you mean `{near}`?")
    } else if known.names.is_empty() {
        format!("there is no {what} yet: add it, or remove this")
    } else {
        let mut names: Vec<String> = known.names.iter().take(MOST_TOLD).map(|name| clip(name)).collect();
        names.extend((known.names.len() > MOST_TOLD).then(|| "…".to_owned()));
        format!("there are: {}", names.join(", "))
    };
    reader.fault(&node.at, format!("there is no {what} `{}`", clip(name.shown())), mend);
}

/// A name that must stand elsewhere.
pub(super) fn known_name(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &str,
    known: &Known<'_>,
) -> Option<String> {
    let entry = fields.take(key)?;
    reader.within(key, |reader| {
        let text = reader.text(&entry.value, &format!("a {}'s name", known.what))?;
        refuse_unknown(reader, &entry.value, &text, known);
        Some(text.expose().to_owned())
    })
}

/// A file or a folder.
pub(super) fn path(reader: &mut Reader<'_>, entry: &Entry) -> Option<Text> {
    let text = reader.text(&entry.value, "a path")?;
    if text.expose().trim().is_empty() {
        reader.fault(&entry.value.at, "the path is empty", "write a path, or remove the key");
        return None;
    }
    reader.sound(&entry.value.at, check::no_nul(text.expose())).map(|()| text)
}
