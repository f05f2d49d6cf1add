//! A service manager that starts the gateway: it is told when the gateway is ready, alive and stopping, and it may pass sockets that already
//! listen, which the gateway then serves.

mod support;

use std::net::{SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{self, SocketAddr as UnixAddress};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use support::*;
use tokio::net::UnixDatagram;

const DEMO: &str = "mcpServers: { demo: { native: demo } }\n";

/// Listens on an address, and becomes the program that follows, which gets the socket as its first one.
const LISTENS: &str = "
import os, socket, sys
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind(('127.0.0.1', int(os.environ['PASSED_PORT'])))
listening.listen(16)
os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
os.environ['LISTEN_FDS'], os.environ['LISTEN_PID'] = '1', str(os.getpid())
os.execv(sys.argv[1], sys.argv[1:])
";

/// A port that nothing uses.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|one| one.local_addr())
        .map(|address| address.port())
        .expect("a free port")
}

/// The next notice.
async fn told(receiver: &UnixDatagram) -> String {
    let mut bytes = [0; 512];
    let length = soon("a notice", receiver.recv(&mut bytes)).await.expect("a message");
    String::from_utf8(bytes[..length].to_vec()).expect("text")
}

#[tokio::test]
async fn notices_tell_of_the_start_the_life_and_the_stop() {
    // Containers pass names without files.
    let name = format!("dragoman-notices-{}", std::process::id());
    let address = UnixAddress::from_abstract_name(&name).expect("a name");
    let receiver = net::UnixDatagram::bind_addr(&address).expect("a socket");
    receiver.set_nonblocking(true).expect("a socket");
    let receiver = UnixDatagram::from_std(receiver).expect("a socket");
    let place = format!("@{name}");
    let env = [("NOTIFY_SOCKET", place.as_str()), ("WATCHDOG_USEC", "100000")];
    let gateway = Gateway::start_with(&Start { config: DEMO, env: &env, ..Start::default() }).await;
    let mut messages = vec![told(&receiver).await, told(&receiver).await, told(&receiver).await];
    let ready = messages.iter().find(|message| message.contains("READY=1")).expect("ready");
    assert!(ready.contains(&format!("STATUS=listening on {}", gateway.http().address)), "{messages:?}");
    assert!(messages.iter().filter(|message| message.contains("WATCHDOG=1")).count() >= 2, "{messages:?}");
    gateway.signal(Signal::TERM);
    while !messages.last().is_some_and(|message| message.contains("STOPPING=1")) {
        messages.push(told(&receiver).await);
    }
    assert_eq!(gateway.ended().await.code, Some(0));
}

#[tokio::test]
async fn a_socket_that_already_listens_is_served_and_not_passed_on() {
    let port = free_port();
    let config = format!("listen: 127.0.0.1:{port}\n{DEMO}  pipe: {}\n", odd_stdio(&[]))
        .replace("mcpServers: { demo: { native: demo } }\n", "mcpServers:\n  demo: { native: demo }\n");
    let passed = port.to_string();
    let start = Start {
        config: &config,
        own_listen: true,
        env: &[("PASSED_PORT", &passed)],
        under: &["python3", "-c", LISTENS],
        ..Start::default()
    };
    let gateway = Gateway::start_with(&start).await;
    assert_eq!(gateway.http().address, SocketAddr::from(([127, 0, 0, 1], port)));
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(text(&session.call("demo__add", &json!({"a": 2, "b": 3})).await), "5");
    // Programs that the gateway starts do not get the socket.
    soon("the program's answer", session.call("pipe__raw", &json!({}))).await;
    let sockets = |pid: u32| -> Vec<std::path::PathBuf> {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("Linux");
        open.filter_map(|one| std::fs::read_link(one.ok()?.path()).ok()).collect()
    };
    let own =
        std::fs::read_link(format!("/proc/{}/fd/3", gateway.pid())).expect("the socket that was passed");
    let children = descendants_of(gateway.pid());
    assert!(!children.is_empty() && children.iter().all(|child| !sockets(*child).contains(&own)), "{own:?}");
    gateway.signal(Signal::TERM);
    assert_eq!(gateway.ended().await.code, Some(0));
    assert!(
        std::net::TcpStream::connect_timeout(
            &SocketAddr::from(([127, 0, 0, 1], port)),
            Duration::from_secs(1)
        )
        .is_err()
    );
}

#[tokio::test]
async fn a_socket_at_an_address_that_is_not_configured_is_refused() {
    let (port, other) = (free_port().to_string(), free_port());
    let config = format!("listen: 127.0.0.1:{other}\n{DEMO}");
    let start = Start {
        config: &config,
        env: &[("PASSED_PORT", &port)],
        under: &["python3", "-c", LISTENS],
        ..Start::default()
    };
    let ended = run_to_end("serve", &start).await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains(&format!("write listen: 127.0.0.1:{port}")), "{}", ended.err);
}
