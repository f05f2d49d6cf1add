//! Where the program `odd` is, for tests of other crates.

use std::{path::PathBuf, process::Command, sync::OnceLock};

/// The path of the program, which is built the first time that a test process asks, into the folder and the profile
/// of that test.
///
/// # Panics
/// When it cannot be built: then no test that needs it can run.
pub fn program() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(build).clone()
}

fn build() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    // target/<folder of the profile>/deps/<test>
    let folder = test.ancestors().nth(2).expect("a test lies two folders deep in the profile's folder");
    let target = folder.parent().expect("a profile's folder lies in the target folder");
    let profile = match folder.file_name().and_then(|name| name.to_str()).expect("profiles have plain names")
    {
        "debug" => "dev",
        other => other,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bin", "odd", "--profile", profile])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo is there when its tests run");
    assert!(status.success(), "the program `odd` does not build");
    folder.join("odd")
}
