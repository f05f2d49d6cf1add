//! The operators' pages, and who may open them. These tests use the whole binary, over real sockets.
//!
//! | file | is for |
//! |---|---|
//! | `browser` | a browser that keeps cookies and sends forms |
//! | `opening` | the ways that lead to a page |
//! | `attacks` | the ways that must not |
//! | `pages` | the pages and their forms |
//! | `forms` | what forms change |
//! | `callers` | callers by the names of their keys |
//! | `reasons` | recorded reasons of calls; requests that were turned away |

#[path = "../support/mod.rs"]
mod support;

mod attacks;
mod browser;
mod callers;
mod forms;
mod opening;
mod pages;
mod reasons;
