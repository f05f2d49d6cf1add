//! Changes of lists that a link tells of: looked into one after the other, beside the link's stream, on which other things
//! follow. It must not know what a list holds.

use parking_lot::Mutex;
use proto::mcp::Notice;

/// What has to be looked into.
#[derive(Default)]
pub struct Changes(Mutex<Told>);

#[derive(Default)]
struct Told {
    lists: Vec<Notice>,
    /// True if somebody looks into it.
    is_seen_to: bool,
}

impl Changes {
    /// Notes that a list has changed; `true` when the caller has to look into it. Any number of notices of one kind is one.
    pub fn note(&self, list: Notice) -> bool {
        let mut told = self.0.lock();
        if !told.lists.contains(&list) {
            told.lists.push(list);
        }
        !std::mem::replace(&mut told.is_seen_to, true)
    }

    /// What changed since this was last asked. Whoever is given nothing need not look any more.
    pub fn take(&self) -> Vec<Notice> {
        let mut told = self.0.lock();
        told.is_seen_to = !told.lists.is_empty();
        std::mem::take(&mut told.lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_looks_until_there_is_nothing_new() {
        let changes = Changes::default();
        assert!(changes.note(Notice::ToolsChanged));
        assert!(!changes.note(Notice::ToolsChanged) && !changes.note(Notice::PromptsChanged));
        assert_eq!(changes.take(), [Notice::ToolsChanged, Notice::PromptsChanged]);
        assert!(!changes.note(Notice::ToolsChanged), "somebody still looks");
        assert_eq!(changes.take(), [Notice::ToolsChanged]);
        assert_eq!(changes.take(), []);
        assert!(changes.note(Notice::ToolsChanged), "nobody does any more");
    }
}
