//! Groups and their members.

use super::super::{MISSING_ROLE, ROLES, caller_unless_given, promoted};
use super::{PAGE, PER_PAGE, SEARCH, USER, id};
use crate::community::lists::{GROUP_MEMBERS, GROUPS};
use crate::rest::{Shape, Step, delete, fixed, get, post, put, value};
use crate::tools::{Form, Literal, ToolArgument, ToolRow, flag, html, int, text, tool};

const GROUP: ToolArgument = id("ID of the group.");
const OF_GROUP: ToolArgument = int("group_id", "ID of the group.").required();
const MEMBER: ToolArgument = int("user_id", "ID of the member.").required();
const NAME: ToolArgument = text("name", "Name of the group.");
const ABOUT: ToolArgument = html("description", "Description of the group.");
const STATUS: ToolArgument =
    text("status", "Visibility of the group.").among(&["public", "private", "hidden"]);

pub(super) const TOOLS: &[ToolRow] = &[
    tool(
        "buddyboss_list_groups",
        "Returns a page of groups.",
        &[PAGE, PER_PAGE, SEARCH, STATUS, USER, text("group_type", "Return only groups of this type.")],
        &[get("buddyboss", "/groups").step()],
        GROUPS,
    ),
    tool(
        "buddyboss_get_group",
        "Returns one group.",
        &[GROUP],
        &[get("buddyboss", "/groups/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_create_group",
        "Creates a group and returns it.",
        &[
            NAME.required(),
            ABOUT.kept(),
            STATUS.or_text("public"),
            flag("enable_forum", "Create a forum for the group.").or_flag(false),
            int("creator_id", "ID of the member who creates the group. Default: the caller."),
        ],
        // The route requires a description.
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
        "Updates a group and returns it. Omitted fields keep their values.",
        &[GROUP, NAME, ABOUT, STATUS],
        &[put("buddyboss", "/groups/{id}").step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_delete_group",
        "Deletes a group and returns the result. Its forum is kept.",
        &[GROUP],
        &[delete("buddyboss", "/groups/{id}")
            .with(&[fixed("delete_group_forum", Literal::Flag(false))])
            .step()],
        Shape::Whole,
    ),
    tool(
        "buddyboss_list_group_members",
        "Returns a page of the members of a group, including its administrators.",
        &[
            OF_GROUP,
            PAGE,
            PER_PAGE,
            text("roles", "Return only members with these roles, separated by commas.")
                .or_text("admin,mod,member")
                .form(Form::Commas),
        ],
        &[get("buddyboss", "/groups/{group_id}/members")
            .with(&[fixed("exclude_admins", Literal::Flag(false))])
            .step()],
        GROUP_MEMBERS,
    ),
    tool(
        "buddyboss_add_group_member",
        "Adds a member to a group, optionally with a role, and returns the membership.",
        &[
            OF_GROUP,
            MEMBER,
            text("role", "Role of the member in the group.").among(&["admin", "mod", "member"]),
        ],
        // Private and hidden groups assign the role immediately. In public groups, a new member starts as a plain
        // member, and gets the role afterwards.
        &[
            post("buddyboss", "/groups/{group_id}/members").binds(ROLES).step(),
            MISSING_ROLE,
            promoted!("buddyboss"),
        ],
        Shape::Whole,
    ),
    tool(
        "buddyboss_remove_group_member",
        "Removes a member from a group and returns the result.",
        &[OF_GROUP, MEMBER],
        &[delete("buddyboss", "/groups/{group_id}/members/{user_id}").step()],
        Shape::Whole,
    ),
];
