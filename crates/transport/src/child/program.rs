//! The program of a server as bytes: its name, arguments, environment and working directory. These may be longer than
//! a packet, so they are passed in a memory file that only the server's own process reads. This file is pure: it must
//! not know files.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

/// The maximum size of a program in this form, in bytes. In any case, Linux refuses more than 6 MiB of arguments and
/// environment.
pub(crate) const LONGEST: usize = 8 << 20;

/// A program with its arguments, environment and working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerProgram {
    /// A name that is looked up in the `PATH` of `env`, or a path.
    pub(crate) program: OsString,
    /// The arguments, without the program's name.
    pub(crate) args: Vec<OsString>,
    /// The complete environment.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The working directory; `None` to use the gateway's own.
    pub(crate) cwd: Option<OsString>,
}

impl ServerProgram {
    /// Returns the program as bytes: three counts, followed by the texts, each of which is preceded by its length.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for count in [self.args.len(), self.env.len(), usize::from(self.cwd.is_some())] {
            push_number(&mut bytes, count);
        }
        let env = self.env.iter().flat_map(|(name, value)| [name, value]);
        for text in [&self.program].into_iter().chain(&self.args).chain(env).chain(&self.cwd) {
            push_number(&mut bytes, text.len());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    /// Returns the program in these bytes, if they contain exactly one.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let (args, env, cwd) = (number(bytes)?, number(bytes)?, number(bytes)?);
        let program = text(bytes)?;
        let args = (0..args).map(|_| text(bytes)).collect::<Option<_>>()?;
        let env = (0..env).map(|_| Some((text(bytes)?, text(bytes)?))).collect::<Option<_>>()?;
        let cwd = if cwd == 0 { None } else { Some(text(bytes)?) };
        bytes.is_empty().then_some(Self { program, args, env, cwd })
    }
}

fn push_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&u64::try_from(number).unwrap_or(u64::MAX).to_le_bytes());
}

fn number(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    u64::from_le_bytes(*number).try_into().ok()
}

fn text(bytes: &mut &[u8]) -> Option<OsString> {
    let length = number(bytes)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(OsStr::from_bytes(text).to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn program<const N: usize>(name: &str, args: [&str; N]) -> ServerProgram {
        ServerProgram {
            program: name.into(),
            args: args.map(OsString::from).into(),
            ..ServerProgram::default()
        }
    }

    #[test]
    fn a_program_comes_back_as_it_was() {
        let plain = program("cat", []);
        assert_eq!(ServerProgram::decode(&plain.encode()), Some(plain));
        let full = ServerProgram {
            env: vec![("A".into(), OsString::from_vec(vec![0xff, b'='])), ("B".into(), "".into())],
            cwd: Some("/tmp".into()),
            ..program("npx", ["-y", "", "a b", "\n"])
        };
        assert_eq!(ServerProgram::decode(&full.encode()), Some(full));
    }

    #[test]
    fn what_is_cut_or_longer_is_no_program() {
        let bytes = program("npx", ["-y", "thing"]).encode();
        for end in 0..bytes.len() {
            assert_eq!(ServerProgram::decode(&bytes[..end]), None, "{end} bytes");
        }
        assert_eq!(ServerProgram::decode(&[&bytes[..], b"x"].concat()), None);
        let mut huge = bytes.clone();
        huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(ServerProgram::decode(&huge), None, "a count costs no memory before there are texts");
    }
}
