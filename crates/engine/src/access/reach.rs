//! Decides whether any arguments could be allowed, given a rule that allows some and rules that deny others.
//!
//! A list shows a tool if at least one call to it may be allowed. If both kinds of rules have conditions on the same arguments, the
//! task is to find out whether a text exists that matches some patterns and not others. This is done by walking through all
//! patterns together, one character at a time. The walk has a limit that no configuration reaches by accident; if the limit is
//! reached, the answer is yes, so that no usable tool is hidden.

use std::collections::{BTreeSet, HashSet, VecDeque};

use config::{Glob, ValuePath};

use super::values::{Conditions, fits_all};

/// The maximum number of states of a walk, and of combinations of values.
const MOST_STATES: usize = 10_000;

/// The numbers of those denying rules that match a value.
type MatchingRules = BTreeSet<usize>;

/// Returns true if there are arguments that match all conditions of `allowed`, and fail at least one condition of
/// each of `denied`.
pub(super) fn is_reachable(allowed: &Conditions, denied: &[&Conditions]) -> bool {
    let Some(left) = denied.iter().map(|denied| unavoidable(allowed, denied)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let left: Vec<Vec<(usize, &[Glob])>> =
        left.into_iter().filter(|conditions| !conditions.is_empty()).collect();
    if left.is_empty() {
        return true;
    }
    let mut choices = Vec::with_capacity(allowed.len());
    for (place, (_, globs)) in allowed.iter().enumerate() {
        let of_place = |conditions: &Vec<(usize, &[Glob])>| -> Vec<Glob> {
            conditions
                .iter()
                .filter(|(at, _)| *at == place)
                .flat_map(|(_, globs)| globs.iter().cloned())
                .collect()
        };
        let denying: Vec<Vec<Glob>> = left.iter().map(of_place).collect();
        match values(globs, &denying) {
            Some(values) => choices.push(values),
            None => return true,
        }
    }
    // A rule matches only if its conditions match at all of their paths.
    let places = |rule: usize| left[rule].iter().map(|(place, _)| *place).collect::<BTreeSet<usize>>();
    let places: Vec<BTreeSet<usize>> = (0..left.len()).map(places).collect();
    let mut steps = 0;
    combine(&choices, &places, &mut Vec::new(), &mut steps)
}

/// Returns the conditions of a denying rule on paths that `allowed` also has, each with the position of the path in
/// `allowed`. Returns an empty list if the rule need not match, regardless of the values at these paths. Returns
/// `None` if the rule always matches.
fn unavoidable<'c>(allowed: &Conditions, denied: &'c Conditions) -> Option<Vec<(usize, &'c [Glob])>> {
    let mut shared = Vec::new();
    for (path, globs) in denied {
        let like = |other: &ValuePath| other.is_like(path);
        if let Some(place) = allowed.keys().position(like) {
            shared.push((place, globs.as_slice()));
        } else if allowed.keys().any(|other| path.leads_to(other)) {
            // The allowed value lies inside the value at this path, so the value at this path exists and is not a text.
            if !fits_all(globs) {
                return Some(Vec::new());
            }
        } else {
            // The value may be absent.
            return Some(Vec::new());
        }
    }
    (!shared.is_empty()).then_some(shared)
}

/// Returns true if a value can be chosen for each path so that no denying rule matches. A rule matches only if the
/// values at all of its paths match.
fn combine(
    choices: &[Vec<MatchingRules>],
    places: &[BTreeSet<usize>],
    chosen: &mut Vec<usize>,
    steps: &mut usize,
) -> bool {
    *steps += 1;
    if *steps > MOST_STATES {
        return true;
    }
    let at = chosen.len();
    if at == choices.len() {
        let fits = |rule: usize, place: &usize| choices[*place][chosen[*place]].contains(&rule);
        return places.iter().enumerate().all(|(rule, places)| !places.iter().all(|place| fits(rule, place)));
    }
    for choice in 0..choices[at].len() {
        chosen.push(choice);
        if combine(choices, places, chosen, steps) {
            return true;
        }
        chosen.pop();
    }
    false
}

/// Examines the texts that match one of `allowed`, and returns the different sets of denying rules that match such
/// a text; `None` if there are too many states to examine.
fn values(allowed: &[Glob], denying: &[Vec<Glob>]) -> Option<Vec<MatchingRules>> {
    let walk = Walk::new(allowed, denying);
    let mut found: Vec<MatchingRules> = Vec::new();
    let start = walk.closed((0..walk.patterns.len()).map(|pattern| (pattern, 0)));
    let mut seen = HashSet::from([start.clone()]);
    let mut open = VecDeque::from([start]);
    while let Some(state) = open.pop_front() {
        let (fits, rules) = walk.outcome(&state);
        if fits && !found.contains(&rules) {
            if rules.is_empty() {
                return Some(vec![rules]);
            }
            found.push(rules);
        }
        for char in &walk.alphabet {
            let next = walk.step(&state, *char);
            if walk.may_fit(&next) && seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(found)
}

/// The current positions in all patterns: pairs of a pattern's index and a character's index in that pattern.
type WalkState = BTreeSet<(usize, usize)>;

struct Walk {
    patterns: Vec<Vec<char>>,
    /// The rule of each pattern; `None` for the allowing rule.
    owners: Vec<Option<usize>>,
    alphabet: Vec<char>,
}

impl Walk {
    fn new(allowed: &[Glob], denying: &[Vec<Glob>]) -> Self {
        let of_rules = denying
            .iter()
            .enumerate()
            .flat_map(|(rule, globs)| globs.iter().map(move |glob| (Some(rule), glob)));
        let all: Vec<(Option<usize>, &Glob)> =
            allowed.iter().map(|glob| (None, glob)).chain(of_rules).collect();
        let patterns: Vec<Vec<char>> = all.iter().map(|(_, glob)| glob.as_str().chars().collect()).collect();
        let mut letters: BTreeSet<char> = patterns.iter().flatten().copied().collect();
        letters.remove(&'?');
        letters.remove(&'*');
        // One character that occurs in no pattern represents all others.
        let other = ('a'..=char::MAX).find(|char| !letters.contains(char));
        let alphabet = letters.iter().copied().chain(other).collect();
        Self { patterns, owners: all.into_iter().map(|(owner, _)| owner).collect(), alphabet }
    }

    /// Adds the positions after each `*`, which can match an empty text.
    fn closed(&self, places: impl Iterator<Item = (usize, usize)>) -> WalkState {
        let mut state = WalkState::new();
        for (pattern, mut at) in places {
            while state.insert((pattern, at)) && self.patterns[pattern].get(at) == Some(&'*') {
                at += 1;
            }
        }
        state
    }

    fn step(&self, state: &WalkState, char: char) -> WalkState {
        let moved = state.iter().filter_map(|&(pattern, at)| match self.patterns[pattern].get(at)? {
            '*' => Some((pattern, at)),
            '?' => Some((pattern, at + 1)),
            want if *want == char => Some((pattern, at + 1)),
            _ => None,
        });
        self.closed(moved)
    }

    /// Returns true if the text read so far can still be extended to an allowed one.
    fn may_fit(&self, state: &WalkState) -> bool {
        state.iter().any(|(pattern, _)| self.owners[*pattern].is_none())
    }

    /// The outcome if the text ends here: true if the text is allowed, and the denying rules that match it.
    fn outcome(&self, state: &WalkState) -> (bool, MatchingRules) {
        let ended = state.iter().filter(|(pattern, at)| *at == self.patterns[*pattern].len());
        let owners: Vec<Option<usize>> = ended.map(|(pattern, _)| self.owners[*pattern]).collect();
        (owners.contains(&None), owners.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(all: &[&str]) -> Vec<Glob> {
        all.iter().map(|glob| Glob::parse(glob).unwrap()).collect()
    }

    fn conditions(all: &[(&str, &[&str])]) -> Conditions {
        all.iter().map(|(path, all)| (ValuePath::parse(path).unwrap(), globs(all))).collect()
    }

    type Written<'a> = &'a [(&'a str, &'a [&'a str])];

    #[test]
    fn texts_between_patterns_are_found() {
        let cases: &[(Written<'_>, &[Written<'_>], bool)] = &[
            (&[("a", &["/tmp/*"])], &[&[("a", &["/tmp/secret*"])]], true),
            (&[("a", &["/tmp/*"])], &[&[("a", &["/tmp/*"])]], false),
            (&[("a", &["/tmp/x"])], &[&[("a", &["/tmp/*"])]], false),
            (&[("a", &["*"])], &[&[("a", &["?*"])]], true),
            (&[("a", &["?*"])], &[&[("a", &["?"])], &[("a", &["??*"])]], false),
            (&[("a", &["?*"])], &[&[("a", &["?", "???*"])]], true),
            (&[("a", &["x*"])], &[&[("a", &["*y"])], &[("a", &["*x"])]], true),
            (&[("a", &["x", "y"])], &[&[("a", &["x"])]], true),
            (&[("a", &["x", "y"])], &[&[("a", &["x"])], &[("a", &["y"])]], false),
            // The denied value is another argument, or nested more deeply, so it may be absent.
            (&[("a", &["x"])], &[&[("b", &["*"])]], true),
            (&[("a", &["x"])], &[&[("a.b", &["*"])]], true),
            (&[("a", &["x"])], &[&[("a", &["x"]), ("b", &["*"])]], true),
            // The denied value contains the allowed one, so it exists.
            (&[("a.b", &["x"])], &[&[("a", &["*"])]], false),
            (&[("a.b", &["x"])], &[&[("A", &["*"])]], false),
            (&[("a.b", &["x"])], &[&[("a", &["x*"])]], true),
            // Two values: a rule needs both.
            (&[("a", &["x"]), ("b", &["x"])], &[&[("a", &["x"]), ("b", &["x"])]], false),
            (&[("a", &["x"]), ("b", &["x*"])], &[&[("a", &["x"]), ("b", &["x"])]], true),
            (
                &[("a", &["?"]), ("b", &["?"])],
                &[&[("a", &["x"])], &[("b", &["x"])], &[("a", &["*"]), ("b", &["y"])]],
                true,
            ),
            (&[("a", &["?"]), ("b", &["?"])], &[&[("a", &["x"])], &[("a", &["*"]), ("b", &["?"])]], false),
        ];
        for (allowed, denied, wanted) in cases {
            let denied_conditions: Vec<Conditions> = denied.iter().map(|denied| conditions(denied)).collect();
            let denied_conditions: Vec<&Conditions> = denied_conditions.iter().collect();
            assert_eq!(
                is_reachable(&conditions(allowed), &denied_conditions),
                *wanted,
                "{allowed:?} {denied:?}"
            );
        }
    }

    #[test]
    fn a_walk_without_end_ends() {
        let many: Vec<String> = (0..64).map(|n| format!("*{}{}*{}?*", n % 7, n % 5, n % 3)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let allowed = conditions(&[("a", &["*?*"])]);
        assert!(is_reachable(&allowed, &[&conditions(&[("a", &many)])]));
    }
}
