//! An index of URI templates by the text before their first expression. A URI is compared only with templates that
//! have the same beginning, and only within a budget, because both are untrusted input. This module must not know
//! whose templates they are.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::template::{MAX_EXPRESSIONS, MAX_URI, covers};

/// The budget for a list of a server.
const OF_LIST: usize = 1 << 24;

/// The budget for a message.
const OF_MESSAGE: usize = 1 << 23;

/// The cost of each template that has the same beginning as a URI, charged before the comparison.
const CANDIDATE: usize = 64;

/// Anything that has a URI template.
pub(super) trait HasTemplate {
    /// The template.
    fn template(&self) -> &str;
}

impl HasTemplate for &str {
    fn template(&self) -> &str {
        self
    }
}

/// The remaining budget for comparisons, in bytes. A comparison costs the URI's length times the number of expressions in the
/// template, plus the template's length. Finding the templates to compare also has a cost.
#[derive(Debug)]
pub(super) struct ComparisonBudget(usize);

/// The error that is returned if the budget does not suffice to compare a URI with all templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BudgetExhausted;

impl ComparisonBudget {
    /// The budget for the decisions about one list of one server.
    pub(super) const fn of_list() -> Self {
        Self(OF_LIST)
    }

    /// The budget for one message, or one request.
    pub(super) const fn of_message() -> Self {
        Self(OF_MESSAGE)
    }

    /// Spends a part of the budget. Once a comparison was too expensive, nothing is left for others.
    fn spend(&mut self, cost: usize) -> Result<(), BudgetExhausted> {
        let is_enough = self.0 >= cost;
        self.0 = self.0.saturating_sub(cost);
        if is_enough { Ok(()) } else { Err(BudgetExhausted) }
    }
}

/// The position of a template in a list, and the number of its expressions.
type Indexed = (usize, usize);

/// Templates in order, with an index for finding those that match a URI.
#[derive(Debug)]
pub(super) struct TemplateIndex<T> {
    templates: Vec<T>,
    /// The templates by the text before the first expression.
    by_head: BTreeMap<Box<str>, Vec<Indexed>>,
}

impl<T: HasTemplate> TemplateIndex<T> {
    /// Creates the index of these templates.
    pub(super) fn new(templates: Vec<T>) -> Self {
        let mut by_head: BTreeMap<Box<str>, Vec<Indexed>> = BTreeMap::new();
        for (at, one) in templates.iter().enumerate() {
            let (text, expressions) = (one.template(), one.template().matches('{').count());
            // A template with more expressions matches nothing.
            if expressions <= MAX_EXPRESSIONS {
                let head = text.split('{').next().unwrap_or_default();
                by_head.entry(head.into()).or_default().push((at, expressions));
            }
        }
        Self { templates, by_head }
    }

    /// All templates, in order.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.templates.iter()
    }

    /// The number of templates.
    pub(super) fn len(&self) -> usize {
        self.templates.len()
    }

    /// Returns true if there are no templates.
    pub(super) fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    /// The first template that matches a URI among those for which `is_candidate` is true.
    ///
    /// # Errors
    /// Returns [`BudgetExhausted`] if not all of these templates could be compared.
    pub(super) fn find(
        &self,
        uri: &str,
        budget: &mut ComparisonBudget,
        mut is_candidate: impl FnMut(&T) -> bool,
    ) -> Result<Option<&T>, BudgetExhausted> {
        if uri.len() > MAX_URI {
            return Ok(None);
        }
        for (at, expressions) in self.beginning_like(uri, budget)? {
            let one = &self.templates[at];
            if !is_candidate(one) {
                continue;
            }
            budget.spend(one.template().len() + uri.len() * expressions)?;
            if covers(one.template(), uri) {
                return Ok(Some(one));
            }
        }
        Ok(None)
    }

    /// The templates whose text before the first expression is a prefix of the URI, in order.
    fn beginning_like(
        &self,
        uri: &str,
        budget: &mut ComparisonBudget,
    ) -> Result<Vec<Indexed>, BudgetExhausted> {
        let mut all = Vec::new();
        let mut limit = Bound::Included(uri);
        // The heads are visited from the longest to the shortest. No head that belongs to the URI is between a head that does not
        // belong to it and the part that both have in common.
        while let Some((head, here)) = self.by_head.range::<str, _>((Bound::Unbounded, limit)).next_back() {
            budget.spend(1 + head.len())?;
            if uri.starts_with(&**head) {
                budget.spend(CANDIDATE * here.len())?;
                all.extend_from_slice(here);
                limit = Bound::Excluded(&uri[..head.len()]);
            } else {
                limit = Bound::Included(common(uri, head));
            }
        }
        all.sort_unstable();
        Ok(all)
    }
}

/// The longest common prefix of two texts.
fn common<'t>(one: &'t str, other: &str) -> &'t str {
    let length = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    &one[..one.floor_char_boundary(length)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(index: &TemplateIndex<&str>, uri: &str) -> Result<Option<usize>, BudgetExhausted> {
        let found = index.find(uri, &mut ComparisonBudget::of_message(), |_| true)?;
        Ok(found.and_then(|found| index.iter().position(|one| std::ptr::eq(one, found))))
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_comparison_with_all_finds(
            templates in prop::collection::vec("[aäö]{0,3}(\\{\\+?x\\}[aö]?){0,2}", 0..12),
            uri in "[aäö]{0,5}",
        ) {
            let texts: Vec<&str> = templates.iter().map(String::as_str).collect();
            let wanted = texts.iter().position(|template| covers(template, &uri));
            prop_assert_eq!(found(&TemplateIndex::new(texts), &uri), Ok(wanted));
        }
    }

    #[test]
    fn only_candidates_count() {
        let index = TemplateIndex::new(vec!["x://{a}", "x://{b}"]);
        let found = index.find("x://1", &mut ComparisonBudget::of_message(), |one| *one != "x://{a}");
        assert_eq!(found, Ok(Some(&"x://{b}")));
    }

    /// One expensive URI leaves no budget for others; templates with another beginning cost nothing.
    #[test]
    fn hostile_templates_exhaust_the_budget_at_once() {
        let templates: Vec<String> =
            (0..10_000).map(|at| format!("u:/{{a}}{{b}}{{c}}{{d}}{{e}}{{f}}{{g}}x{{h}}{at}")).collect();
        let index = TemplateIndex::new(templates.iter().map(String::as_str).collect());
        let (long, mut budget) = (format!("u:/{}", "a".repeat(8000)), ComparisonBudget::of_message());
        assert_eq!(index.find(&long, &mut budget, |_| true), Err(BudgetExhausted));
        assert_eq!(index.find("u:/a", &mut budget, |_| true), Err(BudgetExhausted));
        let mut budget = ComparisonBudget::of_message();
        for _ in 0..10_000 {
            assert_eq!(index.find("v:/a", &mut budget, |_| true), Ok(None));
        }
    }

    /// Templates with heads of all lengths, none of which is a prefix of the URI.
    #[test]
    fn heads_that_do_not_belong_to_a_uri_are_left_out() {
        let heads: Vec<String> = (0..200).map(|length| format!("{}0{{x}}", "a".repeat(length))).collect();
        let mut templates: Vec<&str> = heads.iter().map(String::as_str).collect();
        let uri = "a".repeat(300);
        assert_eq!(found(&TemplateIndex::new(templates.clone()), &uri), Ok(None));
        templates.push("aa{x}");
        assert_eq!(found(&TemplateIndex::new(templates), &uri), Ok(Some(200)));
    }
}
