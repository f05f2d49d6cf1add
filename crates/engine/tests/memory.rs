//! The memory that lists of many tools take: the items once, and for each view its pages and little beside them. Counts the
//! bytes that are allocated and not freed.

#[expect(dead_code, reason = "how often memory is asked for is counted elsewhere")]
mod counting;

use std::sync::Arc;

use bytes::Bytes;
use config::{Profile, ToolMode, ToolRules};
use counting::held;
use dragoman_engine::catalogue::{
    Gather, GatherLimits, ListKind, NameLimit, UpstreamCatalogue, UpstreamId, View, ViewSource, ViewSpec,
};
use proto::era::{Era, ServerHello, V2025_06_18, V2025_11_25, V2026_07_28};
use proto::rpc::{Frame, FrameLimits};

const DESCRIPTION: &str = "Writes text to a note, or behind what is there.";
const TOOLS: usize = 1000;
const SERVERS: u32 = 10;

const ALL_TOOLS: usize = TOOLS * SERVERS as usize;

/// A list, of which the eighth tool has this description.
fn page(eighth: &str) -> Bytes {
    let listed: Vec<String> = (0..TOOLS)
        .map(|n| {
            let description = if n == 7 { eighth } else { DESCRIPTION };
            format!(
                r#"{{"name":"write_{n}","title":"Write","description":"{description}","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string"}},"text":{{"type":"string","maxLength":10000}},"mode":{{"enum":["append","replace"]}},"limit":{{"type":"integer","minimum":0}}}},"required":["path","text"],"additionalProperties":false}},"annotations":{{"destructiveHint":true}},"execution":{{"taskSupport":"optional"}}}}"#
            )
        })
        .collect();
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, listed.join(",")))
}

fn fetched(era: &'static Era) -> UpstreamCatalogue {
    fetched_with(era, DESCRIPTION)
}

fn fetched_with(era: &'static Era, eighth: &str) -> UpstreamCatalogue {
    let hello = ServerHello {
        era,
        capabilities: Bytes::from_static(br#"{"tools":{"listChanged":true}}"#),
        info: Bytes::from_static(b"{}"),
        instructions: None,
    };
    let mut gather = Gather::new(hello, GatherLimits { pages: 1, entries: TOOLS }, "{}");
    gather.feed(&Frame::parse(page(eighth), FrameLimits::default()).expect("a page")).expect("a list");
    gather.finish()
}

fn catalogues() -> Vec<ViewSource> {
    let one = |n| ViewSource {
        id: UpstreamId(n),
        name: format!("server-{n}").into(),
        over_http: true,
        catalogue: Ok(Arc::new(fetched(&V2025_11_25))),
    };
    (0..SERVERS).map(one).collect()
}

fn view(era: &'static Era, catalogues: &[ViewSource]) -> View {
    beside(era, catalogues, None)
}

fn beside(era: &'static Era, catalogues: &[ViewSource], other: Option<&View>) -> View {
    of_profile(&Profile::default(), era, catalogues, other)
}

fn of_profile(profile: &Profile, era: &'static Era, catalogues: &[ViewSource], other: Option<&View>) -> View {
    let spec = ViewSpec {
        era,
        profile,
        limit: NameLimit::behind(""),
        names: None,
        server_info: "{}",
        schema_bytes: 256 * 1024,
        guard: None,
        separate: false,
        personal: false,
    };
    View::build_beside(spec, catalogues.to_vec(), other)
}

fn page_bytes(view: &View) -> usize {
    view.pages(ListKind::Tools).all().map(|page| page.text().len()).sum()
}

/// The bytes that a tool may take beside its text, in a catalogue and in a view.
const BESIDE: usize = 100;
/// In a view, 24 of these bytes refer to the figures of the tool.
const BESIDE_IN_VIEW: usize = 276;

fn text_bytes(catalogues: &[ViewSource]) -> usize {
    let offers = catalogues.iter().filter_map(|one| one.catalogue.as_ref().ok());
    offers.flat_map(|catalogue| catalogue.list(ListKind::Tools)).map(|item| item.text.len()).sum()
}

#[test]
fn a_catalogue_holds_the_bytes_of_its_items_once() {
    let (catalogues, bytes) = held(catalogues);
    let texts = text_bytes(&catalogues);
    assert!(texts > 4 << 20, "{texts}");
    assert!(bytes < texts + ALL_TOOLS * BESIDE, "{bytes} for {texts}");
}

#[test]
fn a_view_holds_its_pages_and_little_beside_them_in_whichever_version() {
    let catalogues = catalogues();
    // The first slices of the items' texts are counted once.
    drop(view(&V2025_11_25, &catalogues));
    for era in [&V2025_11_25, &V2025_06_18, &V2026_07_28] {
        let (view, bytes) = held(|| view(era, &catalogues));
        let pages = page_bytes(&view);
        assert!(pages > ALL_TOOLS * 350, "{era}: {pages}");
        assert!(bytes < pages + ALL_TOOLS * BESIDE_IN_VIEW, "{era}: {bytes} for pages of {pages}");
        let other_lists = view.page_bytes() - pages;
        assert!(other_lists < 1000, "{era}: the other lists are empty, and have {other_lists} bytes");
    }
}

#[test]
fn views_of_several_versions_have_one_entry_for_each_tool() {
    let catalogues = catalogues();
    let first = view(&V2025_11_25, &catalogues);
    for era in [&V2025_06_18, &V2026_07_28, &V2025_11_25] {
        let (view, bytes) = held(|| beside(era, &catalogues, Some(&first)));
        let pages = page_bytes(&view);
        assert!(bytes < pages + ALL_TOOLS * BESIDE / 2, "{era}: {bytes} for pages of {pages}");
        let entry = |view: &View| std::ptr::from_ref(view.tool("server-3__write_7").expect("a tool"));
        assert_eq!(entry(&view), entry(&first), "{era}");
    }
    // A catalogue that was fetched again has other texts.
    let again = self::catalogues();
    let other = beside(&V2025_06_18, &again, Some(&first));
    assert!(!std::ptr::eq(
        other.tool("server-3__write_7").unwrap(),
        first.tool("server-3__write_7").unwrap()
    ));
}

/// The bytes that a searched tool may take in a view, beside its text.
const BESIDE_IN_INDEX: usize = 640;

#[test]
fn a_view_whose_tools_are_searched_holds_an_index_that_is_smaller_than_pages() {
    let catalogues = catalogues();
    drop(view(&V2025_11_25, &catalogues));
    let tools = ToolRules { mode: ToolMode::Search, ..ToolRules::default() };
    let profile = Profile { tools, ..Profile::default() };
    let (searched, bytes) = held(|| of_profile(&profile, &V2025_11_25, &catalogues, None));
    assert!(bytes < ALL_TOOLS * BESIDE_IN_INDEX, "{bytes}");
    assert!(page_bytes(&searched) < 4000);
    // The index counts among the bytes that are dropped if nobody uses them.
    assert!((ALL_TOOLS * 100..bytes).contains(&searched.page_bytes()), "{}", searched.page_bytes());
    let (bare, bytes) = held(|| of_profile(&profile, &V2025_11_25, &catalogues, None).without_pages());
    assert!(bytes < ALL_TOOLS * BESIDE_IN_VIEW && bare.page_bytes() == 0, "{bytes}");
}

#[test]
fn a_view_without_its_pages_finds_what_it_found_with_them() {
    let catalogues = catalogues();
    drop(view(&V2025_11_25, &catalogues));
    let (view, bytes) = held(|| {
        let view = view(&V2025_06_18, &catalogues);
        assert!(view.has_pages());
        view.without_pages()
    });
    assert!(bytes < ALL_TOOLS * BESIDE_IN_VIEW, "{bytes}");
    assert!(!view.has_pages() && view.page_bytes() == 0);
    assert_eq!(
        view.pages(ListKind::Tools).digest,
        self::view(&V2025_06_18, &catalogues).pages(ListKind::Tools).digest
    );
    let tool = view.tool("server-3__write_7").expect("a tool");
    assert_eq!((tool.upstream, &*tool.own_name()), (UpstreamId(3), "write_7"));
}

#[test]
fn lists_that_are_worded_alike_are_held_once() {
    let handshake = fetched(&V2025_11_25);
    let (stateless, bytes) = held(|| fetched(&V2026_07_28).sharing(&handshake));
    assert!(bytes < 1000, "{bytes}");
    assert_eq!(stateless.listed_in, &V2026_07_28);
    assert!(stateless.same_lists(&handshake));
    // One item is worded otherwise: only that one is new.
    let (other, bytes) =
        held(|| fetched_with(&V2026_07_28, "Writes text to another note").sharing(&handshake));
    assert!(bytes < TOOLS * BESIDE, "{bytes}");
    assert!(!other.same_lists(&handshake));
    assert_eq!(other.list(ListKind::Tools).len(), TOOLS);
    assert!(String::from_utf8_lossy(&other.list(ListKind::Tools)[7].text).contains("another note"));
}
