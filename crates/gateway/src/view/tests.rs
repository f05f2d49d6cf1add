//! Tests of the views of servers with stored lists, and of a server in this process.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

use bytes::Bytes;
use config::{Lookup, load};
use engine::Snapshot;
use engine::catalogue::{Gather, GatherLimits, ListKind, UpstreamId, stored};
use parking_lot::Mutex;
use proto::era::{Era, ServerHello, V2025_06_18, V2025_11_25, V2026_07_28};
use proto::mcp::Notice;
use proto::rpc::{Frame, FrameLimits};
use transport::net::Stop;
use transport::net::client::{Client, ClientLimits, Trust};
use upstream::catalogue::CatalogueStore;
use upstream::egress::EgressProcess;
use upstream::oauth::Consents;
use upstream::{Audience, Egress, Upstream, Upstreams};

use super::context::ViewObserver;
use super::views::{Prebuilt, ViewSelector};
use super::*;
use crate::admission::Identity;

/// A store that returns this many tools for every server.
struct Stored(usize);

impl CatalogueStore for Stored {
    fn digest(&self, _: &[u8]) -> [u8; 32] {
        [0; 32]
    }

    fn load(&self, _: &[u8; 32]) -> Option<Vec<u8>> {
        let hello = |era| ServerHello {
            era,
            capabilities: Bytes::from_static(br#"{"tools":{"listChanged":true}}"#),
            info: Bytes::from_static(b"{}"),
            instructions: None,
        };
        let mut tools = String::new();
        for n in 0..self.0 {
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(tools, r#"{comma}{{"name":"t{n}","inputSchema":{{"type":"object"}}}}"#);
        }
        let page = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}"#);
        let mut text = r#"{"format":1,"faces":["#.to_owned();
        for (at, era) in [&V2025_11_25, &V2026_07_28].into_iter().enumerate() {
            let mut gather = Gather::new(hello(era), GatherLimits { pages: 1, entries: self.0 }, "{}");
            gather.feed(&frame(&page)).unwrap();
            text.push_str(if at == 0 { "" } else { "," });
            stored::write(&gather.finish(), &mut text);
        }
        text.push_str(r#"],"classes":[],"introductions":[]}"#);
        Some(text.into_bytes())
    }

    fn save(&self, _: &[u8; 32], _: String) {}
}

fn frame(text: &str) -> Frame {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default()).unwrap()
}

/// A context with the views of one server `a` with this many known tools.
fn context(tools: usize) -> Arc<ViewContext> {
    context_of("{ servers: [a] }", tools)
}

/// Like [`context`], for this profile.
fn context_of(profile: &str, tools: usize) -> Arc<ViewContext> {
    let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
    // Nobody listens on this address: the known tools come from the store.
    let text =
        format!("mcpServers: {{ a: {{ url: 'http://127.0.0.1:1/mcp' }} }}\nprofiles: {{ p: {profile} }}\n");
    let snapshot = Arc::new(Snapshot::compile(&load(&text, "test", &nothing).unwrap().config, "0"));
    let consents = Arc::new(Consents::new(None, Duration::from_secs(5)));
    let upstreams = Upstreams::new(&snapshot, consents).unwrap();
    let store: Arc<dyn CatalogueStore> = Arc::new(Stored(tools));
    upstreams.restore(&store);
    let state = Arc::new(ViewState::new(&snapshot, upstreams, false, None));
    let client = Client::new(ClientLimits::default(), Trust::default());
    let egress = Egress::new(client, snapshot, EgressProcess::new(1, Stop::new()));
    Arc::new(ViewContext { egress, state })
}

fn server(context: &ViewContext) -> Arc<Upstream> {
    context.state.upstreams.get(UpstreamId(0))
}

async fn cell(context: &Arc<ViewContext>, era: &'static Era) -> Arc<ViewCell> {
    let anyone = Identity::anyone(None);
    context.state.views.get(context, 0, ClientClass::plain(era), &anyone, |_| None).await
}

/// Records each notified change: the items that all views show at that moment, and the thread.
#[derive(Default)]
struct Told {
    views: OnceLock<Weak<ViewState>>,
    told: Mutex<Vec<(bool, ThreadId)>>,
}

impl ViewObserver for Told {
    fn changed(&self, view: &ViewCell, lists: &[Notice]) {
        assert_eq!(lists, [Notice::ToolsChanged]);
        let state = self.views.get().and_then(Weak::upgrade).unwrap();
        let all = state.views.with(&state.upstreams.get(UpstreamId(0)).server);
        assert!(all.iter().any(|other| std::ptr::eq(Arc::as_ptr(other), view)));
        let is_old = all.iter().any(|cell| cell.view().tool("a__t0").is_some());
        self.told.lock().push((is_old, thread::current().id()));
    }

    fn announced(&self, _: &ViewCell, _: UpstreamId, _: &[Notice]) {}

    fn sees(&self, _: &ViewCell) -> bool {
        false
    }
}

/// Returns the notifications that are sent when a server with `tools` tools, which three views show, loses all of
/// them.
async fn told_of_the_end(tools: usize) -> Vec<(bool, ThreadId)> {
    let context = context(tools);
    let observer = Arc::new(Told::default());
    let (state, weak) = (Arc::downgrade(&context.state), Arc::downgrade(&observer));
    observer.views.set(state).unwrap();
    context.state.set_observer(weak);
    for era in [&V2025_11_25, &V2025_06_18, &V2026_07_28] {
        assert!(cell(&context, era).await.view().tool("a__t0").is_some(), "{era}");
    }
    let upstream = server(&context);
    upstream.catalogue.forget_all();
    let updating = context.state.clone().catalogue_changed(context.egress.snapshot(), &upstream.server);
    updating.finished().await;
    observer.told.lock().clone()
}

#[tokio::test]
async fn all_views_show_a_change_before_anybody_is_told() {
    let told = told_of_the_end(3).await;
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|(is_old, _)| !is_old), "somebody was told before all views showed it");
    assert!(told.iter().all(|(_, thread)| *thread == thread::current().id()), "small ones are built at once");
}

#[tokio::test]
async fn large_views_are_built_on_the_blocking_pool() {
    let context = context(501);
    let observer = Arc::new(Told::default());
    observer.views.set(Arc::downgrade(&context.state)).unwrap();
    let weak: Weak<Told> = Arc::downgrade(&observer);
    context.state.set_observer(weak);
    let first = cell(&context, &V2025_11_25).await;
    assert!(context.state.views.had_large() && !context.state.views.had_large());
    // Show a view without any tools: the next update finds 501 tools.
    first.publish(Arc::new(self::context(0).state.basis(0, None).build(first.clients, None, 1 << 16, None)));
    let upstream = server(&context);
    let updating = context.state.clone().catalogue_changed(context.egress.snapshot(), &upstream.server);
    updating.finished().await;
    assert!(first.view().tool("a__t500").is_some());
    let told = observer.told.lock().clone();
    assert!(matches!(told[..], [(_, thread)] if thread != thread::current().id()), "{told:?}");
}

#[tokio::test]
async fn a_view_that_was_built_before_a_change_is_not_used() {
    let (clients, anyone) = (ClientClass::plain(&V2025_11_25), Identity::anyone(None));
    for is_changed in [false, true] {
        let context = context(600);
        let views = &context.state.views;
        let (basis, changes) = (context.state.basis(0, None), views.changes.load(Ordering::SeqCst));
        let view = Arc::new(basis.build(clients, None, 1 << 16, None));
        let built = Prebuilt { basis, view: view.clone(), changes };
        if is_changed {
            let server = &server(&context).server;
            context.state.clone().catalogue_changed(context.egress.snapshot(), server).finished().await;
        }
        let cell = views.insert(&context, &ViewSelector::now(&context, 0, clients, &anyone), Some(built));
        assert_eq!(Arc::ptr_eq(&cell.view(), &view), !is_changed);
    }
}

#[tokio::test]
async fn a_server_of_both_lifecycles_has_its_items_in_memory_once() {
    let context = context(3);
    let catalogue = server(&context).catalogue.clone();
    let first = |era| catalogue.tools(era).unwrap().list(ListKind::Tools)[0].text.as_ptr();
    let listed_in = |era| catalogue.tools(era).unwrap().listed_in;
    assert_eq!(listed_in(&V2025_11_25), &V2025_11_25);
    assert_eq!(listed_in(&V2026_07_28), &V2026_07_28);
    assert_eq!(first(&V2025_11_25), first(&V2026_07_28));
}

#[tokio::test]
async fn pages_that_nobody_lists_just_now_make_room() {
    let context = context(600);
    let (one, other) = (cell(&context, &V2025_11_25).await, cell(&context, &V2025_06_18).await);
    let views = &context.state.views;
    let list = frame(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    views.drop_pages_until(|| false);
    assert!(one.view().has_pages() && other.view().has_pages(), "both were just made for somebody");
    views.drop_unused_pages();
    other.complete(&context, &list).await;
    views.drop_unused_pages();
    // Now nobody has listed either of them for a while, and nobody has listed the first for longer.
    views.drop_unused_pages();
    let kept = transport::budget::of_process().kept();
    context.state.count_kept();
    let all = kept.used();
    assert!(all > 2 * one.view().page_bytes(), "pages and catalogues: {all}");
    views.drop_pages_until(|| !one.view().has_pages());
    assert!(!one.view().has_pages() && other.view().has_pages());
    views.drop_pages_until(|| false);
    assert!(!other.view().has_pages());
    let (pages, before) = (other.view().page_bytes(), kept.used());
    context.state.count_kept();
    assert!(pages == 0 && kept.used() < before);
}

#[tokio::test]
async fn pages_that_nobody_lists_are_dropped_and_laid_out_at_the_next_list() {
    let context = context(600);
    let cell = cell(&context, &V2025_11_25).await;
    let list = frame(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let by_name = frame(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t7"}}"#);
    let mut looks = 0;
    while cell.view().has_pages() {
        context.state.views.drop_unused_pages();
        looks += 1;
    }
    assert_eq!(looks, 61, "one for the list that they were made for, then ten minutes");
    let view = cell.view();
    assert!(view.tool("a__t7").is_some());
    assert!(!cell.is_early_for(&by_name, &view), "a call needs no pages");
    assert!(cell.is_early_for(&list, &view));
    // A change does not bring the pages back.
    let changed =
        context.state.clone().catalogue_changed(context.egress.snapshot(), &server(&context).server);
    changed.finished().await;
    assert!(!cell.view().has_pages());
    cell.complete(&context, &list).await;
    assert!(cell.view().has_pages());
    context.state.views.drop_unused_pages();
    assert!(cell.view().has_pages(), "somebody lists them");
}

#[tokio::test]
async fn an_index_that_nobody_uses_is_dropped_and_built_at_the_next_search() {
    let context = context_of("{ servers: [a], tools: { mode: search } }", 600);
    let cell = cell(&context, &V2025_11_25).await;
    let asking = |params: &str| {
        frame(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#))
    };
    let search = asking(r#"{"name":"find_tools","arguments":{"query":"t7"}}"#);
    let by_name = asking(r#"{"name":"a__t7"}"#);
    assert!(cell.view().page_bytes() > 10_000, "the index");
    while cell.view().has_pages() {
        context.state.views.drop_unused_pages();
    }
    let view = cell.view();
    assert!(!cell.is_early_for(&by_name, &view) && cell.is_early_for(&search, &view));
    cell.complete(&context, &search).await;
    assert!(cell.view().has_pages());
    context.state.views.drop_unused_pages();
    assert!(cell.view().has_pages(), "somebody searches");
}

#[tokio::test]
async fn a_whole_view_is_kept_while_it_is_current() {
    let context = context(600);
    let (state, era) = (&context.state, &V2025_11_25);
    assert!(state.known_whole(0, era).is_none(), "it is built only for an operator");
    let whole = state.build_whole(0, era);
    assert_eq!((whole.costs.listed.tools, whole.costs.tools.len(), whole.costs.searched), (600, 600, None));
    assert_eq!(whole.costs.unsearched, whole.costs.listed);
    let is_same = |other: Option<Arc<WholeView>>| other.is_some_and(|other| Arc::ptr_eq(&other, &whole));
    assert!(is_same(state.known_whole(0, era)) && is_same(Some(state.build_whole(0, era))));
    assert!(state.known_whole(0, &V2026_07_28).is_none(), "another version");
    let server = server(&context);
    server.catalogue.forget_all();
    state.clone().catalogue_changed(context.egress.snapshot(), &server.server).finished().await;
    assert!(state.known_whole(0, era).is_none(), "the lists have changed");
    assert_eq!(state.build_whole(0, era).costs.listed.tools, 0);
}

#[tokio::test]
async fn a_whole_view_that_nobody_uses_is_dropped() {
    let context = context(600);
    let (state, era) = (&context.state, &V2025_11_25);
    state.count_kept();
    let (kept, whole) = (transport::budget::of_process().kept(), state.build_whole(0, era));
    assert!(kept.used() > whole.view.page_bytes());
    let mut looks = 0;
    while state.views.whole.bytes() > 0 {
        state.views.drop_unused_pages();
        looks += 1;
    }
    assert_eq!(looks, 61, "one for the operator that it was built for, then ten minutes");
    state.build_whole(0, era);
    state.views.drop_pages_until(|| false);
    assert!(state.known_whole(0, era).is_none(), "clients need the memory");
    state.build_whole(0, era);
    state.views.follow(&context);
    assert!(state.known_whole(0, era).is_none(), "the configuration may have changed");
}
