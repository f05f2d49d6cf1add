//! Faults that come and go, at random.

use crate::chaos::dice::Dice;
use crate::chaos::stage::Upstream;
use rustix::process::Signal;
use std::thread;
use std::time::{Duration, Instant};

/// The wordings of lost sessions that occur: those of current servers.
const WORDINGS: [&str; 6] =
    ["404-32001", "404-empty", "400-32000-id", "400-32000-init", "404-32600", "200-32001"];
/// Commands that change a server's behavior for a while.
const SPELLS: [&str; 8] =
    ["slow=300", "tool=news", "cut", "deafen", "malformed", "deep", "gate", "tool=news tool=more slow=50"];

/// Applies faults to the servers until the time is over.
pub(super) fn blow(servers: &mut [(bool, Upstream)], length: Duration, mut dice: Dice) -> Result<(), String> {
    let until = Instant::now() + length;
    let mut forgotten = 0;
    while Instant::now() < until {
        let at = dice.below(servers.len());
        let (http, up) = &mut servers[at];
        match dice.below(6) {
            0 if *http => {
                up.kill();
                pause(&mut dice, 800);
                up.start()?;
            }
            0 => {
                up.switched("die down")?;
                pause(&mut dice, 400);
                up.switch("")?;
            }
            1 if *http => {
                up.signal(Signal::STOP);
                pause(&mut dice, 1500);
                up.signal(Signal::CONT);
            }
            2 => {
                forgotten += 1;
                up.switch(&format!("forget={forgotten} wording={}", WORDINGS[dice.below(WORDINGS.len())]))?;
            }
            3 => {
                up.switched("hang")?;
                pause(&mut dice, 1500);
                up.switch("")?;
            }
            _ => up.switch(SPELLS[dice.below(SPELLS.len())])?,
        }
        pause(&mut dice, 700);
    }
    Ok(())
}

fn pause(dice: &mut Dice, most: usize) {
    thread::sleep(Duration::from_millis(100 + u64::try_from(dice.below(most)).unwrap_or(0)));
}
