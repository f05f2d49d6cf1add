//! Tests of every method of authentication, with the time as an argument: first attacks, then what must work.

mod basics;
mod compares;
mod fetching;
mod forged;
mod headers;
mod rig;
mod rotation;
mod secrets;
mod settings;
mod signer;
mod site;
mod stored_keys;
mod users;
mod wire;
