//! Debian packages that are installed without the start of their services.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Debian's switch that prevents the start of installed services.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Prevents packages from starting their services until this value is dropped. The services would use ports that
/// other programs need.
pub(crate) struct NotStarted {
    ours: bool,
}

impl NotStarted {
    pub(crate) fn new() -> Self {
        let policy = Path::new(POLICY);
        let ours = !policy.exists()
            && fs::write(policy, "#!/bin/sh\nexit 101\n").is_ok()
            && fs::set_permissions(policy, fs::Permissions::from_mode(0o755)).is_ok();
        Self { ours }
    }
}

impl Drop for NotStarted {
    fn drop(&mut self) {
        if self.ours {
            let _ = fs::remove_file(POLICY);
        }
    }
}
