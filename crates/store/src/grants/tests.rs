use secrecy::{ExposeSecret as _, SecretString};

use super::file::{FILE, PURPOSE};
use super::{Grants, NewGrant, NewToken, ProfileNames, TokenUse};
use crate::database::tests::Folder;
use crate::database::{Database, Purpose};

const NOW: u64 = 1_795_327_200_000;

fn grants(folder: &Folder) -> Grants {
    Grants::open(folder.path(), &[7; 32]).unwrap()
}

fn new_grant(password: &SecretString) -> NewGrant<'_> {
    NewGrant {
        id: "",
        client: "client",
        client_name: "Client",
        site: "https://example.com",
        rest: "https://example.com/wp-json",
        user: "ann",
        password,
        password_id: Some("uuid"),
        profiles: None,
    }
}

fn begin(grants: &mut Grants, id: &str) {
    let password = SecretString::from(format!("password of {id}"));
    let mut nonce = [0; 12];
    aws_lc_rs::rand::fill(&mut nonce).unwrap();
    assert!(grants.begin(&NewGrant { id, ..new_grant(&password) }, nonce, NOW).unwrap());
}

fn token(digest: u8, token_use: TokenUse) -> NewToken {
    NewToken { digest: [digest; 32], token_use, until_ms: NOW + 1000, profiles: None }
}

#[test]
fn a_token_leads_to_its_grant_until_the_grant_ends() {
    let folder = Folder::new();
    let mut all = grants(&folder);
    begin(&mut all, "a");
    begin(&mut all, "b");
    all.issue("a", &[token(1, TokenUse::Access), token(2, TokenUse::Refresh)]).unwrap();
    let again = grants(&folder);
    let found = again.find(&[1; 32]).unwrap().unwrap();
    assert_eq!((found.grant.id.as_str(), found.token_use, found.spent_ms), ("a", TokenUse::Access, None));
    assert_eq!(found.grant.password.expose_secret(), "password of a");
    assert!(again.find(&[3; 32]).unwrap().is_none());
    assert_eq!(all.end("a", NOW).unwrap().unwrap().password.expose_secret(), "password of a");
    assert!(all.end("a", NOW).unwrap().is_none());
    assert!(again.find(&[1; 32]).unwrap().is_none());
    let ended: Vec<_> = again.grants().unwrap().into_iter().map(|grant| (grant.id, grant.ended_ms)).collect();
    assert_eq!(ended, [("a".to_owned(), Some(NOW)), ("b".to_owned(), None)]);
    all.remove("a").unwrap();
    assert_eq!(again.grants().unwrap().len(), 1);
}

#[test]
fn a_refresh_token_is_replaced_once() {
    let folder = Folder::new();
    let mut all = grants(&folder);
    begin(&mut all, "a");
    all.issue("a", &[token(1, TokenUse::Refresh)]).unwrap();
    assert!(all.renew(("a", &[1; 32]), &[token(2, TokenUse::Refresh)], NOW).unwrap());
    assert!(!all.renew(("a", &[1; 32]), &[token(3, TokenUse::Refresh)], NOW + 5).unwrap());
    assert_eq!(all.find(&[1; 32]).unwrap().unwrap().spent_ms, Some(0));
    assert_eq!(all.find(&[2; 32]).unwrap().unwrap().spent_ms, None);
}

#[test]
fn idle_grants_and_old_tokens_are_swept() {
    let folder = Folder::new();
    let mut all = grants(&folder);
    begin(&mut all, "idle");
    begin(&mut all, "used");
    all.issue("used", &[token(1, TokenUse::Access)]).unwrap();
    all.touch("used", NOW + 10).unwrap();
    assert_eq!(all.sweep(NOW + 5, NOW + 20).unwrap(), 1);
    assert!(all.find(&[1; 32]).unwrap().is_some());
    all.sweep(NOW, NOW + 1000).unwrap();
    assert!(all.find(&[1; 32]).unwrap().is_none());
}

#[test]
fn a_grant_whose_client_never_came_back_ends() {
    let folder = Folder::new();
    let mut all = grants(&folder);
    begin(&mut all, "forgotten");
    begin(&mut all, "taken");
    all.issue("taken", &[NewToken { until_ms: NOW + 10_000_000, ..token(1, TokenUse::Refresh) }]).unwrap();
    assert_eq!(all.sweep(0, NOW + 600_000).unwrap(), 0);
    assert_eq!(all.sweep(0, NOW + 600_001).unwrap(), 1);
    assert!(all.end("forgotten", NOW).unwrap().is_none() && all.end("taken", NOW).unwrap().is_some());
}

#[test]
fn a_password_needs_its_key_and_its_own_grant() {
    let folder = Folder::new();
    let mut all = grants(&folder);
    begin(&mut all, "a");
    all.issue("a", &[token(1, TokenUse::Access)]).unwrap();
    drop(all);
    std::fs::write(folder.path().join("vault.key"), [1; 32]).unwrap();
    let found = grants(&folder).find(&[1; 32]).unwrap().unwrap();
    assert_eq!(found.grant.password.expose_secret(), "");
}

#[test]
fn clients_without_a_grant_are_forgotten_first() {
    let folder = Folder::new();
    let mut all = grants(&folder);
    all.register("client", "{}", NOW).unwrap();
    begin(&mut all, "a");
    let fill = "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2)
        INSERT INTO clients SELECT 'c' || value, '{}', ?1 + value FROM n";
    let at = i64::try_from(NOW).unwrap();
    all.file.write(|file| file.execute(fill, [at, super::MAX_CLIENTS])).unwrap();
    all.register("new", "{}", NOW + 1_000_000).unwrap();
    let mut is_known = |id: &str| all.client(id, NOW).unwrap().is_some();
    assert!(is_known("client") && is_known("new") && is_known("c10000"));
    assert!(!is_known("c1") && !is_known("c2"));
}

/// Merges the record of a grant into another file.
fn merged(from: &Grants, into: &mut Grants, id: &str) -> Option<super::StoredGrant> {
    let mut nonce = [0; 12];
    aws_lc_rs::rand::fill(&mut nonce).unwrap();
    into.merge(&from.record(id, NOW).unwrap().unwrap(), nonce).unwrap()
}

#[test]
fn a_grant_moves_to_another_gateway_with_its_password_and_its_tokens() {
    let (folder, other_folder) = (Folder::new(), Folder::new());
    let mut all = grants(&folder);
    let mut other = Grants::open(other_folder.path(), &[8; 32]).unwrap();
    begin(&mut all, "a");
    let expired = NewToken { until_ms: NOW, ..token(3, TokenUse::Access) };
    all.issue("a", &[token(1, TokenUse::Access), token(2, TokenUse::Refresh), expired]).unwrap();
    assert!(merged(&all, &mut other, "a").is_none());
    let found = other.find(&[2; 32]).unwrap().unwrap();
    assert_eq!(
        (found.token_use, found.grant.used_ms, found.grant.password_id.as_deref()),
        (TokenUse::Refresh, NOW, Some("uuid"))
    );
    assert_eq!(found.grant.password.expose_secret(), "password of a");
    assert!(other.find(&[3; 32]).unwrap().is_none() && other.record("b", NOW).unwrap().is_none());
}

#[test]
fn uses_and_ends_win_in_whatever_order_records_are_merged() {
    let (folder, other_folder) = (Folder::new(), Folder::new());
    let (mut all, mut other) = (grants(&folder), grants(&other_folder));
    begin(&mut all, "a");
    all.issue("a", &[token(1, TokenUse::Refresh)]).unwrap();
    merged(&all, &mut other, "a");
    // Both use the same token.
    assert!(all.renew(("a", &[1; 32]), &[token(2, TokenUse::Refresh)], NOW + 5).unwrap());
    assert!(other.renew(("a", &[1; 32]), &[token(3, TokenUse::Refresh)], NOW + 9).unwrap());
    other.touch("a", NOW + 70).unwrap();
    merged(&all, &mut other, "a");
    merged(&other, &mut all, "a");
    for one in [&all, &other] {
        let spent = |digest| one.find(&[digest; 32]).unwrap().unwrap();
        assert_eq!((spent(1).spent_ms, spent(2).spent_ms, spent(3).spent_ms), (Some(NOW + 5), None, None));
        assert_eq!(spent(1).grant.used_ms, NOW + 70);
    }
    other.exhaust(&[1; 32]).unwrap();
    merged(&other, &mut all, "a");
    assert_eq!(all.find(&[1; 32]).unwrap().unwrap().spent_ms, Some(0));
    let old = all.record("a", NOW).unwrap().unwrap();
    other.end("a", NOW + 80).unwrap();
    assert_eq!(merged(&other, &mut all, "a").unwrap().password.expose_secret(), "password of a");
    assert!(merged(&other, &mut all, "a").is_none(), "it ended before");
    assert!(all.find(&[2; 32]).unwrap().is_none());
    assert!(other.merge(&old, [0; 12]).unwrap().is_none());
    assert!(other.find(&[2; 32]).unwrap().is_none(), "what has ended stays so");
    // A gateway that never knew the grant does not need its end.
    let third_folder = Folder::new();
    let mut third = grants(&third_folder);
    assert!(merged(&other, &mut third, "a").is_none() && third.grants().unwrap().is_empty());
}

#[test]
fn the_grants_that_a_sweep_would_end_are_known_before() {
    let folder = Folder::new();
    let mut all = grants(&folder);
    for id in ["idle", "forgotten", "used"] {
        begin(&mut all, id);
    }
    for (id, digest) in [("idle", 1), ("used", 2)] {
        all.issue(id, &[NewToken { until_ms: NOW + 10_000_000, ..token(digest, TokenUse::Refresh) }])
            .unwrap();
    }
    for id in ["forgotten", "used"] {
        all.touch(id, NOW + 10).unwrap();
    }
    let (before, now) = (NOW + 5, NOW + 600_001);
    assert_eq!(all.due(before, now).unwrap(), ["forgotten", "idle"]);
    assert_eq!(all.sweep(before, now).unwrap(), 2);
    assert!(all.due(before, now).unwrap().is_empty());
}

#[test]
fn a_token_may_be_valid_for_some_profiles_of_its_grant() {
    let (folder, second) = (Folder::new(), Folder::new());
    let (mut all, mut other) = (grants(&folder), grants(&second));
    let of = |names: &[&str]| Some(ProfileNames::new(names.iter().copied()));
    let password = SecretString::from("x");
    let named = of(&["shop", "blog", "shop"]);
    let new = NewGrant { id: "a", profiles: named.as_ref(), ..new_grant(&password) };
    assert!(all.begin(&new, [1; 12], NOW).unwrap());
    let narrow = NewToken { profiles: of(&["blog"]), ..token(1, TokenUse::Access) };
    all.issue("a", &[narrow, token(2, TokenUse::Refresh)]).unwrap();
    merged(&all, &mut other, "a");
    for file in [&all, &other] {
        let profiles = |digest: u8| file.find(&[digest; 32]).unwrap().unwrap().profiles;
        assert_eq!((profiles(1), profiles(2)), (of(&["blog"]), of(&["blog", "shop"])));
    }
    assert!(named.as_ref().unwrap().contains_all(&of(&["blog"]).unwrap()));
    assert!(!of(&["blog"]).unwrap().contains_all(named.as_ref().unwrap()));
}

#[test]
fn tokens_of_a_file_of_an_older_version_stay_valid_for_all_profiles() {
    let folder = Folder::new();
    {
        let first = Purpose { steps: &PURPOSE.steps[..1], ..PURPOSE };
        let mut old = Database::open(&folder.path().join(FILE), &first).unwrap();
        old.write(|file| {
            file.execute(
                "INSERT INTO grants VALUES ('a', 'c', 'C', 's', 'r', 'u', x'00', NULL, 1, 1, NULL)",
                [],
            )?;
            file.execute("INSERT INTO tokens VALUES (?1, 'a', 0, ?2, NULL)", (&[1_u8; 32][..], i64::MAX))
        })
        .unwrap();
    }
    let found = grants(&folder).find(&[1; 32]).unwrap().unwrap();
    assert_eq!((found.grant.id.as_str(), found.profiles), ("a", None));
}
