#![no_main]
#![allow(missing_docs)]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    dragoman_fuzz::entrance::credentials::fuzz(input);
    dragoman_fuzz::entrance::hosts::fuzz(input);
    dragoman_fuzz::keys::fuzz(input);
});
