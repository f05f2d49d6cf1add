//! Linker settings for the binary. This module must not know what the binary does.

use std::env;
use std::process::Command;

/// The first version of glibc that loads a program with packed relocations.
const PACKED_SINCE: (u32, u32) = (2, 36);

/// Set if the program is for other machines, whose C library is older.
const PORTABLE: &str = "DRAGOMAN_PORTABLE";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PORTABLE}");
    let target = |what: &str| env::var(what).unwrap_or_default();
    let is_native = target("HOST") == target("TARGET") && env::var_os(PORTABLE).is_none();
    let has_glibc = target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_native && has_glibc && glibc().is_some_and(|version| version >= PACKED_SINCE) {
        // At each start, half a megabyte of relocations would be read otherwise; packed, they take a few kilobytes.
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Returns the version of this machine's C library, as `getconf` prints it: `glibc 2.36`.
#[expect(clippy::disallowed_methods, reason = "the supervisor of children is not there while it is built")]
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
