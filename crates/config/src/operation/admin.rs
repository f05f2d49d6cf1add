//! `admin`: pages for operators, and who may open them.

use std::time::Duration;

use indexmap::IndexMap;

use crate::callers::auth::users;
use crate::reading::rows::section;
use crate::reading::spellings::Time;
use crate::values::text::Text;

section! {
    /// Pages at `/admin` on which operators see and change what Dragoman does. Operators can start programs with the rights of the
    /// user that runs Dragoman.
    pub struct Admin: "true, false, or a mapping with `users`, `idle` or `lifetime`" [
        /// The operators who can log in: names with argon2id hashes of passwords, never the passwords themselves. These names are
        /// independent of those in `auth.users`.
        "users" users: IndexMap<String, Text> = users(), absent "nobody; the pages open only with a one-time link";
        /// The time without a request after which an operator has to log in again.
        "idle" idle: Duration = Time { least: Duration::from_mins(1), most: Duration::from_hours(24) },
            default Duration::from_mins(30);
        /// The time after which an operator has to log in again in any case.
        "lifetime" lifetime: Duration = Time { least: Duration::from_mins(1), most: Duration::from_hours(7 * 24) },
            default Duration::from_hours(12);
    ]
}
