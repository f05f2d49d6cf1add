//! The five systems, and how many rules each has.

/// One system.
pub(crate) struct System {
    /// The first digit of its rules' numbers.
    pub(crate) number: usize,
    /// The preset, which is also its name.
    pub(crate) preset: &'static str,
    /// What it is, in a sentence.
    pub(crate) about: &'static str,
    /// How many rules it has, numbered from 1.
    pub(crate) rules: usize,
}

/// All five.
pub(crate) const SYSTEMS: &[System] = &[
    System {
        number: 0,
        preset: "buddyboss",
        about: "A community site as tools: one endpoint by POST, nothing kept between requests, for administrators.",
        rules: 35,
    },
    System {
        number: 1,
        preset: "bb",
        about: "A small server over pipes and by POST, strict about its messages and about what comes first.",
        rules: 30,
    },
    System {
        number: 2,
        preset: "wordpress",
        about: "Any WordPress site as tools, which site a matter of each request.",
        rules: 18,
    },
    System {
        number: 3,
        preset: "gateway",
        about: "Several servers as one, each profile an endpoint.",
        rules: 24,
    },
    System {
        number: 4,
        preset: "kulturarv",
        about: "Encyclopaedias and monuments as tools, over an event stream and a path to post to.",
        rules: 22,
    },
];

/// Rules that the program does not keep in full, with what is missing. A rule that it does keep must not stand here.
pub(crate) const OPEN: &[(&str, &str)] = &[];
