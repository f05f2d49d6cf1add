//! The instruction budget of a session's id, counted by valgrind: each request of a session opens its id, and `initialize` seals it.
//!
//! The documentation promises at most two microseconds for both together. Raise the limit only if you also state the reason.

// The code that the measurement macros generate is public without docs, and reads its own arguments.
#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::wildcard_imports, clippy::disallowed_methods, clippy::disallowed_types)]

use std::hint::black_box;

use dragoman_store::keyring::{Purpose, PurposeKeys, Ring};
use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};

/// The size of the facts in a session's id, in bytes.
const FACTS: usize = 58;

fn keys() -> (PurposeKeys, Vec<u8>) {
    let ring = Ring::new(&[[1; 36], [2; 36]], 0);
    let keys = ring.keys_for(Purpose::Session, 0);
    let facts = vec![7; FACTS];
    // The first use of a key prepares tables, in a process only once.
    let sealed = keys.seal(&facts, b"", [1; 12]).expect("there is a key");
    assert_eq!(keys.open(&sealed, b"").as_deref(), Some(&facts[..]));
    (keys, facts)
}

#[library_benchmark]
#[bench::session_id(args = (), setup = keys, config = LibraryBenchmarkConfig::default()
    .tool(Callgrind::default().hard_limits([(EventKind::Ir, 7_100)])).clone())]
fn seal_and_open((keys, facts): (PurposeKeys, Vec<u8>)) -> (PurposeKeys, Option<Vec<u8>>) {
    let sealed = keys.seal(black_box(&facts), b"", black_box([3; 12])).expect("there is a key");
    let opened = keys.open(black_box(&sealed), b"");
    (keys, black_box(opened))
}

library_benchmark_group!(name = budgets, benchmarks = [seal_and_open]);
main!(library_benchmark_groups = budgets);
