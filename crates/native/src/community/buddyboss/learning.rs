//! Forums, and the courses of `LearnDash`.

use super::{ADVANCED, PAGE, PER_PAGE, SEARCH, id};
use crate::rest::{Shape, Step, get, post};
use crate::tools::{Argument, Effect, Form, Tool, html, int, text, tool};

const AUTHOR: Argument = int("author_id", "The number of the member who writes; the caller when left out.");
const COURSE: Argument = int("course_id", "The course's number.").required();
const MEMBER: Argument = int("user_id", "The member's number.").required();

const fn row(
    name: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
) -> Tool {
    tool(name, about, arguments, steps, Shape::Whole).phase(ADVANCED)
}

pub(super) const TOOLS: &[Tool] = &[
    row(
        "buddyboss_list_forums",
        "Lists forums.",
        &[PAGE, PER_PAGE, SEARCH, int("parent", "Only those below the forum of this number.")],
        &[get("buddyboss", "/forums").step()],
    ),
    row(
        "buddyboss_get_forum",
        "One forum.",
        &[id("The forum's number.")],
        &[get("buddyboss", "/forums/{id}").step()],
    ),
    row(
        "buddyboss_create_topic",
        "Opens a topic in a forum.",
        &[
            int("forum_id", "The forum's number.").required().called("parent"),
            text("title", "The title.").required(),
            html("content", "What it says.").required(),
            AUTHOR,
        ],
        &[post("buddyboss", "/topics").step()],
    ),
    row(
        "buddyboss_get_topic",
        "One topic.",
        &[id("The topic's number.")],
        &[get("buddyboss", "/topics/{id}").step()],
    ),
    row(
        "buddyboss_create_reply",
        "Replies to a topic.",
        &[
            int("topic_id", "The topic's number.").required(),
            html("content", "What it says.").required(),
            AUTHOR,
            int("reply_to", "The number of the reply that is answered."),
        ],
        &[post("buddyboss", "/reply").step()],
    ),
    row(
        "buddyboss_list_replies",
        "Lists the replies to a topic.",
        &[int("topic_id", "The topic's number.").required().called("parent"), PAGE, PER_PAGE],
        &[get("buddyboss", "/reply").step()],
    ),
    row(
        "buddyboss_list_courses",
        "Lists courses.",
        &[
            PAGE,
            PER_PAGE,
            SEARCH,
            int("category", "Only those of the category with this number.").called("ld_course_category"),
        ],
        &[get("learndash", "/sfwd-courses").step()],
    ),
    row(
        "buddyboss_get_course",
        "One course.",
        &[id("The course's number.")],
        &[get("learndash", "/sfwd-courses/{id}").step()],
    ),
    row(
        "buddyboss_enroll_user",
        "Puts a member into a course.",
        &[COURSE, MEMBER.called("user_ids").form(Form::Single)],
        &[post("learndash", "/sfwd-courses/{course_id}/users").step()],
    )
    .effect(Effect::Changes),
    row(
        "buddyboss_get_course_progress",
        "How far a member is in a course.",
        &[COURSE, MEMBER],
        &[get("learndash", "/users/{user_id}/course-progress/{course_id}").step()],
    ),
];
