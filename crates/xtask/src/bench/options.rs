//! The command's flags.

use super::contestant::Contestant;
use super::scenario::{ALL, FOOTPRINT, RUNTIMES};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
cargo xtask bench [FLAGS]

  Measures the cost of Dragoman, compared with nginx as a plain reverse proxy, on this machine.

  --only A,B        some scenarios (see below); all by default
  --rounds N        rounds, each of which measures every contestant once (3)
  --seconds S       length of one measurement (2)
  --quick           one round of half a second: does everything work?
  --ab              Dragoman's two runtimes against each other, instead of nginx
  --contestants A,B some of direct, nginx, dragoman; all by default
  --against FILE    compare with this older build of Dragoman alone (8 rounds of 1 s unless you say otherwise)
  --at-most RATIO   with --against: fail if a row costs more CPU per call than this times the older build's (1.03)
  --threads N       run Dragoman with this many threads, instead of one per core
  --dragoman FILE   measure this program instead of building one
  --no-build        measure the programs of the last build
  --json FILE       write every figure to a file
";

/// The maximum cost of a row, as a multiple of the older build's.
const AT_MOST: f64 = 1.03;

/// The requested options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// The names of scenarios, including `footprint`.
    pub(crate) only: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) seconds: f64,
    pub(crate) quick: bool,
    pub(crate) ab: bool,
    pub(crate) contestants: Vec<Contestant>,
    /// The older build, if two builds are compared; no other contestant then takes part.
    pub(crate) against: Option<PathBuf>,
    /// The maximum CPU time per call in a row, as a multiple of the older build's.
    pub(crate) at_most: f64,
    /// The number of Dragoman's threads; one per core if `None`.
    pub(crate) threads: Option<usize>,
    pub(crate) dragoman: Option<PathBuf>,
    pub(crate) build: bool,
    pub(crate) json: Option<PathBuf>,
}

impl Options {
    /// Reads the flags; `None` if help was requested.
    pub(crate) fn read(args: &[String]) -> Result<Option<Self>, String> {
        let mut options = Self {
            only: Vec::new(),
            rounds: 0,
            seconds: 0.0,
            quick: false,
            ab: false,
            contestants: Contestant::BESIDE_NGINX.to_vec(),
            against: None,
            at_most: AT_MOST,
            threads: None,
            dragoman: None,
            build: true,
            json: None,
        };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value\n\n{}", help()));
            match flag.as_str() {
                "--only" => options.only = scenarios(value()?)?,
                "--rounds" => options.rounds = number(flag, value()?, 1, 100)?,
                "--seconds" => options.seconds = number(flag, value()?, 0.1, 60.0)?,
                "--quick" => (options.quick, options.rounds, options.seconds) = (true, 1, 0.5),
                "--ab" => options.ab = true,
                "--contestants" => options.contestants = contestants(value()?)?,
                "--against" => options.against = Some(value()?.into()),
                "--at-most" => options.at_most = number(flag, value()?, 0.5, 10.0)?,
                "--threads" => options.threads = Some(number(flag, value()?, 1, 64)?),
                "--dragoman" => options.dragoman = Some(value()?.into()),
                "--no-build" => options.build = false,
                "--json" => options.json = Some(value()?.into()),
                "--help" | "-h" => return Ok(None),
                other => return Err(format!("no flag `{other}`\n\n{}", help())),
            }
        }
        options.fill_in()?;
        Ok(Some(options))
    }

    /// Sets the default values of all options that no flag has set.
    fn fill_in(&mut self) -> Result<(), String> {
        let options = self;
        if options.ab && options.against.is_some() {
            return Err("--ab and --against are two different comparisons: give one".into());
        }
        let (rounds, seconds) = if options.against.is_some() { (8, 1.0) } else { (3, 2.0) };
        options.rounds = if options.rounds == 0 { rounds } else { options.rounds };
        options.seconds = if options.seconds == 0.0 { seconds } else { options.seconds };
        if options.against.is_some() {
            // Each build goes first equally often, because the second one is slightly more expensive.
            options.rounds += options.rounds % 2;
            options.contestants = Contestant::VERSIONS.to_vec();
        }
        if options.ab {
            options.contestants = Contestant::RUNTIMES.to_vec();
        }
        if options.only.is_empty() {
            options.only = if options.ab {
                RUNTIMES.map(str::to_owned).to_vec()
            } else if options.against.is_some() {
                ALL.iter().map(|scenario| scenario.name.to_owned()).collect()
            } else {
                ALL.iter().map(|scenario| scenario.name).chain([FOOTPRINT]).map(str::to_owned).collect()
            };
        }
        Ok(())
    }

    /// The length of one measurement.
    pub(crate) fn length(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// The flags and the available scenarios.
pub(crate) fn help() -> String {
    let rows = ALL.iter().map(|scenario| (scenario.name, scenario.title));
    let rows = rows.chain([(FOOTPRINT, "start time and memory, idle and with 1000 sessions")]);
    let rows: Vec<_> = rows.map(|(name, title)| format!("  {name:<16}  {title}\n")).collect();
    format!("{USAGE}\n{}", rows.concat())
}

fn scenarios(list: &str) -> Result<Vec<String>, String> {
    let known = |name: &&str| *name == FOOTPRINT || ALL.iter().any(|scenario| scenario.name == *name);
    list.split(',')
        .map(|name| Some(name).filter(known).map(str::to_owned))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("--only {list}: an unknown scenario\n\n{}", help()))
}

fn contestants(list: &str) -> Result<Vec<Contestant>, String> {
    list.split(',')
        .map(|name| Contestant::BESIDE_NGINX.into_iter().find(|contestant| contestant.name() == name))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("--contestants {list}: there are direct, nginx and dragoman"))
}

fn number<T>(flag: &str, text: &str, least: T, most: T) -> Result<T, String>
where
    T: std::str::FromStr + std::fmt::Display + PartialOrd + Copy,
{
    let number = text.parse().ok().filter(|number| (&least..=&most).contains(&number));
    number.ok_or_else(|| format!("{flag} {text}: give a number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::{Contestant, Options};

    fn read(line: &str) -> Result<Option<Options>, String> {
        Options::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read() {
        let all = read("").unwrap().unwrap();
        assert!(all.only.len() > 10 && all.only.contains(&"footprint".to_owned()) && all.build);
        let some = read("--only echo-1,footprint --rounds 5 --seconds 0.5 --contestants direct,nginx")
            .unwrap()
            .unwrap();
        assert_eq!((some.only.len(), some.rounds, some.seconds), (2, 5, 0.5));
        assert_eq!(some.contestants, [Contestant::Direct, Contestant::Nginx]);
        assert_eq!(read("--ab").unwrap().unwrap().only, ["echo-1", "echo-16", "echo-128", "stdio-16"]);
        let against = read("--against old --at-most 1.1 --seconds 0.5").unwrap().unwrap();
        assert_eq!((against.rounds, against.seconds, against.at_most), (8, 0.5, 1.1));
        assert_eq!(against.contestants, [Contestant::Old, Contestant::Dragoman]);
        assert!(
            against.only.contains(&"guarded-16".to_owned())
                && !against.only.contains(&"footprint".to_owned())
        );
        assert_eq!((all.rounds, all.seconds), (3, 2.0));
        assert_eq!(read("--help").unwrap(), None);
    }

    #[test]
    fn faults_say_what_there_is() {
        for (line, why) in [
            ("--only nothing", "echo-16"),
            ("--rounds", "needs a value"),
            ("--rounds 0", "from 1 to 100"),
            ("--seconds x", "from 0.1 to 60"),
            ("--contestants apache", "direct, nginx and dragoman"),
            ("--ab --against old", "give one"),
            ("--at-most 0", "from 0.5 to 10"),
            ("--fast", "no flag `--fast`"),
        ] {
            assert!(read(line).unwrap_err().contains(why), "{line}");
        }
    }
}
