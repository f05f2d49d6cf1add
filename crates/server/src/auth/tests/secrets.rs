//! What is written to the log, at any level, and what is shown of values holds no credential.

use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

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

#[test]
fn no_line_of_the_log_holds_a_credential() {
    let lines = Lines::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(lines.clone());
    let mut secrets =
        vec![PASSWORD.to_owned(), WRONG_PASSWORD.to_owned(), TOKEN.to_owned(), WRONG_TOKEN.to_owned()];
    let mut shown = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(subscriber.finish(), || {
        runtime.block_on(async {
            let book = Arc::new(Book::default());
            let (world, authenticator) = place(&book);
            let key = book.add("laptop", |_| {});
            let sound = signed("RS256", "rsa", &claims(json!({ "exp": 4_000_000_000_u64 })));
            let forged = signed("RS256", "rsa", &claims(json!({ "aud": "other" })));
            let unknown = signed("RS256", "gone", &claims(json!({ "exp": 4_000_000_000_u64 })));
            secrets.push(key[12..].to_owned());
            secrets.extend(
                [&sound, &forged, &unknown]
                    .iter()
                    .flat_map(|token| token.split('.').skip(1).map(str::to_owned)),
            );
            let mut requests = vec![
                bearer(TOKEN),
                bearer(WRONG_TOKEN),
                bearer(&key),
                bearer(&format!("{}x", &key[..50])),
                bearer(&sound),
                bearer(&forged),
                bearer(&unknown),
                basic("ann", PASSWORD),
                basic("ann", WRONG_PASSWORD),
                basic("bob", WRONG_PASSWORD),
                // The password where the name belongs.
                basic(WRONG_PASSWORD, "ann"),
                shows(WRONG_TOKEN),
                shows(&format!("Digest {WRONG_TOKEN}")),
                shows(&format!("Bearer {WRONG_TOKEN} {WRONG_TOKEN}")),
            ];
            let encodings: Vec<String> = requests
                .iter()
                .filter_map(|headers| {
                    Some(headers["authorization"].to_str().ok()?.split_once(' ')?.1.to_owned())
                })
                .collect();
            secrets.extend(encodings.into_iter().filter(|text| text.len() > 12));
            let mut two = bearer(TOKEN);
            two.append("authorization", WRONG_TOKEN.parse().unwrap());
            requests.push(two);
            let (mut let_in, mut refused) = (0, 0);
            for _ in 0..2 {
                for headers in &requests {
                    match authenticator.identify(headers, IpAddr::from([10, 0, 0, 1])).await {
                        Ok(principal) => {
                            let_in += 1;
                            shown.push(format!("{principal:?}"));
                        }
                        Err(denied) => {
                            refused += 1;
                            shown.push(format!("{denied:?}"));
                        }
                    }
                }
                world.gone(KEYS);
                *book.broken.lock() = Some("no such table".to_owned());
            }
            assert_eq!((let_in, refused), (8, 22), "each way was taken");
            shown.push(format!("{authenticator:?}"));
        });
    });
    let written = String::from_utf8(lines.0.lock().clone()).unwrap();
    assert!(written.contains("a request was not let in") && written.contains("10.0.0.1"), "{written}");
    assert!(written.contains("cannot ask the site about a user"), "{written}");
    // Claims of those who are let in are theirs to see; a token's other parts are not.
    for text in shown.iter().chain([&written]) {
        for secret in &secrets {
            assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
    }
}
