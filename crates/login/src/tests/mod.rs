//! Whole sign-ins, with a simulated site and a browser that follows redirects.

mod attacks;
mod endings;
mod flow;
mod shared;
mod stage;
