//! The rest of the platform's API, as tools that are switched on as a phase.
//!
//! | file | is for |
//! |---|---|
//! | `people` | members, their pictures and accounts; registrations, friends, invitations by e-mail |
//! | `profiles` | what profiles consist of |
//! | `groups` | groups: who is in them, invitations, requests, settings, pictures |
//! | `activity` | comments on activity, reactions, topics that activity can be about |
//! | `talk` | messages, notifications, subscriptions, reports |
//! | `media` | albums, posters of videos, folders of documents |
//! | `forums` | topics and replies of forums |
//! | `site` | the platform itself |

mod activity;
mod forums;
mod groups;
mod media;
mod people;
mod profiles;
mod site;
mod talk;

use super::{EXTENDED, PAGE, PER_PAGE, SEARCH};
use crate::rest::{Shape, Step};
use crate::tools::{Argument, Tool, raw, tool};

/// The tables, in the order of the list.
pub(super) const TABLES: &[&[Tool]] = &[
    people::TOOLS,
    people::FRIENDS,
    people::SIGNUPS,
    people::PICTURES,
    profiles::TOOLS,
    groups::TOOLS,
    groups::PICTURES,
    activity::TOOLS,
    activity::COMMENTS,
    talk::TOOLS,
    talk::TOGGLES,
    media::TOOLS,
    media::PICTURES,
    forums::TOOLS,
    forums::TOGGLES,
    site::TOOLS,
    site::SETTINGS,
];

const PICTURE: Argument =
    raw("file", "The picture: in base64, as a data URL, or its public URL.").required().kept();

const fn upload(
    name: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
) -> Tool {
    tool(name, about, arguments, steps, Shape::Whole).phase(EXTENDED)
}

/// Tools as lines: a name, what it does, its arguments; then the request, and under which name the account that asks goes along
/// when a call names nobody.
macro_rules! rows {
    ($($name:literal, $about:literal, $arguments:expr; $verb:ident $route:literal $(as $who:literal)?;)*) => {
        &[$($crate::tools::tool(
            $name,
            $about,
            &$arguments,
            &[
                $($crate::community::caller_unless_given!($who),)?
                $crate::rest::$verb("buddyboss", $route).step(),
            ],
            $crate::rest::Shape::Whole,
        )
        .phase($crate::community::buddyboss::EXTENDED)),*]
    };
}
use rows;
