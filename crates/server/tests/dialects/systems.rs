//! The five systems, and the number of rules of each.

/// One system.
pub(crate) struct System {
    /// The first digit of its rules' numbers.
    pub(crate) number: usize,
    /// The preset, which is also its name.
    pub(crate) preset: &'static str,
    /// Its description in a sentence.
    pub(crate) about: &'static str,
    /// The number of its rules, which are numbered from 1.
    pub(crate) rules: usize,
}

/// All five.
pub(crate) const SYSTEMS: &[System] = &[
    System {
        number: 0,
        preset: "buddyboss",
        about: "The tools of a community site, for administrators: one endpoint, which accepts POST, and no state between requests.",
        rules: 35,
    },
    System {
        number: 1,
        preset: "bb",
        about: "A small server, reached over stdio or HTTP POST, that is strict about the format and order of messages.",
        rules: 30,
    },
    System {
        number: 2,
        preset: "wordpress",
        about: "Tools for any WordPress site; each request chooses its site.",
        rules: 18,
    },
    System {
        number: 3,
        preset: "gateway",
        about: "Several servers combined into one; each profile has its own endpoint.",
        rules: 24,
    },
    System {
        number: 4,
        preset: "kulturarv",
        about: "Tools for encyclopedias and monuments, over an event stream and a path for POST requests.",
        rules: 22,
    },
];

/// Rules that the program does not fully satisfy, with the missing behavior. A rule that it satisfies must not be listed.
pub(crate) const OPEN: &[(&str, &str)] = &[];
