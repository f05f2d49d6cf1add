//! Faults that come and go, in random order. Each occurs at least once.

use super::super::sessions::WORDINGS;
use crate::chaos::dice::Dice;
use crate::chaos::process::until;
use crate::chaos::stage::Upstream;
use rustix::process::Signal;
use std::thread;
use std::time::{Duration, Instant};

/// One fault.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The server ends without notice, and is started again.
    Crash,
    /// The server ends without notice several times in a row.
    Flap,
    /// The server is suspended by a signal for a while; during this time, the system accepts connections for it.
    Stop,
    /// The server behaves differently for a while.
    Lapse(&'static str),
    /// The server behaves differently for a while, with an effect that exists only over HTTP.
    HttpLapse(&'static str),
    /// The server forgets its sessions, and reports this with the given wording.
    Forget(&'static str),
    /// The server behaves differently until its next fault, but no call fails for this reason.
    Spell(&'static str),
}

/// The faults of one round. In addition, each wording for a lost session occurs once.
const ROUND: [Fault; 23] = [
    Fault::Crash,
    Fault::Crash,
    Fault::Crash,
    Fault::Crash,
    Fault::Flap,
    Fault::Stop,
    Fault::Stop,
    Fault::Lapse("hang"),
    Fault::Lapse("hang"),
    Fault::Lapse("hang"),
    Fault::HttpLapse("cut"),
    Fault::HttpLapse("cut tool=news"),
    Fault::HttpLapse("deafen"),
    Fault::Spell("flood=4"),
    Fault::Spell("flood=4 slow=20"),
    Fault::Spell("flood=10"),
    Fault::Spell("slow=300"),
    Fault::Spell("tool=news"),
    Fault::Spell("tool=news tool=more slow=50"),
    Fault::Spell("malformed"),
    Fault::Spell("deep"),
    Fault::Spell("gate"),
    Fault::Spell(""),
];

/// The time within which a client must have used a forgotten session; all clients make calls continuously.
const MET: Duration = Duration::from_secs(2);
/// The maximum number of times that a server forgets its sessions. It forgets them again until a client has used a
/// forgotten session.
const ATTEMPTS: usize = 5;

/// Applies whole rounds of faults to the servers until the time is over, but at least one round; returns the number
/// of faults.
pub(super) fn blow(
    servers: &mut [(bool, Upstream)],
    length: Duration,
    mut dice: Dice,
) -> Result<usize, String> {
    let until = Instant::now() + length;
    let mut faults = 0;
    while faults == 0 || Instant::now() < until {
        let mut round: Vec<Fault> = ROUND.to_vec();
        round.extend(WORDINGS.iter().map(|(_, wording)| Fault::Forget(wording)));
        while !round.is_empty() {
            let fault = round.swap_remove(dice.below(round.len()));
            faults += 1;
            apply(fault, faults, servers, &mut dice)?;
            pause(&mut dice, 500);
        }
    }
    Ok(faults)
}

fn apply(
    fault: Fault,
    number: usize,
    servers: &mut [(bool, Upstream)],
    dice: &mut Dice,
) -> Result<(), String> {
    let can = |http: bool, up: &Upstream| match fault {
        Fault::Stop | Fault::HttpLapse(_) => http,
        // The server without a handshake has no sessions, and a child has only one.
        Fault::Forget(_) => http && up.name != "new",
        _ => true,
    };
    let mut able: Vec<&mut (bool, Upstream)> =
        servers.iter_mut().filter(|(http, up)| can(*http, up)).collect();
    let chosen = dice.below(able.len());
    let (http, up) = able.swap_remove(chosen);
    match fault {
        Fault::Crash => crash(*http, up, dice, 800),
        Fault::Flap => (0..3).try_for_each(|_| crash(*http, up, dice, 200)),
        Fault::Stop => {
            up.signal(Signal::STOP);
            pause(dice, 1200);
            up.signal(Signal::CONT);
            Ok(())
        }
        Fault::Lapse(words) | Fault::HttpLapse(words) => {
            up.switched(words)?;
            pause(dice, 1200);
            up.switch("")
        }
        Fault::Forget(wording) => forget(up, number, wording),
        Fault::Spell(words) => up.switch(words),
    }
}

fn crash(http: bool, up: &mut Upstream, dice: &mut Dice, most: usize) -> Result<(), String> {
    if http {
        up.kill();
        pause(dice, most);
        up.start()
    } else {
        // The gateway starts the child again, and it ends again as long as it is told to stay down.
        up.switched("die down")?;
        pause(dice, most);
        up.switch("")
    }
}

/// Makes a server forget its sessions, and waits until it has refused one. A server that has just been started may
/// have no sessions yet, so this is repeated.
fn forget(up: &Upstream, number: usize, wording: &str) -> Result<(), String> {
    let refusals = format!("\"refused\":\"{wording}\"");
    let before = up.recorded(&refusals);
    for attempt in 0..ATTEMPTS {
        let number = number * ATTEMPTS + attempt;
        up.switch(&format!("forget={number} wording={wording}"))?;
        if until(MET, || (up.recorded(&refusals) > before).then_some(())).is_some() {
            return Ok(());
        }
    }
    Err(format!("no session of {} was refused as {wording}", up.name))
}

fn pause(dice: &mut Dice, most: usize) {
    thread::sleep(Duration::from_millis(50 + u64::try_from(dice.below(most)).unwrap_or(0)));
}
