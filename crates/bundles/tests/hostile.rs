//! Bundles that try to harm: each is refused, and nothing of it is written outside of its folder.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dragoman_bundles::archive::{Archive, checksum_of};
use dragoman_bundles::unpack::unpacked;
use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Writes something that must not be unpacked.
type Evil = fn(&mut ZipWriter<fs::File>);

/// An empty folder of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bundles").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn bundle(path: &Path, write: impl FnOnce(&mut ZipWriter<fs::File>)) {
    let mut zip = ZipWriter::new(fs::File::create(path).unwrap());
    write(&mut zip);
    zip.finish().unwrap();
}

fn file(zip: &mut ZipWriter<fs::File>, name: &str, mode: u32, text: &[u8]) {
    zip.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
    zip.write_all(text).unwrap();
}

#[test]
fn a_good_bundle_is_unpacked_once_under_its_checksum() {
    let folder = folder("good");
    let path = folder.join("x.mcpb");
    bundle(&path, |zip| {
        file(zip, "manifest.json", 0o644, b"{}");
        zip.add_directory("server", SimpleFileOptions::default()).unwrap();
        file(zip, "server/run", 0o755, b"#!/bin/sh\n");
    });
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.checksum(), checksum_of(&fs::read(&path).unwrap()));
    assert_eq!(archive.manifest().unwrap(), b"{}");
    let first = unpacked(&mut archive, &folder.join("cache")).unwrap();
    assert!(first.ends_with(archive.checksum()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |name: &str| fs::metadata(first.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("server/run"), mode("manifest.json"), mode("")), (0o700, 0o600, 0o700));
    }
    // What is there is used as it is.
    fs::write(first.join("mark"), "").unwrap();
    assert_eq!(unpacked(&mut Archive::open(&path).unwrap(), &folder.join("cache")).unwrap(), first);
    assert!(first.join("mark").exists());
    assert_eq!(fs::read_dir(folder.join("cache")).unwrap().count(), 1);
}

#[test]
fn entries_outside_the_folder_and_links_are_refused_before_anything_is_written() {
    let folder = folder("escape");
    let evils: [(&str, Evil); 4] = [
        ("up", |zip| file(zip, "../escaped", 0o644, b"x")),
        ("absolute", |zip| file(zip, "/tmp/escaped", 0o644, b"x")),
        ("deep", |zip| file(zip, "a/b/../../../escaped", 0o644, b"x")),
        ("link", |zip| zip.add_symlink("link", "/etc", SimpleFileOptions::default()).unwrap()),
    ];
    for (name, evil) in evils {
        let path = folder.join(format!("{name}.mcpb"));
        bundle(&path, |zip| {
            file(zip, "manifest.json", 0o644, b"{}");
            evil(zip);
        });
        let cache = folder.join("cache");
        let error = unpacked(&mut Archive::open(&path).unwrap(), &cache).unwrap_err().to_string();
        assert!(error.contains("must not be unpacked"), "{name}: {error}");
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 0, "{name}");
    }
    assert!(!folder.join("escaped").exists());
}

#[test]
fn a_bomb_writes_no_more_than_it_declares() {
    let folder = folder("bomb");
    let path = folder.join("x.mcpb");
    bundle(&path, |zip| file(zip, "zeros", 0o644, &vec![0; 1 << 20]));
    // The declared size, in the local header and in the directory, becomes 16 bytes.
    let mut bytes = fs::read(&path).unwrap();
    let size = (1_u32 << 20).to_le_bytes();
    let places: Vec<usize> = (0..bytes.len() - 4).filter(|at| bytes[*at..*at + 4] == size).collect();
    assert_eq!(places.len(), 2);
    for at in places {
        bytes[at..at + 4].copy_from_slice(&16_u32.to_le_bytes());
    }
    fs::write(&path, bytes).unwrap();
    let result = unpacked(&mut Archive::open(&path).unwrap(), &folder.join("cache"));
    let written = result.ok().map(|folder| fs::metadata(folder.join("zeros")).unwrap().len());
    assert!(written.is_none_or(|length| length <= 16), "{written:?}");
}

#[test]
fn what_is_no_bundle_says_so() {
    let folder = folder("none");
    let path = folder.join("x.mcpb");
    fs::write(&path, "<html>Not found</html>").unwrap();
    assert!(Archive::open(&path).unwrap_err().to_string().contains("not a valid MCPB bundle"));
    assert!(Archive::open(&folder.join("absent")).unwrap_err().to_string().contains("absent"));
    bundle(&path, |zip| file(zip, "other", 0o644, b""));
    assert!(Archive::open(&path).unwrap().manifest().unwrap_err().to_string().contains("manifest.json"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_damage_makes_it_panic_or_escape(at in 0_usize..400, byte: u8, cut in 0_usize..400) {
        let folder = folder(&format!("damaged-{at}-{byte}-{cut}"));
        let path = folder.join("x.mcpb");
        bundle(&path, |zip| {
            file(zip, "manifest.json", 0o644, br#"{"name":"x"}"#);
            file(zip, "server/index.js", 0o755, b"console.log('a long enough text to be compressed, compressed, compressed')");
        });
        let mut bytes = fs::read(&path).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - cut % (bytes.len() / 4));
        fs::write(&path, bytes).unwrap();
        if let Ok(mut archive) = Archive::open(&path) {
            let _ = archive.manifest();
            let _ = unpacked(&mut archive, &folder.join("cache"));
        }
        let outside = fs::read_dir(&folder).unwrap().filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name != "x.mcpb" && name != "cache"
        });
        prop_assert_eq!(outside.count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }
}
