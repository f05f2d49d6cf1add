//! HTML as a flat list of elements, read by a parser that browsers agree with. Any fault that this parser reports fails the test.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document, tokenizer::TokenizerOpts, tree_builder::TreeBuilderOpts};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// An element.
#[derive(Debug)]
pub(crate) struct Element {
    /// The name.
    pub(crate) name: String,
    /// The attributes.
    pub(crate) attributes: Vec<(String, String)>,
    /// The text inside.
    pub(crate) text: String,
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns true if the element has an attribute.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

/// The elements of a page, in their order.
pub(crate) fn parsed(page: &str, html: &str) -> Vec<Element> {
    let options = ParseOpts {
        tokenizer: TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() },
        tree_builder: TreeBuilderOpts { exact_errors: true, ..TreeBuilderOpts::default() },
    };
    let html = if html.starts_with("<!DOCTYPE") {
        html.to_owned()
    } else {
        format!("<!DOCTYPE html><title>part</title>{html}")
    };
    let dom = parse_document(RcDom::default(), options).one(html);
    assert!(dom.errors.borrow().is_empty(), "{page}: {:?}", dom.errors.borrow());
    let mut elements = Vec::new();
    collect(&dom.document, &mut elements);
    elements
}

fn collect(node: &Handle, elements: &mut Vec<Element>) {
    if let NodeData::Element { name, attrs, .. } = &node.data {
        let attributes =
            attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect();
        elements.push(Element { name: name.local.to_string(), attributes, text: text(node) });
    }
    for child in node.children.borrow().iter() {
        collect(child, elements);
    }
}

/// The text of an element that is small; documents and bodies are not asked for theirs.
fn text(node: &Handle) -> String {
    let mut words = String::new();
    let mut open = vec![node.clone()];
    while let Some(next) = open.pop() {
        if let NodeData::Text { contents } = &next.data {
            words.push_str(&contents.borrow());
        }
        if words.len() > 64 {
            break;
        }
        open.extend(next.children.borrow().iter().rev().cloned());
    }
    words
}
