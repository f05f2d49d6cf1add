//! What must hold for Dragoman's parsers, whatever they are fed.
//!
//! Each module has properties as functions that panic when they are violated, and `fuzz`, which makes their arguments out
//! of the fuzzer's bytes. The property tests of the crates include the folder that is about them, and call the same
//! functions with arguments of their own.
//!
//! | module | is about | whose tests include it |
//! |---|---|---|
//! | `wire` | streams, headers, JSON | `dragoman-proto` |
//! | `entrance` | credentials, names of hosts, messages of dialects | `dragoman-engine` |
//! | `content` | challenges, URI templates, arguments with secrets, schemas | `dragoman-engine` |
//! | `http1` | answers and requests in HTTP/1.1 | `dragoman-transport` |
//! | `keys` | texts of API keys | none; the tests of `dragoman-store` hold more |

pub mod content;
pub mod entrance;
pub mod http1;
pub mod keys;
pub mod wire;
