//! Block comments (`<!-- wp:name {…} -->`) and the tree that they form, as WordPress reads them (`WP_Block_Parser`).
//! This module must not know the meaning of a block.

use memchr::memmem;

/// A block; with `is_void`, a block without content of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'t> {
    /// The name, normalized: `core/heading` and `heading` are the same block.
    pub(super) name: &'t str,
    /// The index of the enclosing block.
    pub(super) parent: Option<usize>,
    /// True if the block consists of a single comment that ends in `/-->`. The stored content has no HTML for such a block; the
    /// site generates it when it shows the page.
    pub(super) is_void: bool,
    /// True if the opening comment has attributes: an object in JSON with at least one member.
    pub(super) has_attributes: bool,
    /// The HTML between the block's comments, without the blocks inside.
    pub(super) own: Vec<&'t str>,
}

/// Content as a list of blocks in the order of their opening comments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content<'t> {
    pub(super) blocks: Vec<Block<'t>>,
    /// The HTML outside of all blocks.
    pub(super) freeform: Vec<&'t str>,
}

/// One block comment.
#[derive(Debug, PartialEq, Eq)]
enum Delimiter<'t> {
    /// With the block's name, and true if it has attributes.
    Opens(&'t str, bool),
    Closes(&'t str),
    Void(&'t str, bool),
}

/// Reads content. Every text is valid content: anything that is not a block comment is HTML.
pub(super) fn parse(text: &str) -> Content<'_> {
    let mut content = Content::default();
    let mut open: Vec<usize> = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memmem::find(&text.as_bytes()[at..], b"<!--") {
        let start = at + found;
        let Some((delimiter, length)) = delimiter(&text[start..]) else {
            at = start + 4;
            continue;
        };
        content.add(open.last().copied(), &text[from..start]);
        (from, at) = (start + length, start + length);
        match delimiter {
            Delimiter::Opens(name, has_attributes) => {
                open.push(content.blocks.len());
                content.begin((name, has_attributes), open.iter().rev().nth(1).copied(), false);
            }
            Delimiter::Void(name, has_attributes) => {
                content.begin((name, has_attributes), open.last().copied(), true);
            }
            // A closing comment that closes nothing is ignored; blocks inside a closing block end with it.
            Delimiter::Closes(name) => {
                if let Some(depth) = open.iter().rposition(|index| content.blocks[*index].name == name) {
                    open.truncate(depth);
                }
            }
        }
    }
    content.add(open.last().copied(), &text[from..]);
    content
}

impl<'t> Content<'t> {
    fn add(&mut self, block: Option<usize>, html: &'t str) {
        if html.trim().is_empty() {
            return;
        }
        match block {
            Some(index) => self.blocks[index].own.push(html),
            None => self.freeform.push(html),
        }
    }

    fn begin(&mut self, (name, has_attributes): (&'t str, bool), parent: Option<usize>, is_void: bool) {
        self.blocks.push(Block { name, parent, is_void, has_attributes, own: Vec::new() });
    }

    /// The names of the enclosing blocks, innermost first.
    pub(super) fn names_around(&self, block: &Block<'t>) -> Vec<&'t str> {
        let mut names = Vec::new();
        let mut parent = block.parent;
        while let Some(around) = parent.map(|index| &self.blocks[index]) {
            names.push(around.name);
            parent = around.parent;
        }
        names
    }
}

/// Returns the block comment at the beginning of `text`, and its length. `text` must begin with `<!--`.
fn delimiter(text: &str) -> Option<(Delimiter<'_>, usize)> {
    let inside = text.get(4..)?;
    let end = memmem::find(inside.as_bytes(), b"-->")?;
    let comment = &inside[..end];
    let word = comment.trim_start();
    if word.len() == comment.len() {
        return None;
    }
    let (closes, word) = word.strip_prefix('/').map_or((false, word), |word| (true, word));
    let word = word.strip_prefix("wp:")?;
    let name_end = word
        .find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '/')))
        .unwrap_or(word.len());
    let (name, rest) = word.split_at(name_end);
    let (name, rest) = match name.strip_suffix('/') {
        // `<!-- wp:more/-->` has no space before the slash, so WordPress does not recognize it as a block.
        Some(_) => return None,
        None => (name, rest),
    };
    let name = name.strip_prefix("core/").unwrap_or(name);
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !is_name || !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let attributes = rest.strip_suffix('/').unwrap_or(rest).trim();
    let inside = attributes.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let has_attributes = inside.is_some_and(|members| !members.trim().is_empty());
    let found = match (closes, rest.ends_with('/')) {
        (true, _) => Delimiter::Closes(name),
        (false, true) => Delimiter::Void(name, has_attributes),
        (false, false) => Delimiter::Opens(name, has_attributes),
    };
    Some((found, 4 + end + 3))
}
