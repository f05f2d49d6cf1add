//! Names of phases, and arguments that many of these tools take. This module must not know any tool.

use crate::tools::{ToolArgument, int, text};

pub(super) const BUDDYBOSS: &str = "buddyboss";
pub(super) const ADVANCED: &str = "advanced";
pub(super) const EXTENDED: &str = "extended";

pub(super) const PAGE: ToolArgument = int("page", "Page number.").or_int(1).least(1);
pub(super) const PER_PAGE: ToolArgument =
    int("per_page", "Number of items per page.").or_int(20).least(1).most(100);
pub(super) const SEARCH: ToolArgument = text("search", "Return only items that contain this text.");
pub(super) const USER: ToolArgument = int("user_id", "ID of the member.");
pub(super) const GROUP: ToolArgument = int("group_id", "ID of the group.");

pub(super) const fn id(about: &'static str) -> ToolArgument {
    int("id", about).required()
}
