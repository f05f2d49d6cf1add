//! The binary `dragoman`: a gateway and a server for the Model Context Protocol, and a client for the terminal. The command
//! line is in the crate `cli`, which is optimized for size rather than speed; the linker optimizes all crates at the level of
//! this one.

use transport::memory::blocks::CachingAllocator;

#[global_allocator]
static ALLOCATOR: CachingAllocator = CachingAllocator;

fn main() -> std::process::ExitCode {
    // This comes before any thread, any tuning of the allocator, and any configuration.
    #[cfg(target_os = "linux")]
    if let Some(code) = transport::child::guardian::enter() {
        return code;
    }
    cli::main()
}
