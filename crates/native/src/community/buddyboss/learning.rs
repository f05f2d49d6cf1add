//! Forums, and the courses of `LearnDash`.

use super::{ADVANCED, PAGE, PER_PAGE, SEARCH, id};
use crate::community::lists::{COURSES, FORUMS, REPLIES};
use crate::rest::{Shape, Step, get, post};
use crate::tools::{Effect, Form, ToolArgument, ToolRow, html, int, text, tool};

const AUTHOR: ToolArgument = int("author_id", "ID of the author. Default: the caller.");
const COURSE: ToolArgument = int("course_id", "ID of the course.").required();
const MEMBER: ToolArgument = int("user_id", "ID of the member.").required();

const fn row(
    name: &'static str,
    about: &'static str,
    arguments: &'static [ToolArgument],
    steps: &'static [Step],
) -> ToolRow {
    tool(name, about, arguments, steps, Shape::Whole).phase(ADVANCED)
}

pub(super) const TOOLS: &[ToolRow] = &[
    row(
        "buddyboss_list_forums",
        "Returns a page of forums.",
        &[PAGE, PER_PAGE, SEARCH, int("parent", "Return only children of the forum with this ID.")],
        &[get("buddyboss", "/forums").step()],
    )
    .shown(FORUMS),
    row(
        "buddyboss_get_forum",
        "Returns one forum.",
        &[id("ID of the forum.")],
        &[get("buddyboss", "/forums/{id}").step()],
    ),
    row(
        "buddyboss_create_topic",
        "Creates a topic in a forum and returns it.",
        &[
            int("forum_id", "ID of the forum.").required().called("parent"),
            text("title", "Title.").required(),
            html("content", "Content.").required(),
            AUTHOR,
        ],
        &[post("buddyboss", "/topics").step()],
    ),
    row(
        "buddyboss_get_topic",
        "Returns one forum topic.",
        &[id("ID of the topic.")],
        &[get("buddyboss", "/topics/{id}").step()],
    ),
    row(
        "buddyboss_create_reply",
        "Creates a reply to a forum topic and returns it.",
        &[
            int("topic_id", "ID of the topic.").required(),
            html("content", "Content.").required(),
            AUTHOR,
            int("reply_to", "ID of the reply to answer."),
        ],
        &[post("buddyboss", "/reply").step()],
    ),
    row(
        "buddyboss_list_replies",
        "Returns a page of the replies to a forum topic.",
        &[int("topic_id", "ID of the topic.").required().called("parent"), PAGE, PER_PAGE],
        &[get("buddyboss", "/reply").step()],
    )
    .shown(REPLIES),
    row(
        "buddyboss_list_courses",
        "Returns a page of LearnDash courses.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            int("category", "Return only courses in the category with this ID.").called("ld_course_category"),
        ],
        &[get("learndash", "/sfwd-courses").step()],
    )
    .shown(COURSES),
    row(
        "buddyboss_get_course",
        "Returns one LearnDash course.",
        &[id("ID of the course.")],
        &[get("learndash", "/sfwd-courses/{id}").step()],
    ),
    row(
        "buddyboss_enroll_user",
        "Enrolls a member in a LearnDash course and returns the result.",
        &[COURSE, MEMBER.called("user_ids").form(Form::Single)],
        &[post("learndash", "/sfwd-courses/{course_id}/users").step()],
    )
    .effect(Effect::Changes),
    row(
        "buddyboss_get_course_progress",
        "Returns a member's progress in a LearnDash course.",
        &[COURSE, MEMBER],
        &[get("learndash", "/users/{user_id}/course-progress/{course_id}").step()],
    ),
];
