//! The configuration file and the state folder of this run: found, read and edited. This module must not know any command.
//!
//! | file | is for |
//! |---|---|
//! | [`settings`] | the configuration: finding it, reading it, `${…}` |
//! | [`config_file`], [`text_file`] | the configuration file as a text to be edited; any text file that is edited as a whole |
//! | [`changed_lines`], [`confirmation`] | the lines that an edit changed; questions before something is written |
//! | [`state`] | the state folder, and messages for its errors |

pub(crate) mod changed_lines;
pub(crate) mod config_file;
pub(crate) mod confirmation;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod text_file;
