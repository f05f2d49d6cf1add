//! The forms of input schemas that families of clients accept. Many clients refuse a whole list because of one schema.
//!
//! ```text
//!  a tool's input schema ─► lint ─► findings, for people
//!                            └────► suit ─► the same bytes, or the schema in the form of a family
//! ```
//!
//! A rewritten schema accepts everything that the original accepts, and more: models see fewer constraints, and no wrong ones.
//! Calls are still checked against the original. This module must not know tools, servers or views.
//!
//! | file | concern |
//! |---|---|
//! | `family` | the families, as rows |
//! | `rule` | the rules that findings name |
//! | `keywords` | the keywords of JSON Schema: positions of schemas, well-formed values |
//! | `document` | references inside one schema; bounds |
//! | `lint`, `lint_fields`, `lint_keywords` | the rules, applied to a schema |
//! | `conjunction` | a schema together with its references and `allOf` |
//! | `root` | the alternatives at the root, merged |
//! | `fields`, `typed`, `alternatives`, `phrases` | the form with a fixed set of fields |
//! | `schemas`, `well_formed`, `one_type`, `tuples` | the form that is JSON Schema |
//! | `suit` | the conversion of a schema, from bytes to bytes |

mod alternatives;
mod conjunction;
mod document;
mod family;
mod fields;
mod keywords;
mod lint;
mod lint_fields;
mod lint_keywords;
mod one_type;
mod phrases;
mod root;
mod rule;
mod schemas;
mod suit;
mod tuples;
mod typed;
mod well_formed;

#[cfg(test)]
mod tests;

pub use family::SchemaFamily;
pub use lint::{SchemaFinding, lint, lint_name};
pub use rule::SchemaRule;
pub use suit::{FamilySchema, suit};
