//! Groups and who is in them.

use super::super::{MISSING_ROLE, ROLES, caller_unless_given, promoted};
use super::{PAGE, PER_PAGE, SEARCH, USER, id};
use crate::rest::{Shape, Step, delete, fixed, get, post, put, value};
use crate::tools::{Argument, Form, Literal, Tool, flag, html, int, text, tool};

const GROUP: Argument = id("The group's number.");
const OF_GROUP: Argument = int("group_id", "The number of the group.").required();
const MEMBER: Argument = int("user_id", "The number of the member.").required();
const NAME: Argument = text("name", "The group's name.");
const ABOUT: Argument = html("description", "What the group is about.");
const STATUS: Argument =
    text("status", "Who sees the group and its members.").among(&["public", "private", "hidden"]);

pub(super) const TOOLS: &[Tool] = &[
    tool(
        "buddyboss_list_groups",
        "Lists groups.",
        &[PAGE, PER_PAGE, SEARCH, STATUS, USER, text("group_type", "Only those of this type.")],
        &[get("buddyboss", "/groups").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_get_group",
        "One group.",
        &[GROUP],
        &[get("buddyboss", "/groups/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_create_group",
        "Makes a group.",
        &[
            NAME.required(),
            ABOUT.kept(),
            STATUS.or_text("public"),
            flag("enable_forum", "Whether it has a forum.").or_flag(false),
            int("creator_id", "The number of the member who makes it; the caller when left out."),
        ],
        // The route wants a description.
        &[
            caller_unless_given!("creator_id"),
            Step::Make("about", |values| {
                let about = values.get("description").or(values.get("name"));
                Ok(about.cloned())
            }),
            post("buddyboss", "/groups").with(&[value("description", "about", Form::Plain)]).step(),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_update_group",
        "Changes a group; what is left out stays.",
        &[GROUP, NAME, ABOUT, STATUS],
        &[put("buddyboss", "/groups/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_group",
        "Removes a group; its forum stays.",
        &[GROUP],
        &[delete("buddyboss", "/groups/{id}")
            .with(&[fixed("delete_group_forum", Literal::Flag(false))])
            .step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_list_group_members",
        "Lists who is in a group.",
        &[
            OF_GROUP,
            PAGE,
            PER_PAGE,
            text("roles", "Only those of these roles, with commas.")
                .or_text("admin,mod,member")
                .form(Form::Commas),
        ],
        &[get("buddyboss", "/groups/{group_id}/members")
            .with(&[fixed("exclude_admins", Literal::Flag(false))])
            .step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_add_group_member",
        "Puts a member into a group.",
        &[OF_GROUP, MEMBER, text("role", "The member's role there.").among(&["admin", "mod", "member"])],
        // Private and hidden groups give the role at once. In public ones who joins is a plain member; the role comes afterwards.
        &[
            post("buddyboss", "/groups/{group_id}/members").binds(ROLES).step(),
            MISSING_ROLE,
            promoted!("buddyboss"),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_remove_group_member",
        "Takes a member out of a group.",
        &[OF_GROUP, MEMBER],
        &[delete("buddyboss", "/groups/{group_id}/members/{user_id}").step()],
        Shape::Whole,
    ),
];
