//! Resources of one server that clients listen to: the server is asked once for all of them, and its updates go to every
//! listener. This module must not know the listeners.
//!
//! | file | is for |
//! |---|---|
//! | [`topics`] | the wanted resources, and their listeners |
//! | [`follower`] | the task that subscribes at the server |
//! | [`announcing`] | subscriptions that are sent on every link, because a server may report changes only on links that are subscribed |

pub mod announcing;
pub mod follower;
pub mod topics;

pub use topics::{ListenerGuard, NoticeReceiver, ResourceNotice, Topics};
