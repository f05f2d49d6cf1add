//! Parses credentials in requests without verifying them: no code here determines their owner.
//!
//! Pure: bytes in, values out; secrets never print themselves. This module must not know what a credential gives access
//! to.
//!
//! | file | is for |
//! |---|---|
//! | `authorization` | the `Authorization` header: the schemes `Basic` and `Bearer` |
//! | `token` | the three parts of a signed token |
//! | `claims` | the required claims of a token: time, audience, subject |
//! | `carried` | credentials in headers for a site behind embedded servers |
//! | [`challenge`] | challenges in `WWW-Authenticate` |

pub mod authorization;
mod carried;
pub mod challenge;
pub mod claims;
mod token;

pub use authorization::{Basic, ShownCredential};
pub use carried::{Account, Carried};
pub use token::Token;
