//! The markup of WordPress content, and the markup that a rewrite would lose: blocks whose text remains without their
//! comments, shortcodes or dynamic blocks that their rendering would replace, and lost attributes. Every file except `guard` is pure,
//! and must not know requests or tools.
//!
//! | file | is for |
//! |---|---|
//! | `blocks` | block comments, and the tree that they form |
//! | `shortcodes` | shortcodes in a text |
//! | `tokens` | words and attribute values of HTML, for comparing two texts |
//! | `guard` | the check of current content before it is changed |
//! | `loss` | markup of one text that the next text turns into plain HTML |
//! | `stripped` | blocks and shortcodes of one text that the next text keeps without their attributes |

mod blocks;
mod guard;
mod loss;
mod shortcodes;
mod stripped;
mod tokens;

#[cfg(test)]
mod tests;

pub(crate) use guard::keeps;
pub(super) use guard::keeps_markup;
#[cfg(test)]
use loss::markup_loss;
