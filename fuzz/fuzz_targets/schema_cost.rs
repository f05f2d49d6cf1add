#![no_main]
#![allow(missing_docs)]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dragoman_fuzz::content::schema_cost::fuzz(input));
