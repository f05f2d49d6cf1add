//! The binary `dragoman`.
fn main() {}
