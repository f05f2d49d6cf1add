//! Credentials as a request shows them, taken apart and not believed: nothing here says whose they are.
//!
//! Pure: bytes in, values out; what is secret does not print itself. It must not know what a credential opens.
//!
//! | file | is for |
//! |---|---|
//! | `authorization` | the header `Authorization`: the schemes `Basic` and `Bearer` |
//! | `token` | the three parts of a signed token |
//! | `claims` | what a token must say of time, audience, subject |
//! | `carried` | what headers carry for a site behind the tools |
//! | [`challenge`] | what a server says in `WWW-Authenticate` |

pub mod authorization;
mod carried;
pub mod challenge;
pub mod claims;
mod token;

pub use authorization::{Basic, Shown};
pub use carried::{Account, Carried};
pub use token::Token;
