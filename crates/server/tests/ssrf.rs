//! Targets of embedded servers' requests. By naming a site or a file in any spelling, no caller reaches this machine, its
//! networks or a cloud's metadata; and a site cannot redirect there, fill memory or hold a call forever.

mod support;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use support::*;
use testkit::site::{Options, Site, accounts, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Spellings of this machine, with `P` for the port: plain, as names, as numbers in other bases, in IPv6, and after what
/// looks like another host.
const INNER: &[&str] = &[
    "http://127.0.0.1:P",
    "http://localhost:P",
    "http://LOCALHOST:P",
    "http://127.1:P",
    "http://2130706433:P",
    "http://017700000001:P",
    "http://0177.0.0.1:P",
    "http://0x7f000001:P",
    "http://0x7f.1:P",
    "http://127.255.255.254:P",
    "http://127.0.0.1.:P",
    "http://localhost.:P",
    "http://0:P",
    "http://0.0.0.0:P",
    "http://[::1]:P",
    "http://[::]:P",
    "http://[::ffff:127.0.0.1]:P",
    "http://[::ffff:7f00:1]:P",
    "http://[::127.0.0.1]:P",
    "http://[64:ff9b::7f00:1]:P",
    "http://[2002:7f00:1::]:P",
    "http://[::ffff:0:7f00:1]:P",
    "http://[64:ff9b:1::7f00:1]:P",
    "http://[2001:0:7f00:1::1]:P",
    "http://[0:0:0:0:0:0:0:1]:P",
    "http://[::1%25lo]:P",
    "http://[::1%lo]:P",
    "http://[fe80::1%25lo]:P",
    "http://[::1.:P",
    "http://example.com@127.0.0.1:P",
    "http://example.com:80@127.0.0.1:P",
    "http://127.0.0.1:P#@example.com",
    "http://127.0.0.1:P\\@example.com",
    "http://127.0.0.1:P?@example.com",
    "http://①②⑦.0.0.1:P",
    "http://127。0。0。1:P",
    "http://%31%32%37.0.0.1:P",
    "//127.0.0.1:P",
    "gopher://127.0.0.1:P",
    "file:///etc/passwd",
];

/// Other networks that are not part of the public one.
const OTHERS: &[&str] = &[
    "http://10.0.0.1",
    "http://172.16.0.1",
    "http://192.168.0.1",
    "http://100.64.0.1",
    "http://169.254.169.254",
    "http://[fd00:ec2::254]",
    "http://[fe80::1]",
    "http://2852039166",
    "http://0xa9fea9fe",
];

fn spelled(text: &str, site: &Site) -> String {
    let url = site.url();
    text.replace('P', url.rsplit(':').next().expect("a port"))
}

async fn site() -> Site {
    serve((Ipv4Addr::LOCALHOST, 0).into(), Options::default()).await.expect("a site")
}

/// The preset whose requests name their site, with more settings of the site.
async fn gateway(site: &str, more: &str) -> Gateway {
    let config = format!("mcpServers: {{ wordpress: {{ native: wordpress, site: {{ {site} }}{more} }} }}");
    let start = Start { config: &config, args: &["--preset", "wordpress"], ..Start::default() };
    Gateway::start_with(&start).await
}

/// The answer to a call of a tool: its result or its error.
async fn called(gateway: &Gateway, url: &str, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let account = accounts::ADMIN;
    let headers = [
        ("x-wordpress-url", url),
        ("x-wordpress-username", account.user),
        ("x-wordpress-password", account.password),
    ];
    let headers = if url.is_empty() { &[][..] } else { &headers[..] };
    gateway.http().post("/mcp", headers, &call.to_string()).await.json().await
}

#[tokio::test]
async fn a_request_names_no_site_of_the_inner_network() {
    let site = site().await;
    // The port is allowed, so that only the address is a reason to refuse.
    let gateway = gateway(&spelled("headers: true, ports: [P]", &site), "").await;
    for url in INNER.iter().chain(OTHERS).map(|text| spelled(text, &site)) {
        // A header contains only visible ASCII; other texts cannot be a URL there.
        if !url.is_ascii() {
            continue;
        }
        let answer = called(&gateway, &url, "wp_get_tags", &json!({})).await;
        assert_eq!(answer["error"]["code"], -32002, "{url}: {answer}");
    }
    assert!(site.received().is_empty(), "{:?}", site.received());
}

#[tokio::test]
async fn a_refusal_does_not_show_what_the_inner_network_has() {
    let site = site().await;
    let gateway = gateway(&spelled("headers: true, ports: [P]", &site), "").await;
    let mut refusals = Vec::new();
    // A program listens there, at a port that is allowed; the same name at another port; a private address; no such name.
    for text in ["http://localhost:P", "http://localhost:1", "http://10.0.0.1", "http://no-such-name.invalid"]
    {
        let answer = called(&gateway, &spelled(text, &site), "wp_get_tags", &json!({})).await;
        let error = &answer["error"];
        assert!(error.to_string().contains("`ports`"), "{text}: {answer}");
        refusals.push(error.to_string());
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
}

#[tokio::test]
async fn it_may_where_the_configuration_or_the_command_line_says_so() {
    let site = site().await;
    let allowed = gateway("privateSites: true", "").await;
    let config = "mcpServers: { wordpress: { native: wordpress, site: { headers: true } } }";
    let args = ["--preset", "wordpress", "--allow-private-sites"];
    let on_the_line = Gateway::start_with(&Start { config, args: &args, ..Start::default() }).await;
    for gateway in [&allowed, &on_the_line] {
        for text in ["http://127.0.0.1:P", "http://localhost:P", "http://2130706433:P"] {
            let before = site.received().len();
            let answer = called(gateway, &spelled(text, &site), "wp_get_tags", &json!({})).await;
            assert!(answer["result"]["content"].is_array(), "{text}: {answer}");
            assert!(site.received().len() > before, "{text}");
        }
    }
}

/// The operator's own site, for which requests need no account.
fn own(url: &str) -> String {
    let account = accounts::ADMIN;
    format!("url: '{url}', username: '{}', password: '{}'", account.user, account.password)
}

#[tokio::test]
async fn a_call_names_no_file_of_the_inner_network() {
    let site = site().await;
    let gateway = gateway(&own(&site.url()), "").await;
    for url in INNER.iter().chain(OTHERS).map(|text| spelled(text, &site)) {
        for url in [format!("{url}/inner/a.png"), format!("{url}:/inner"), url.clone()] {
            let answer = called(&gateway, "", "wp_upload_media_from_url", &json!({"url": url})).await;
            assert_eq!(answer["error"]["code"], -32005, "{url}: {answer}");
        }
    }
    let received = site.received();
    assert!(received.iter().all(|one| one.path.contains("/users/me")), "{received:?}");
}

/// A server that answers each connection as specified, and counts them.
async fn puppet<F>(answer: impl Fn(TcpStream) -> F + Send + 'static) -> (String, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(answer(stream));
        }
    });
    (url, count)
}

/// Reads the head of a request.
async fn head(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).await.is_ok_and(|count| count == 1) {
        text.push(byte[0]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test]
async fn credentials_follow_no_redirect() {
    let (elsewhere, reached) = puppet(|_| async {}).await;
    let (url, _) = puppet(move |mut stream| {
        let to = elsewhere.clone();
        async move {
            head(&mut stream).await;
            let text = format!(
                "HTTP/1.1 307 x\r\nLocation: {to}/latest/meta-data?secret=1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(text.as_bytes()).await;
        }
    })
    .await;
    let gateway = gateway(&own(&url), "").await;
    let answer = called(&gateway, "", "wp_get_tags", &json!({})).await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("redirects to") && !message.contains("secret"), "{answer}");
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let (url, _) = puppet(|mut stream| async move {
        head(&mut stream).await;
        let _ = stream
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
            )
            .await;
        let chunk = [b"10000\r\n", vec![b' '; 0x10000].as_slice(), b"\r\n"].concat();
        // Until the other side has received enough.
        while stream.write_all(&chunk).await.is_ok() {}
    })
    .await;
    let gateway = gateway(&own(&url), "").await;
    let answer = soon("a refusal", called(&gateway, "", "wp_get_tags", &json!({}))).await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("too large"), "{answer}");
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_passed_on() {
    let site = site().await;
    // One byte more than the largest file; or a file without end, of which the site accepts only a part.
    for (length, says) in
        [("Content-Length: 536870913\r\n", "larger than 512 MiB"), ("", "may have been executed")]
    {
        let (url, _) = puppet(move |mut stream| async move {
            head(&mut stream).await;
            let begin = format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n{length}\r\n");
            let _ = stream.write_all(begin.as_bytes()).await;
            let part = vec![b' '; 0x10_0000];
            while stream.write_all(&part).await.is_ok() {}
        })
        .await;
        let gateway = gateway(&format!("{}, privateFiles: true", own(&site.url())), "").await;
        let arguments = json!({"url": format!("{url}/a.png")});
        let answer = soon("a refusal", called(&gateway, "", "wp_upload_media_from_url", &arguments)).await;
        assert!(answer.to_string().contains(says), "{answer}");
        assert!(peak_memory(gateway.pid()) < 256 << 20);
    }
    assert!(site.received().iter().all(|one| one.path.contains("/users/me")), "{:?}", site.received());
}

#[tokio::test]
async fn a_site_that_never_answers_is_left() {
    // Nothing at all, or an occasional byte without end.
    let drips = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    for begin in ["", drips] {
        let (gone, mut left) = tokio::sync::mpsc::unbounded_channel();
        let (url, _) = puppet(move |mut stream| {
            let gone = gone.clone();
            async move {
                head(&mut stream).await;
                let _ = stream.write_all(begin.as_bytes()).await;
                let (mut read, mut write) = stream.split();
                let drip = async {
                    let mut tick = tokio::time::interval(std::time::Duration::from_millis(20));
                    while !begin.is_empty() && write.write_all(b" ").await.is_ok() {
                        tick.tick().await;
                    }
                    std::future::pending::<()>().await;
                };
                // Nothing more arrives, and then the stream ends.
                let mut byte = [0];
                tokio::select! {
                    _ = read.read(&mut byte) => {}
                    () = drip => {}
                }
                let _ = gone.send(());
            }
        })
        .await;
        let gateway = gateway(&own(&url), ", timeout: 500ms").await;
        let answer = soon("a refusal", called(&gateway, "", "wp_get_tags", &json!({}))).await;
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        soon("the end of the connection", left.recv()).await;
    }
}

#[tokio::test]
async fn a_site_is_asked_no_more_often_than_configured() {
    let (one, two) = (site().await, site().await);
    let gateway = gateway("privateSites: true, rate: 3/1h", "").await;
    for (site, calls) in [(&one, 2), (&two, 2)] {
        for _ in 0..calls {
            let answer = called(&gateway, &site.url(), "wp_get_tags", &json!({})).await;
            assert!(answer["result"].is_object(), "each site has its own count: {answer}");
        }
        for spelled in ["http://127.0.0.1:P", "HTTp://127.0.0.1.:P/", "http://127.0.0.1:P/blog"] {
            let answer = called(&gateway, &self::spelled(spelled, site), "wp_get_tags", &json!({})).await;
            assert_eq!(answer["error"]["message"], "Rate limit exceeded", "{spelled}: {answer}");
        }
        assert_eq!(site.received().len(), 3, "whether it knows the account, and two calls");
    }
}

#[tokio::test]
async fn no_more_are_at_a_site_at_once_than_configured() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    let (url, connections) = puppet(move |mut stream| {
        let (now, most) = (now.clone(), seen.clone());
        async move {
            let request = head(&mut stream).await;
            if request.is_empty() {
                return;
            }
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // Further connections are accepted meanwhile.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
            let text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]";
            let _ = stream.write_all(text.as_bytes()).await;
        }
    })
    .await;
    let gateway = gateway(&format!("{}, atOnce: 2", own(&url)), "").await;
    let arguments = json!({});
    let mut calls: Vec<_> =
        (0..24).map(|_| Box::pin(called(&gateway, "", "wp_get_tags", &arguments))).collect();
    for answer in join_all(&mut calls).await {
        assert!(answer["result"].is_object(), "{answer}");
    }
    assert!(most.load(Ordering::SeqCst) <= 2, "{}", most.load(Ordering::SeqCst));
    assert!(connections.load(Ordering::SeqCst) >= 24);
}

/// Waits for all of them concurrently.
async fn join_all<F: Future + Unpin>(futures: &mut [F]) -> Vec<F::Output> {
    let mut done: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = std::pin::Pin::new(future).poll(context)
            {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
