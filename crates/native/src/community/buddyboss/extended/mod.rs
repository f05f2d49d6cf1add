//! The rest of the platform's API, as tools that one phase enables.
//!
//! | file | is for |
//! |---|---|
//! | `people` | members, their pictures and accounts; registrations, friends, invitations by e-mail |
//! | `profiles` | the fields of profiles |
//! | `groups` | groups: members, invitations, requests, settings, pictures |
//! | `activity` | comments on activity, reactions, topics of activity |
//! | `talk` | messages, notifications, subscriptions, reports |
//! | `media` | albums, posters of videos, folders of documents |
//! | `forums` | topics and replies of forums |
//! | `site` | the platform itself |
//! | `rows` | the notation of these tools as rows |

mod activity;
mod forums;
mod groups;
mod media;
mod people;
mod profiles;
mod rows;
mod site;
mod talk;

use super::EXTENDED;
use crate::tools::ToolRow;
use rows::{PAGE, PER_PAGE, PICTURE, SEARCH, rows, upload};

/// The tables, in the order of the list.
pub(super) const TABLES: &[&[ToolRow]] = &[
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
