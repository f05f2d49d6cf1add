//! Who asks, and how often. It must not know what is asked for, beyond its name.
//!
//! | file | is for |
//! |---|---|
//! | [`identity`] | who asks, as the door found out |
//! | [`client_label`] | the texts under which the record of calls has a client |
//! | [`rates`], `refusals` | how often requests may come, and what the log says of those that came too soon |

pub(crate) mod client_label;
pub(crate) mod identity;
pub(crate) mod rates;
mod refusals;

pub(crate) use identity::Identity;
