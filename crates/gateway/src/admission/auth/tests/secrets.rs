//! Log lines of any level, and `Debug` output, contain no credential.

use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;
use parking_lot::Mutex;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::super::Authenticator;
use super::rig::{Book, World, basic, bearer, open_with, shows};
use super::signer::*;
use super::users::hash;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

const PASSWORD: &str = "pass-word-1111";
const WRONG_PASSWORD: &str = "pass-word-2222";
const TOKEN: &str = "to-ken-3333";
const WRONG_TOKEN: &str = "to-ken-4444";

fn place(book: &Arc<Book>) -> (Arc<World>, Authenticator) {
    let world = World::new();
    world.page(KEYS, 200, key_set(&all_keys()));
    world.page(
        "https://blog.example.com/wp-json/wp/v2/users/me?context=edit",
        500,
        format!("echo {PASSWORD}"),
    );
    let auth = format!(
        "{{ bearer: '{TOKEN}', keys: true, users: {{ ann: '{}' }}, site: {{ url: 'https://blog.example.com' }}, \
         jwt: {{ issuer: '{ISSUER}', jwks: '{KEYS}', audience: '{RESOURCE}' }} }}",
        hash(PASSWORD)
    );
    let authenticator = open_with(&auth, &world, book);
    (world, authenticator)
}

/// Requests of every kind, including accepted ones, and the secrets that they contain.
fn requests(book: &Book) -> (Vec<HeaderMap>, Vec<String>) {
    let key = book.add("laptop", |_| {});
    let far = json!({ "exp": 4_000_000_000_u64 });
    let tokens = [
        signed("RS256", "rsa", &claims(&far)),
        signed("RS256", "rsa", &claims(&json!({ "aud": "other" }))),
        signed("RS256", "gone", &claims(&far)),
    ];
    let mut secrets: Vec<String> = [PASSWORD, WRONG_PASSWORD, TOKEN, WRONG_TOKEN].map(str::to_owned).into();
    secrets.push(key[12..].to_owned());
    secrets.extend(tokens.iter().flat_map(|token| token.split('.').skip(1).map(str::to_owned)));
    let pairs = [
        ("ann", PASSWORD),
        ("ann", WRONG_PASSWORD),
        ("bob", WRONG_PASSWORD),
        // The password in the field for the name.
        (WRONG_PASSWORD, "ann"),
    ];
    let mut requests: Vec<HeaderMap> = pairs.iter().map(|(user, password)| basic(user, password)).collect();
    secrets.extend(requests.iter().map(|shown| shown["authorization"].to_str().unwrap()[6..].to_owned()));
    requests.extend([TOKEN, WRONG_TOKEN, &key, &format!("{}x", &key[..50])].map(bearer));
    requests.extend(tokens.iter().map(|token| bearer(token)));
    requests.push(shows(WRONG_TOKEN));
    requests.push(shows(&format!("Digest {WRONG_TOKEN}")));
    requests.push(shows(&format!("Bearer {WRONG_TOKEN} {WRONG_TOKEN}")));
    let mut two = bearer(TOKEN);
    two.append("authorization", WRONG_TOKEN.parse().unwrap());
    requests.push(two);
    (requests, secrets)
}

/// Sends all requests twice, the second time with all other servers unreachable; returns the results as `Debug`
/// prints them.
async fn made(
    requests: &[HeaderMap],
    world: &World,
    book: &Book,
    authenticator: &Authenticator,
) -> (Vec<String>, Vec<String>) {
    let (mut let_in, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        for headers in requests {
            match authenticator.identify(headers, Some(IpAddr::from([10, 0, 0, 1]))).await {
                Ok(principal) => let_in.push(format!("{principal:?}")),
                Err(denied) => refused.push(format!("{denied:?}")),
            }
        }
        world.gone(KEYS);
        *book.broken.lock() = Some("no such table".to_owned());
    }
    (let_in, refused)
}

#[test]
fn no_line_of_the_log_holds_a_credential() {
    let lines = Lines::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(lines.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let book = Arc::new(Book::default());
    let (requests, secrets) = requests(&book);
    let (let_in, refused, shown) = tracing::subscriber::with_default(subscriber.finish(), || {
        let (world, authenticator) = place(&book);
        let (let_in, refused) = runtime.block_on(made(&requests, &world, &book, &authenticator));
        (let_in, refused, format!("{authenticator:?}"))
    });
    assert_eq!((let_in.len(), refused.len()), (8, 22), "each way was taken");
    let written = String::from_utf8(lines.0.lock().clone()).unwrap();
    assert!(written.contains("rejected a request") && written.contains("10.0.0.1"), "{written}");
    assert!(written.contains("cannot verify a user at the site"), "{written}");
    for text in let_in.iter().chain(&refused).chain([&written, &shown]) {
        for secret in &secrets {
            assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
    }
}
