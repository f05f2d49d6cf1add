//! The strongly connected components of a graph: its cycles. This module must not know the meaning of its nodes.

use std::collections::{BTreeMap, BTreeSet};

/// The components with at least two nodes, each sorted, and the largest component first. In a component, every node
/// can be reached from every other node.
pub(in crate::tidy) fn components<'a>(edges: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Vec<&'a str>> {
    let mut ahead: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut back: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in edges {
        ahead.entry(from).or_default().insert(to);
        back.entry(to).or_default().insert(from);
    }
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for node in ahead.keys().copied() {
        visit(node, &ahead, &mut seen, &mut order);
    }
    seen.clear();
    let mut parts = Vec::new();
    for node in order.into_iter().rev() {
        let mut part = Vec::new();
        visit(node, &back, &mut seen, &mut part);
        if part.len() > 1 {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts.sort_by_key(|part| (std::cmp::Reverse(part.len()), part[0]));
    parts
}

/// Adds to `left` every reachable node that has not been visited; each node comes after the nodes that can be
/// reached from it.
fn visit<'a>(
    start: &'a str,
    edges: &BTreeMap<&'a str, BTreeSet<&'a str>>,
    seen: &mut BTreeSet<&'a str>,
    left: &mut Vec<&'a str>,
) {
    let next = |node: &str| edges.get(node).into_iter().flatten().copied().collect::<Vec<_>>().into_iter();
    if !seen.insert(start) {
        return;
    }
    let mut open = vec![(start, next(start))];
    while let Some((node, ahead)) = open.last_mut() {
        match ahead.next() {
            Some(to) if seen.insert(to) => open.push((to, next(to))),
            Some(_) => {}
            None => {
                left.push(node);
                open.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn circles_are_told_from_ways() {
        let edges =
            [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("f", "a"), ("e", "g")];
        assert_eq!(components(edges.into_iter()), [vec!["a", "b", "c"], vec!["d", "e"]]);
        assert!(components([("a", "b"), ("a", "c"), ("b", "c")].into_iter()).is_empty());
    }
}
