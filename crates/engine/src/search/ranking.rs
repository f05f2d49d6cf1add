//! The search in an index: the tools that match a request, the best ones first. This module must not know the tools' texts.

use strsim::osa_distance;

use super::index::{Posting, ToolIndex};
use super::synonyms::synonyms;
use super::words::words;

/// The maximum number of different words of a request that are looked up.
const MAX_WORDS: usize = 24;

/// The maximum number of misspelled words that are corrected: each is compared with many words.
const MAX_CORRECTED: usize = 3;

/// The maximum number of words of the index that are considered for all corrections of a request together.
const MAX_COMPARED: usize = 20_000;

/// The maximum number of words that complete an unknown one.
const MAX_COMPLETED: usize = 8;

/// The shortest word that is completed or corrected, in bytes.
const SHORTEST_CHANGED: usize = 4;

/// The factor for the score of a synonym.
const SYNONYM: f32 = 0.6;

/// The factor for the score of a completed or corrected word.
const CHANGED: f32 = 0.7;

/// The part of a score that depends on how many words of the request a tool contains.
const COVERAGE: f32 = 0.5;

/// A word of the index that matches a word of the request, and the factor for its score.
type Alternative = (usize, f32);

impl ToolIndex {
    /// The numbers of the tools that match a request best, the best one first. A tool need not contain all words.
    pub fn search(&self, request: &str, limit: usize) -> Vec<u32> {
        let mut scores = Scores::new(self.tools());
        let wanted = self.alternatives(request);
        for alternatives in &wanted {
            let postings = |(word, factor): &Alternative| {
                let factor = *factor;
                self.postings_of(*word)
                    .iter()
                    .map(move |posting| Posting { score: posting.score * factor, ..*posting })
            };
            scores.count(alternatives.iter().flat_map(postings));
        }
        scores.best(wanted.len(), limit)
    }

    /// For each word of a request, the words of the index that match it, exactly or approximately.
    fn alternatives(&self, request: &str) -> Vec<Vec<Alternative>> {
        let mut wanted: Vec<Vec<Alternative>> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let (mut corrected, mut left) = (0, MAX_COMPARED);
        words(request, |word| {
            if seen.len() >= MAX_WORDS || seen.iter().any(|known| known == word) {
                return;
            }
            seen.push(word.to_owned());
            let known = self.find(word).map(|at| (at, 1.0));
            let alike = synonyms(word).filter_map(|word| Some((self.find(word)?, SYNONYM)));
            let mut all: Vec<Alternative> = known.into_iter().chain(alike).collect();
            if known.is_none() && word.len() >= SHORTEST_CHANGED {
                all.extend(self.completed(word));
                if all.is_empty() && corrected < MAX_CORRECTED {
                    corrected += 1;
                    all.extend(self.corrected(word, &mut left));
                }
            }
            wanted.push(all);
        });
        wanted.extend(self.names(request).map(|name| vec![(name, 1.0)]));
        wanted
    }

    /// The whole names in a request. A single word counts as a name only if it is the whole request, because `search` in a
    /// sentence does not mean the tool `search`.
    fn names(&self, request: &str) -> impl Iterator<Item = usize> {
        let written =
            request.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        let composed = written.filter(|word| word.contains(['_', '-']) || has_hump(word)).take(MAX_WORDS);
        let mut found: Vec<usize> =
            composed.chain([request.trim()]).filter_map(|name| self.find_name(name)).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter()
    }

    /// The words of the index that begin with `word`, and the longest word of the index that is a prefix of `word`.
    fn completed(&self, word: &str) -> Vec<Alternative> {
        let longer = self.beginning_with(word).take(MAX_COMPLETED);
        let shorter = (SHORTEST_CHANGED..word.len()).rev().filter(|end| word.is_char_boundary(*end));
        let shorter = shorter.filter_map(|end| self.find(&word[..end])).take(1);
        longer.chain(shorter).map(|at| (at, CHANGED)).collect()
    }

    /// The possible corrections of a misspelled `word`: words that begin with the same letter as `word`, and differ
    /// from it in few letters. At most `left` words of the index are considered; `left` is reduced by their number.
    fn corrected(&self, word: &str, left: &mut usize) -> Vec<Alternative> {
        let first = word.chars().next().map(String::from).unwrap_or_default();
        let tolerated = if word.len() < 8 { 1 } else { 2 };
        let mut near = Vec::new();
        for at in self.beginning_with(&first) {
            if *left == 0 || near.len() == MAX_COMPLETED {
                break;
            }
            *left -= 1;
            let known = self.word(at);
            if known.len().abs_diff(word.len()) <= tolerated && osa_distance(known, word) <= tolerated {
                near.push((at, CHANGED));
            }
        }
        near
    }
}

/// Returns true if a capital letter follows a small one: `getPosts`.
fn has_hump(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// The scores of all tools.
struct Scores {
    totals: Vec<f32>,
    /// The number of words of the request that each tool contains.
    matched: Vec<u16>,
    /// The best score for the current word of the request.
    current: Vec<f32>,
    touched: Vec<u32>,
}

impl Scores {
    fn new(tools: usize) -> Self {
        Self {
            totals: vec![0.0; tools],
            matched: vec![0; tools],
            current: vec![0.0; tools],
            touched: Vec::new(),
        }
    }

    /// Adds the score for one word of the request. If several words of the index match it, only the best one
    /// counts.
    fn count(&mut self, postings: impl Iterator<Item = Posting>) {
        for Posting { tool, score } in postings {
            let at = tool as usize;
            if self.current[at] <= 0.0 {
                self.touched.push(tool);
                self.matched[at] += 1;
            }
            if score > self.current[at] {
                self.totals[at] += score - self.current[at];
                self.current[at] = score;
            }
        }
        for tool in self.touched.drain(..) {
            self.current[tool as usize] = 0.0;
        }
    }

    /// The tools with the best scores; of tools with equal scores, those that come first in the list.
    fn best(self, words: usize, limit: usize) -> Vec<u32> {
        let words = f32::from(u16::try_from(words.max(1)).unwrap_or(u16::MAX));
        let mut ranked: Vec<(f32, u32)> = (0..)
            .zip(self.totals.iter().zip(&self.matched))
            .filter(|(_, (total, _))| **total > 0.0)
            .map(|(tool, (total, matched))| {
                (total * (1.0 - COVERAGE + COVERAGE * f32::from(*matched) / words), tool)
            })
            .collect();
        ranked.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        ranked.truncate(limit);
        ranked.into_iter().map(|(_, tool)| tool).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::ToolText;

    #[test]
    fn a_request_is_compared_with_few_words() {
        let text = br#"{"name":"x","description":"alpha bravo bread break"}"#;
        let tool = ToolText { server: "s", name: "s__x", own_name: "x", text };
        let index = ToolIndex::build(std::iter::once(tool));
        let mut left = MAX_COMPARED;
        let found: Vec<usize> = index.corrected("brvao", &mut left).into_iter().map(|(at, _)| at).collect();
        assert_eq!(found, [index.find("bravo").unwrap()]);
        assert_eq!(MAX_COMPARED - left, 3, "only words with the same first letter are considered");
        assert!(index.corrected("brvao", &mut 0).is_empty());
        let mut two = 2;
        index.corrected("bz", &mut two);
        assert_eq!(two, 0);
    }
}
