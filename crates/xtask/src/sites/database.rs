//! The database server of the sites: MariaDB with an empty folder, only on a socket and without passwords. Its data need
//! not survive the run, so it does not sync its files.

use super::folder::below;
use crate::run::{Log, Service};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A running server.
pub(crate) struct Database {
    /// The socket on which the server listens.
    pub(super) socket: PathBuf,
    _service: Service,
}

impl Database {
    pub(crate) fn start(folder: &Path, log: &Log) -> Result<Self, String> {
        let data = below(folder, "database")?;
        let socket = folder.join("database.sock");
        // It refuses to run as root unless it is told to.
        let user = log.run(Command::new("id").arg("-un"))?;
        let mut command = Command::new("mariadbd");
        command
            .args(["--no-defaults", "--skip-networking", "--skip-grant-tables", "--skip-log-bin"])
            .args(["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"])
            .args(["--innodb-flush-method=nosync", "--sync-frm=0", "--innodb-file-per-table=0"])
            .args(["--innodb-stats-persistent=0", "--innodb-buffer-pool-size=64M"])
            .args(["--character-set-server=utf8mb4", "--max-connections=100"])
            .arg(format!("--user={}", user.trim()))
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--pid-file={}", folder.join("database.pid").display()))
            .arg(format!("--socket={}", socket.display()));
        let ready = |line: &str| line.contains("ready for connections").then(String::new);
        let (service, _) = Service::start(&mut command, log, ready)?;
        Ok(Self { socket, _service: service })
    }
}
