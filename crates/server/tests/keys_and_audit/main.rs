//! API keys and the record of calls on the command line: creating, listing, keeping and refusing them, by separate
//! processes.

mod audit;
mod keyring;
mod keys;
mod run;
mod trouble;
