//! Names of phases, and arguments that many of these tools take. They must not know a tool.

use crate::tools::{Argument, int, text};

pub(super) const BUDDYBOSS: &str = "buddyboss";
pub(super) const ADVANCED: &str = "advanced";
pub(super) const EXTENDED: &str = "extended";

pub(super) const PAGE: Argument = int("page", "Which page of the list.").or_int(1).least(1);
pub(super) const PER_PAGE: Argument = int("per_page", "How many on a page.").or_int(20).least(1).most(100);
pub(super) const SEARCH: Argument = text("search", "Only those that have this text.");
pub(super) const USER: Argument = int("user_id", "The number of the member.");
pub(super) const GROUP: Argument = int("group_id", "The number of the group.");

pub(super) const fn id(about: &'static str) -> Argument {
    int("id", about).required()
}
