//! The open files of a process, by kind, so that a growing number can be explained.

use std::collections::{BTreeMap, HashMap};
use std::fs;

/// A TCP connection in the kernel's table: the ports of both ends, and its state.
#[derive(Debug, Clone, Copy)]
struct Connection {
    local: u16,
    remote: u16,
    is_open: bool,
}

/// The kinds of open files of a process and their numbers, as one line. `named` names the peers by port.
pub(crate) fn by_kind(pid: u32, named: &[(&str, u16)]) -> String {
    let connections = connections(&fs::read_to_string("/proc/net/tcp").unwrap_or_default());
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default().to_string_lossy().into_owned();
        *kinds.entry(kind(&target, &connections, named)).or_default() += 1;
    }
    let told: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    told.join(", ")
}

fn kind(target: &str, connections: &HashMap<String, Connection>, named: &[(&str, u16)]) -> String {
    if let Some(inode) = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) {
        let Some(connection) = connections.get(inode) else { return "other sockets".to_owned() };
        let name = |port: u16| named.iter().find(|(_, its)| *its == port).map(|(name, _)| *name);
        let state = if connection.is_open { "" } else { " (closed there)" };
        return match (name(connection.local), name(connection.remote)) {
            (_, Some(to)) => format!("to {to}{state}"),
            (Some(at), None) => format!("at {at}{state}"),
            (None, None) => format!("to others{state}"),
        };
    }
    match target.split_once(":[") {
        Some((kind, _)) => format!("{kind}s"),
        None => target.rsplit('/').next().unwrap_or(target).to_owned(),
    }
}

/// The lines of `/proc/net/tcp`, by inode.
fn connections(table: &str) -> HashMap<String, Connection> {
    let port = |address: &str| u16::from_str_radix(address.rsplit(':').next()?, 16).ok();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, remote) = (port(fields.get(1)?)?, port(fields.get(2)?)?);
        // 01 means established, 0A listening.
        let is_open = matches!(*fields.get(3)?, "01" | "0A");
        Some(((*fields.get(9)?).to_owned(), Connection { local, remote, is_open }))
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::by_kind;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn sockets_are_told_by_their_peers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (server, _) = listener.accept().unwrap();
        let line = by_kind(std::process::id(), &[("peer", port)]);
        assert!(line.contains("1 to peer") && line.contains("2 at peer"), "{line}");
        drop(server);
        let line = by_kind(std::process::id(), &[("peer", port)]);
        assert!(line.contains("1 to peer (closed there)") && line.contains("1 at peer"), "{line}");
        drop(client);
    }
}
