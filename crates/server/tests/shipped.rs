//! The shipped files: the linked program, and the crates in it. The reasons are in docs/security.md.

use std::path::Path;

/// The text of a file, relative to the top of the checkout.
fn of_checkout(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(path).expect("it can be read")
}

/// Returns true for a 64-bit little-endian ELF file whose dynamic section asks for relocations in code (`DT_TEXTREL`, or
/// `DF_TEXTREL` in `DT_FLAGS`); see the System V ABI, chapter 5.
fn has_text_relocations(elf: &[u8]) -> bool {
    const PT_DYNAMIC: u64 = 2;
    const DT_TEXTREL: u64 = 22;
    const DT_FLAGS: u64 = 30;
    const DF_TEXTREL: u64 = 4;
    let number = |at: usize, length: usize| {
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(&elf[at..at + length]);
        u64::from_le_bytes(bytes)
    };
    let place = |at: usize| usize::try_from(number(at, 8)).expect("a place in the file");
    assert_eq!(&elf[..6], b"\x7fELF\x02\x01", "a 64-bit little-endian ELF file");
    let (headers, size) = (place(32), usize::try_from(number(54, 2)).expect("small"));
    let count = usize::try_from(number(56, 2)).expect("small");
    let dynamic = (0..count).map(|index| headers + index * size).find(|at| number(*at, 4) == PT_DYNAMIC);
    // A program without the section is statically linked and relocates nothing.
    let Some(dynamic) = dynamic else { return false };
    let (from, length) = (place(dynamic + 8), place(dynamic + 32));
    (from..from + length).step_by(16).any(|at| match (number(at, 8), number(at + 8, 8)) {
        (DT_TEXTREL, _) => true,
        (DT_FLAGS, flags) => flags & DF_TEXTREL != 0,
        _ => false,
    })
}

/// Nothing writes to the program's code, not even while it is loaded. So its pages can be made read-only, shared, dropped and
/// read again (`gateway::session::tidying::release_program`).
#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn the_program_has_no_text_relocations() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_dragoman")).expect("the program is built");
    assert!(!has_text_relocations(&program));
}

#[test]
fn text_relocations_are_found() {
    /// An ELF file with one program header and these entries of a dynamic section.
    fn file(kind: u32, entries: &[(u64, u64)]) -> Vec<u8> {
        let mut elf = b"\x7fELF\x02\x01".to_vec();
        elf.resize(64, 0);
        elf[32..40].copy_from_slice(&64_u64.to_le_bytes());
        elf[54..56].copy_from_slice(&56_u16.to_le_bytes());
        elf[56..58].copy_from_slice(&1_u16.to_le_bytes());
        elf.resize(120, 0);
        elf[64..68].copy_from_slice(&kind.to_le_bytes());
        elf[72..80].copy_from_slice(&120_u64.to_le_bytes());
        let length = 16 * u64::try_from(entries.len()).expect("few");
        elf[96..104].copy_from_slice(&length.to_le_bytes());
        for (tag, value) in entries {
            elf.extend_from_slice(&tag.to_le_bytes());
            elf.extend_from_slice(&value.to_le_bytes());
        }
        elf
    }
    for (kind, entries, wanted) in [
        (2, [(5, 22), (0, 0)], false),
        (2, [(22, 0), (0, 0)], true),
        (2, [(30, 4), (0, 0)], true),
        (2, [(30, 8), (0, 0)], false),
        (1, [(22, 0), (0, 0)], false),
    ] {
        assert_eq!(has_text_relocations(&file(kind, &entries)), wanted, "{kind} {entries:?}");
    }
}

/// No crate that deny.toml bans is built, except those that it allows as dependencies of certain crates (`wrappers`).
#[test]
fn banned_crates_are_not_built() {
    let (rules, lock) = (of_checkout("deny.toml"), of_checkout("Cargo.lock"));
    let banned: Vec<&str> = rules
        .lines()
        .filter(|line| !line.contains("wrappers"))
        .filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.split('"').next())
        .collect();
    assert!(banned.contains(&"rsa") && banned.len() > 5, "{banned:?}");
    let program = std::fs::read(env!("CARGO_BIN_EXE_dragoman")).expect("the program is built");
    // The lock file also lists optional crates that nothing enables; compiled code names the path of its source.
    for name in banned.into_iter().filter(|name| lock.contains(&format!("\nname = \"{name}\"\n"))) {
        let source = format!("/{name}-");
        let is_built =
            |window: &[u8]| window.starts_with(source.as_bytes()) && window[source.len()].is_ascii_digit();
        assert!(!program.windows(source.len() + 1).any(is_built), "{name} is built in");
    }
}

/// `cargo deny check advisories` uses the whole database: no advisory is excepted.
#[test]
fn no_advisory_is_ignored() {
    let rules = of_checkout("deny.toml");
    let advisories =
        rules.split("[advisories]").nth(1).and_then(|rest| rest.split("\n[").next()).expect("a section");
    assert!(advisories.contains("yanked = \"deny\"") && !advisories.contains("ignore"), "{advisories}");
}
