//! Names with passwords from the configuration.

use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, Params};
use engine::access::Scheme;
use engine::fault::Condition;

use super::super::users::Users;
use super::rig::{World, at, basic, id, open, why};

/// A hash that is fast to check.
pub(super) fn hash(password: &str) -> String {
    costly(password, 64, 1)
}

fn costly(password: &str, memory: u32, passes: u32) -> String {
    let quick = Argon2::from(Params::new(memory, passes, 1, None).unwrap());
    quick.hash_password_with_salt(password.as_bytes(), b"0123456789abcdef").unwrap().to_string()
}

fn auth() -> String {
    format!("{{ users: {{ ann: '{}', 'Bjørn': '{}' }} }}", hash("battery staple"), hash("pass:wörd"))
}

const WRONG: &str = "wrong name or password";

#[tokio::test]
async fn a_name_with_its_password_opens() {
    let authenticator = open(&auth(), &World::new());
    for (user, password) in [("ann", "battery staple"), ("Bjørn", "pass:wörd")] {
        let identified = authenticator.identify_at(&basic(user, password), at(0)).await;
        assert_eq!(id(&identified), format!("user:{user}"));
        let principal = identified.unwrap();
        assert_eq!((principal.scheme, principal.user.as_deref()), (Scheme::Basic, Some(user)));
    }
}

#[tokio::test]
async fn everything_else_is_refused_in_the_same_words() {
    let authenticator = open(&auth(), &World::new());
    for (user, password) in [
        ("ann", "battery stapl"),
        ("ann", "battery staple "),
        ("ann", ""),
        ("Ann", "battery staple"),
        ("ann ", "battery staple"),
        ("nobody", "battery staple"),
        ("nobody", ""),
        ("ann", "pass:wörd"),
        ("ann:battery staple", ""),
    ] {
        let denied = authenticator.identify_at(&basic(user, password), at(0)).await.unwrap_err();
        assert_eq!(
            (denied.condition, &*denied.message),
            (Condition::BadCredentials, WRONG),
            "{user}:{password}"
        );
        assert_eq!(denied.challenge.unwrap(), "Basic realm=\"dragoman\", charset=\"UTF-8\"");
    }
}

/// Users `u0`, `u1` …, whose passwords equal their names, with these memory sizes and numbers of passes.
fn users_of(costs: &[(u32, u32)]) -> String {
    let user = |(at, (memory, passes)): (usize, &(u32, u32))| {
        format!("u{at}: '{}'", costly(&format!("u{at}"), *memory, *passes))
    };
    format!("{{ users: {{ {} }} }}", costs.iter().enumerate().map(user).collect::<Vec<_>>().join(", "))
}

#[tokio::test]
async fn every_name_costs_the_same_whatever_the_hashes_cost() {
    let auth = users_of(&[(64, 1), (256, 2), (64, 1), (64, 3)]);
    let users = Users::new(&super::rig::config(&auth).users).unwrap();
    let costs = |name: &str| {
        let checks = users.checks(name);
        let cost = |hash: &PasswordHash| {
            let params = Params::try_from(hash).unwrap();
            (params.m_cost(), params.t_cost(), params.p_cost())
        };
        let own = checks.iter().filter(|(_, own)| *own).count();
        (own, checks.iter().map(|(hash, _)| cost(hash)).collect::<Vec<_>>())
    };
    let all = vec![(64, 1, 1), (256, 2, 1), (64, 3, 1)];
    assert_eq!(costs("nobody"), (0, all.clone()));
    let authenticator = open(&auth, &World::new());
    for name in ["u0", "u1", "u2", "u3"] {
        assert_eq!(costs(name), (1, all.clone()), "{name}");
        assert!(authenticator.identify_at(&basic(name, name), at(0)).await.is_ok());
    }
    // The passwords of the users whose hashes stand in for others admit nobody else.
    for (user, password) in [("nobody", "u0"), ("u1", "u0"), ("u0", "u1"), ("u2", "u0")] {
        assert_eq!(why(authenticator.identify_at(&basic(user, password), at(0)).await), WRONG);
    }
}

#[test]
fn the_work_of_an_attempt_is_bounded() {
    let new = |costs: &[(u32, u32)]| Users::new(&super::rig::config(&users_of(costs)).users).map(|_| ());
    assert_eq!(new(&[(64, 1), (64, 2), (64, 3), (64, 4), (64, 1)]), Ok(()));
    let error = new(&[(64, 1), (64, 2), (64, 3), (64, 4), (64, 5)]).unwrap_err().to_string();
    assert!(error.contains("at most four different costs"), "{error}");
}

#[tokio::test]
async fn a_known_hash_form_is_needed() {
    let sound = hash("x");
    let short = sound.rsplit_once('$').unwrap().0;
    for bad in [
        "",
        "secret",
        "$2y$10$abcdefghijklmnopqrstuv",
        short,
        &sound.replace("m=64", "m=2000000"),
        &sound.replace("argon2id", "argon3"),
    ] {
        let mut config = super::rig::config(&auth());
        config.users.insert("eve".to_owned(), config::Text::hidden(bad, "***"));
        let error =
            super::super::Authenticator::new(&config, (None, None), World::new()).unwrap_err().to_string();
        assert!(error.starts_with("the user eve: the password hash "), "{error}");
        assert!(bad.is_empty() || !error.contains(bad), "{error}");
    }
}

#[tokio::test]
async fn many_at_once_are_checked_a_few_at_a_time_and_a_flood_is_sent_away() {
    let authenticator = open(&auth(), &World::new());
    let attempts: Vec<_> = (0..400)
        .map(|number| {
            let authenticator = authenticator.clone();
            tokio::spawn(async move {
                authenticator.identify_at(&basic("ann", &format!("guess {number}")), at(0)).await
            })
        })
        .collect();
    let (mut wrong, mut busy) = (0, 0);
    for attempt in attempts {
        let denied = attempt.await.unwrap().unwrap_err();
        match denied.condition {
            Condition::BadCredentials => wrong += 1,
            Condition::AuthUnavailable => {
                assert_eq!((denied.status().as_u16(), denied.retry_after.is_some()), (503, true));
                busy += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(wrong >= 64 && busy > 0, "{wrong} checked, {busy} sent away");
    assert_eq!(
        why(authenticator.identify_at(&basic("ann", "x"), at(0)).await),
        WRONG,
        "and then all is as before"
    );
}
