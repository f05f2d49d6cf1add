//! Checks of the texts that decide about access and about the meaning of messages: credentials, names of hosts,
//! dialects. The property tests of `dragoman-engine` include this file.

pub mod credentials;
pub mod dialects;
pub mod hosts;
