//! The search over a profile's tools, and the two tools by which clients use it: `find_tools` and `call_tool`.
//!
//! Pure. This module must not know upstreams, views, or who asks: a view indexes only the tools that its clients may call.
//!
//! | file | is for |
//! |---|---|
//! | `words`, `synonyms` | the words of names and texts, and words of nearly the same meaning |
//! | `fields` | the texts of a tool by which it is found |
//! | `index`, `ranking` | the index, and the search in it |
//! | `own_tools` | the definitions of the two tools, and the answers of `find_tools` |
//! | `inner_call` | the call inside a call of `call_tool` |

mod fields;
mod index;
mod inner_call;
mod own_tools;
mod ranking;
mod synonyms;
mod words;

#[cfg(test)]
mod tests;

pub use fields::ToolText;
pub use index::ToolIndex;
pub use inner_call::{inner_call, inner_name};
pub use own_tools::{CALL_TOOL, FIND_TOOLS, FindTools, FoundTool, OWN_TOOLS, Searchable, found_text};
