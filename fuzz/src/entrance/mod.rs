//! What decides who comes in and what a message means: credentials, names of hosts, dialects. The property tests of
//! `dragoman-engine` include this file.

pub mod credentials;
pub mod dialects;
pub mod hosts;
