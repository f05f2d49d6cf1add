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
//! | `rows` | how they are written |

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
