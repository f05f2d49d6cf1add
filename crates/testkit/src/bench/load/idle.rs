//! Opens idle sessions, which show how much open sessions cost a gateway.

use super::client::{Client, Fault};
use super::connection::Connection;
use super::{Options, SET_UP, print_line, wait_for_line};
use serde_json::json;
use tokio::time::timeout;

/// Opens all sessions, waits for a line on stdin, and ends the sessions. Prints a line after each of the two steps,
/// with the number of sessions and the number of failures.
pub(super) async fn run(options: &Options) -> Result<(), String> {
    let open = async {
        let (mut open, mut faults) = (Vec::new(), Vec::new());
        for _ in 0..options.sessions {
            match open_one(options).await {
                Ok(session) => open.push(session),
                Err(fault) => faults.push(fault),
            }
        }
        (open, faults)
    };
    let (mut sessions, faults) =
        timeout(SET_UP, open).await.map_err(|_| "opening the sessions took too long")?;
    print_line(&line("open", sessions.len(), &faults))?;
    wait_for_line()?;

    let close = async {
        let mut faults = Vec::new();
        for (client, _) in &mut sessions {
            if let Err(fault) = client.end_session().await {
                faults.push(fault);
            }
        }
        faults
    };
    let faults = timeout(SET_UP, close).await.map_err(|_| "ending the sessions took too long")?;
    let ended = sessions.len() - faults.len();
    drop(sessions);
    print_line(&line("closed", ended, &faults))
}

async fn open_one(options: &Options) -> Result<(Client, Option<Connection>), Fault> {
    let mut client = Client::new(&options.target(), options.introduction());
    client.open_session().await?;
    let stream = if options.stream { Some(client.open_stream().await?) } else { None };
    Ok((client, stream))
}

fn line(what: &str, count: usize, faults: &[Fault]) -> String {
    let first = faults.first().map(|(Fault::Broken(why) | Fault::Wrong(why))| why);
    json!({what: count, "errors": faults.len(), "first_error": first}).to_string()
}
