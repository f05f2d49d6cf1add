//! The markup of WordPress content, and what a rewrite of it would lose: blocks whose text stays without their comments,
//! and shortcodes or dynamic blocks in whose place their rendering would stand. All but `guard` is pure, and must not know
//! requests or tools.
//!
//! | file | is for |
//! |---|---|
//! | `blocks` | block comments, and the tree that they make |
//! | `shortcodes` | shortcodes in a text |
//! | `tokens` | words and attribute values of HTML, to compare two texts by |
//! | `guard` | the look at current content before it is changed |
//! | `loss` | what one text has that the next one turns into plain HTML |

mod blocks;
mod guard;
mod loss;
mod shortcodes;
mod tokens;

#[cfg(test)]
mod tests;

pub(super) use guard::keeps_markup;
#[cfg(test)]
use loss::markup_loss;
