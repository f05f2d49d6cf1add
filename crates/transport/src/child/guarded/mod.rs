//! The gateway's side of guarded children: starting the guardian, starting servers through it, hearing of their ends, and
//! reaping what nobody else does. Linux only. It must not know the other processes' side beyond their messages.

mod adopted;
mod held;
mod launcher;
mod packets;

pub(super) use adopted::{Reaper, forget_child, own_child};
pub(super) use held::HeldServer;
pub(super) use launcher::Launcher;
