//! Caps on memory and processes, for a child and all processes that it starts.

use super::*;
use crate::child::{CapUse, ChildCaps, Exit};

const MIB: u64 = 1 << 20;

/// Runs a script under these caps until it ends without being asked to.
async fn ends(script: &str, caps: ChildCaps) -> Exit {
    let spec = Spec { caps, ..Spec::new("sh").arg("-c").arg(script) };
    let (_supervisor, child) = start(&spec, Limits::default()).await;
    let exit = within(child.handle().gone()).await;
    assert!(!exit.asked, "{exit}");
    exit
}

fn memory(mib: u64) -> ChildCaps {
    ChildCaps { memory: Some(mib * MIB), processes: None }
}

#[tokio::test]
async fn a_tree_with_too_many_processes_ends() {
    let caps = ChildCaps { memory: None, processes: Some(4) };
    let exit = ends("for i in 1 2 3 4 5 6; do sleep 60 & done; wait", caps).await;
    assert!(matches!(exit.cap, Some(CapUse::Processes { used: 5..=7, most: 4 })), "{exit}");
    assert!(exit.to_string().contains("processes, but `maxProcesses` allows 4"), "{exit}");
    let exit = ends("sleep 0.1 & sleep 0.1 & wait; exit 3", caps).await;
    assert_eq!(exit.cap, None, "three are fewer");
}

#[tokio::test]
async fn a_process_gets_no_more_memory_than_it_may_have() {
    let exit = ends("head -c 200000000 /dev/zero | tail -c 150000000 > /dev/null", memory(64)).await;
    assert!(!exit.status.unwrap().success(), "{exit}");
    assert!(
        matches!(exit.cap, Some(CapUse::Memory { most, used }) if most == 64 * MIB && used <= most),
        "{exit}"
    );
    assert!(exit.to_string().contains("of the 64 MiB of memory that `maxMemory` allows"), "{exit}");
    let exit = ends("head -c 20000000 /dev/zero | tail -c 15000000 > /dev/null", memory(64)).await;
    assert!(exit.status.unwrap().success() && exit.cap.is_none(), "{exit}");
}

#[tokio::test]
async fn a_tree_that_uses_too_much_memory_ends() {
    // Each of the processes may use the memory that it uses here.
    let one = "{ head -c 40000000 /dev/zero; sleep 60; } | tail -c 30000000 > /dev/null &";
    let exit = ends(&format!("{one} {one} {one} {one} wait"), memory(64)).await;
    assert!(matches!(exit.cap, Some(CapUse::Memory { most, used }) if used > most), "{exit}");
    assert!(exit.to_string().contains("but `maxMemory` allows 64 MiB"), "{exit}");
}
