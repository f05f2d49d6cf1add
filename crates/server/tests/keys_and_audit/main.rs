//! API keys and the record of calls on the command line: what is made, shown, kept and refused, by processes of their own.

mod audit;
mod keyring;
mod keys;
mod run;
mod trouble;
