//! The index of a view's tools: for each word, the tools in which the word occurs, each with the score that the word
//! contributes. Scores are BM25F (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009): a word counts more in a
//! short field, and in an important field. This module must not know what the tools are called.

use std::collections::HashMap;

use config::nearest::plain;

use super::fields::{ToolField, ToolText};
use super::words::words;

/// The maximum number of different words by which one tool is found: a long description must not fill the memory.
const WORDS_A_TOOL: usize = 250;

/// BM25's `k1`: the rate at which further repetitions of a word add less to the score.
const K1: f32 = 1.2;

/// BM25's `b`: the degree to which the length of a field lowers its score.
const B: f32 = 0.75;

/// The weight of each field, in the order of [`ToolField`].
const WEIGHTS: [f32; ToolField::COUNT] = [3.0, 2.0, 0.75, 0.5, 0.25, 1.0];

/// The score for a whole name, more than any number of words can contribute.
const WHOLE_NAME: f32 = 1000.0;

/// The mark before a whole name, which no word contains.
const WHOLE: char = '=';

/// A tool in which a word occurs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Posting {
    /// The number of the tool.
    pub(super) tool: u32,
    /// The score that the word contributes.
    pub(super) score: f32,
}

/// The ends of a word's text and of its postings; each begins where the previous one ends.
#[derive(Debug, Clone, Copy)]
struct WordEnds {
    word: u32,
    postings: u32,
}

/// The index of a view's tools.
#[derive(Debug)]
pub struct ToolIndex {
    /// All words, in alphabetical order and without separators.
    words: Box<str>,
    ends: Box<[WordEnds]>,
    postings: Box<[Posting]>,
    /// The number of tools.
    tools: usize,
}

impl ToolIndex {
    /// Indexes tools, which are numbered in this order.
    pub fn build<'t>(tools: impl Iterator<Item = ToolText<'t>>) -> Self {
        let mut collected = CollectedWords::default();
        for tool in tools {
            collected.add(&tool);
        }
        collected.index()
    }

    /// The number of tools.
    pub(super) fn tools(&self) -> usize {
        self.tools
    }

    /// The size of the index in memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.words.len() + std::mem::size_of_val(&*self.ends) + std::mem::size_of_val(&*self.postings)
    }

    /// The word with this number in alphabetical order.
    pub(super) fn word(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before].word);
        &self.words[start as usize..self.ends[number].word as usize]
    }

    /// The number of the first word that does not sort before `word`.
    fn position(&self, word: &str) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.word(middle) < word { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The postings of the word with this number.
    pub(super) fn postings_of(&self, number: usize) -> &[Posting] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before].postings);
        &self.postings[start as usize..self.ends[number].postings as usize]
    }

    /// The number of a word, if it occurs anywhere.
    pub(super) fn find(&self, word: &str) -> Option<usize> {
        let at = self.position(word);
        (at < self.ends.len() && self.word(at) == word).then_some(at)
    }

    /// The number of a whole name, if a tool has it.
    pub(super) fn find_name(&self, name: &str) -> Option<usize> {
        self.find(&whole(name))
    }

    /// The numbers of the words that begin with `start`.
    pub(super) fn beginning_with(&self, start: &str) -> impl Iterator<Item = usize> {
        (self.position(start)..self.ends.len()).take_while(move |at| self.word(*at).starts_with(start))
    }
}

/// A name as a single word.
fn whole(name: &str) -> String {
    format!("{WHOLE}{}", plain(name))
}

/// The number of times that a word occurs in each field of a tool.
#[derive(Debug)]
struct Occurrences {
    word: u32,
    tool: u32,
    counts: [u8; ToolField::COUNT],
}

/// The words of all tools, before they are weighted.
#[derive(Debug, Default)]
struct CollectedWords {
    numbers: HashMap<Box<str>, u32>,
    occurrences: Vec<Occurrences>,
    /// The number of words in each field of each tool.
    lengths: Vec<[u32; ToolField::COUNT]>,
}

impl CollectedWords {
    fn add(&mut self, text: &ToolText<'_>) {
        let tool = u32::try_from(self.lengths.len()).unwrap_or(u32::MAX);
        let mut lengths = [0; ToolField::COUNT];
        let mut own: HashMap<u32, [u8; ToolField::COUNT]> = HashMap::new();
        let numbers = &mut self.numbers;
        text.read(&mut |field, content| {
            // Once the tool has enough words, the rest of its texts need not be read.
            if own.len() >= WORDS_A_TOOL {
                return;
            }
            words(content, |word| {
                if own.len() < WORDS_A_TOOL {
                    let counts = own.entry(number(numbers, word)).or_default();
                    let count = &mut counts[field.index()];
                    *count = count.saturating_add(1);
                    lengths[field.index()] += 1;
                }
            });
        });
        self.lengths.push(lengths);
        self.occurrences.extend(own.into_iter().map(|(word, counts)| Occurrences { word, tool, counts }));
        let mut names = vec![whole(text.own_name), whole(text.name)];
        names.dedup();
        for name in names {
            let word = number(&mut self.numbers, &name);
            self.occurrences.push(Occurrences { word, tool, counts: [0; ToolField::COUNT] });
        }
    }

    /// Computes the scores, and sorts words and postings.
    fn index(mut self) -> ToolIndex {
        let weighting = Weighting::new(&self.lengths);
        let mut ordered: Vec<(Box<str>, u32)> = self.numbers.drain().collect();
        ordered.sort_unstable();
        let mut place = vec![0_u32; ordered.len()];
        for (at, (_, number)) in (0..).zip(&ordered) {
            place[*number as usize] = at;
        }
        for found in &mut self.occurrences {
            found.word = place[found.word as usize];
        }
        self.occurrences.sort_unstable_by_key(|found| (found.word, found.tool));
        let mut index = ToolIndex {
            words: ordered.iter().map(|(word, _)| &**word).collect::<String>().into(),
            ends: Box::default(),
            postings: Box::default(),
            tools: self.lengths.len(),
        };
        let (mut ends, mut postings) =
            (Vec::with_capacity(ordered.len()), Vec::with_capacity(self.occurrences.len()));
        let (mut word_end, mut postings_end) = (0, 0);
        for (found, (word, _)) in self.occurrences.chunk_by(|one, next| one.word == next.word).zip(&ordered) {
            postings.extend(found.iter().map(|one| weighting.posting(one, found.len(), word)));
            word_end += u32::try_from(word.len()).unwrap_or_default();
            postings_end += u32::try_from(found.len()).unwrap_or_default();
            ends.push(WordEnds { word: word_end, postings: postings_end });
        }
        (index.ends, index.postings) = (ends.into(), postings.into());
        index
    }
}

fn number(numbers: &mut HashMap<Box<str>, u32>, word: &str) -> u32 {
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    if let Some(known) = numbers.get(word) {
        return *known;
    }
    numbers.insert(word.into(), next);
    next
}

/// The data for the weights of words.
struct Weighting<'a> {
    lengths: &'a [[u32; ToolField::COUNT]],
    /// The average length of each field.
    average: [f32; ToolField::COUNT],
}

impl<'a> Weighting<'a> {
    fn new(lengths: &'a [[u32; ToolField::COUNT]]) -> Self {
        let average = std::array::from_fn(|field| {
            let total: u32 = lengths.iter().map(|lengths| lengths[field]).fold(0, u32::saturating_add);
            (float(total) / float_of(lengths.len().max(1))).max(1.0)
        });
        Self { lengths, average }
    }

    /// The posting of a word that occurs in `tools` tools.
    fn posting(&self, found: &Occurrences, tools: usize, word: &str) -> Posting {
        if word.starts_with(WHOLE) {
            return Posting { tool: found.tool, score: WHOLE_NAME };
        }
        let lengths = self.lengths.get(found.tool as usize).copied().unwrap_or_default();
        let frequency: f32 = (0..ToolField::COUNT)
            .map(|field| {
                let length = 1.0 - B + B * float(lengths[field]) / self.average[field];
                WEIGHTS[field] * f32::from(found.counts[field]) / length
            })
            .sum();
        let (all, with) = (float_of(self.lengths.len()), float_of(tools));
        let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        Posting { tool: found.tool, score: rarity * frequency * (K1 + 1.0) / (frequency + K1) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a score needs no more than the first seven digits")]
fn float(number: u32) -> f32 {
    number as f32
}

fn float_of(number: usize) -> f32 {
    float(u32::try_from(number).unwrap_or(u32::MAX))
}
