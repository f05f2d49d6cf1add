//! Answers and requests in HTTP/1.1, as bytes. The property tests of `dragoman-transport` include this folder.

pub mod answers;
pub mod reference;
pub mod requests;

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    let [first, rest @ ..] = input else { return };
    if first % 4 == 3 { requests::fuzz(rest) } else { answers::fuzz(rest) }
}
