//! Instruction budgets, counted by valgrind, so a run on a busy machine gives the same result as one on an idle
//! machine.
//!
//! The documentation promises at most 60 000 instructions per call. All limits are a little above the measured counts,
//! so that a regression shows. Raise a limit only if you also state the reason.

// The code that the measurement macros generate is public without docs, and reads its own arguments.
#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::wildcard_imports, clippy::disallowed_methods, clippy::disallowed_types)]

mod workload;

use std::hint::black_box;

use bytes::Bytes;
use dragoman_engine::exchange::ExchangeAnswer;
use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use proto::codec::sse::{SseDecoder, SseEvent};
use proto::json::{MAX_DEPTH, Scanner};
use workload::{Call, List, Search, event, prose, records};

/// A limit on the number of instructions; a measurement above it fails.
fn at_most(instructions: u64) -> LibraryBenchmarkConfig {
    LibraryBenchmarkConfig::default()
        .tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]))
        .clone()
}

#[library_benchmark]
#[bench::in_session(args = (), setup = Call::in_session, config = at_most(29_000))]
#[bench::stateless(args = (), setup = Call::stateless, config = at_most(36_000))]
fn tools_call(call: Call) -> ExchangeAnswer {
    black_box(black_box(call).make())
}

// The length of the list does not matter: the list is built once, and each client gets the same bytes.
#[library_benchmark]
#[bench::of_1000_tools(args = (), setup = List::of_1000_tools, config = at_most(5_400))]
fn tools_list(list: List) -> Vec<Bytes> {
    black_box(black_box(list).answer())
}

// At most 1 ms of server time for a search: this is about a fifth of it.
#[library_benchmark]
#[bench::of_1000_tools(args = (), setup = Search::of_1000_tools, config = at_most(590_000))]
fn find_tools(search: Search) -> Bytes {
    black_box(black_box(search).answer())
}

#[library_benchmark]
#[bench::records(args = (), setup = records, config = at_most(365_000))]
#[bench::prose(args = (), setup = prose, config = at_most(23_000))]
fn scan(text: String) -> String {
    Scanner::new(black_box(text.as_bytes()), MAX_DEPTH)
        .and_then(|scanner| black_box(scanner.document()))
        .expect("it is JSON");
    text
}

fn decoder() -> (SseDecoder, Bytes) {
    (SseDecoder::new(1 << 20), event())
}

#[library_benchmark]
#[bench::event(args = (), setup = decoder, config = at_most(2_400))]
fn event_stream((mut decoder, chunk): (SseDecoder, Bytes)) -> (SseDecoder, SseEvent) {
    decoder.push(black_box(chunk));
    let event = decoder.next_event().expect("it is whole").expect("it is short enough");
    (decoder, black_box(event))
}

library_benchmark_group!(
    name = budgets,
    benchmarks = [tools_call, tools_list, find_tools, scan, event_stream]
);
main!(library_benchmark_groups = budgets);
