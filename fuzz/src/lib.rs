//! Properties of Dragoman's parsers that must hold for every input.
//!
//! Each module contains the properties as functions that panic if a property is violated, and a function `fuzz` that
//! makes the arguments of these functions from the fuzzer's bytes. The property tests of each crate include the folder
//! about that crate, and call the same functions with arguments of their own.
//!
//! | module | is about | whose tests include it |
//! |---|---|---|
//! | `wire` | streams, headers, JSON | `dragoman-proto` |
//! | `entrance` | credentials, names of hosts, messages of dialects | `dragoman-engine` |
//! | `content` | challenges, URI templates, arguments with secrets, schemas | `dragoman-engine` |
//! | `http1` | answers and requests in HTTP/1.1 | `dragoman-transport` |
//! | `keys` | texts of API keys | none; the tests of `dragoman-store` cover more |

pub mod content;
pub mod entrance;
pub mod http1;
pub mod keys;
pub mod wire;
