//! The paths of this crate's programs, for tests of other crates.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The variable that names a folder with freshly built programs, so that no test has to build them.
const BUILT: &str = "DRAGOMAN_TEST_PROGRAMS";

/// The path of the program `name`. If `DRAGOMAN_TEST_PROGRAMS` names a folder, the program is in that folder.
/// Otherwise, it is built into the target folder of the calling test, with the same profile.
///
/// # Panics
/// Panics if the program cannot be built, because no test that needs it can run then.
pub(crate) fn program(name: &str) -> PathBuf {
    env::var_os(BUILT).map_or_else(|| build(name), |folder| Path::new(&folder).join(name))
}

fn build(name: &str) -> PathBuf {
    let test = env::current_exe().expect("a running test has a path");
    // target/<folder of the profile>/deps/<test>
    let folder = test.ancestors().nth(2).expect("a test lies two folders deep in the profile's folder");
    let target = folder.parent().expect("a profile's folder lies in the target folder");
    let profile = match folder.file_name().and_then(|name| name.to_str()).expect("profiles have plain names")
    {
        "debug" => "dev",
        other => other,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bin", name, "--profile", profile])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo is there when its tests run");
    assert!(status.success(), "the program `{name}` does not build");
    folder.join(name)
}
