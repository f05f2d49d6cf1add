//! The gateway's side of guarded children: starting the guardian, starting servers through it, receiving reports of
//! their ends, and reaping the processes that no other code reaps. Linux only. This module must not know anything
//! about the other processes except their messages.

mod adopted;
mod held;
mod launcher;
mod packets;

pub(super) use adopted::{Reaper, forget_child, own_child};
pub(super) use held::HeldServer;
pub(super) use launcher::Launcher;
