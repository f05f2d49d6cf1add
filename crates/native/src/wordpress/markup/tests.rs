use proptest::prelude::*;

use super::blocks::parse;
use super::shortcodes::shortcodes;
use super::*;

const HEADING: &str =
    "<!-- wp:heading -->\n<h2 class=\"wp-block-heading\">Opening hours</h2>\n<!-- /wp:heading -->";
const PARAGRAPH: &str = "<!-- wp:paragraph {\"align\":\"left\"} -->\n<p>We are open from nine to five.</p>\n<!-- /wp:paragraph -->";
const IMAGE: &str = "<!-- wp:image {\"id\":5} -->\n<figure class=\"wp-block-image\"><img src=\"/a.png\" alt=\"\"/></figure>\n<!-- /wp:image -->";

fn lost(source: &str, rendered: Option<&str>, new: &str) -> String {
    markup_loss(source, rendered, new).map(|loss| loss.to_string()).unwrap_or_default()
}

/// The site's rendering of static blocks: the same text without block comments.
fn rendered(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some((before, behind)) = rest.split_once("<!-- ") {
        out.push_str(before);
        rest = behind.split_once("-->").map_or("", |(_, rest)| rest);
    }
    out + rest
}

#[test]
fn blocks_are_read_as_wordpress_reads_them() {
    let text = "a<!-- wp:group {\"x\":{\"y\":\"}\"}} --><div><!-- wp:core/spacer /--><!-- wp:my-plugin/box -->b<!-- /wp:my-plugin/box --></div>\
                <!-- /wp:group --><!-- more --><!--wp:no --><!-- wp:9 -->c<!-- /wp:nothing -->d";
    let content = parse(text);
    let blocks: Vec<_> =
        content.blocks.iter().map(|b| (b.name, b.parent, b.is_void, b.own.concat())).collect();
    assert_eq!(
        blocks,
        [
            ("group", None, false, "<div></div>".to_owned()),
            ("spacer", Some(0), true, String::new()),
            ("my-plugin/box", Some(0), false, "b".to_owned()),
        ]
    );
    assert_eq!(content.freeform, ["a", "<!-- more --><!--wp:no --><!-- wp:9 -->c", "d"]);
}

#[test]
fn shortcodes_are_told_from_brackets() {
    let text = "[gallery ids=\"1,2\"] [[gallery]] [caption width=\"3\"]x[/caption] [1] [see below][ x] [sic] [unclosed";
    let found: Vec<_> = shortcodes(text).into_iter().collect();
    // Only the site knows which of these are shortcodes.
    assert_eq!(found, [("caption", 1), ("gallery", 1), ("see", 1), ("sic", 1)]);
}

#[test]
fn a_changed_word_in_the_rendering_is_a_loss() {
    let source = format!("{HEADING}\n\n{PARAGRAPH}\n\n{IMAGE}");
    let new = rendered(&source).replace("five", "six");
    assert_eq!(lost(&source, None, &new), "a heading block, a image block, a paragraph block");
    assert_eq!(lost(&source, None, &source.replace("five", "six")), "");
    // Losing a single block is enough.
    let new = source.replace(HEADING, "<h2>Opening hours</h2>");
    assert_eq!(lost(&source, None, &new), "a heading block");
    // Even a very short block is recognized by its class or its tag.
    assert_eq!(lost(HEADING, None, &rendered(HEADING).replace("hours", "times")), "a heading block");
    let plain = HEADING.replace(" class=\"wp-block-heading\"", "");
    assert_eq!(lost(&plain, None, "<h2>Opening times</h2>"), "a heading block");
    // The text stays inside its enclosing block.
    let group = |inside: &str| format!("<!-- wp:group -->\n<div>{inside}</div>\n<!-- /wp:group -->");
    assert_eq!(lost(&group(PARAGRAPH), None, &group(&rendered(PARAGRAPH))), "a paragraph block");
}

#[test]
fn deleting_adding_moving_and_remaking_blocks_is_no_loss() {
    let source = format!("{HEADING}\n\n{PARAGRAPH}\n\n{IMAGE}");
    let list = "<!-- wp:list --><ul><li>Mondays</li></ul><!-- /wp:list -->";
    for new in [
        String::new(),
        HEADING.to_owned(),
        format!("{IMAGE}{PARAGRAPH}{HEADING}{list}"),
        "<p>Something else altogether, which nobody has written before.</p>".to_owned(),
        format!("{HEADING}<!-- wp:quote --><p>We are open from nine to five.</p><!-- /wp:quote -->"),
        format!("{source}<p>By hand, at the end.</p>"),
    ] {
        assert_eq!(lost(&source, Some(&rendered(&source)), &new), "", "{new}");
    }
    assert_eq!(lost("<p>Classic.</p>", Some("<p>Classic.</p>"), "<p>Classical.</p>"), "");
}

#[test]
fn a_rendering_in_place_of_what_makes_it_is_a_loss() {
    let source = "Look:\n\n[gallery ids=\"1,2\"]\n\nNot [sic] this.";
    let shown = "<p>Look:</p>\n<div id=\"gallery-1\" class=\"gallery\"><img src=\"/1.png\"/></div>\n<p>Not [sic] this.</p>";
    assert_eq!(lost(source, Some(shown), &shown.replace("Look", "See")), "[gallery]");
    assert_eq!(lost(source, Some(shown), &source.replace("Look", "See")), "");
    assert_eq!(lost(source, Some(shown), "Look:\n\nNot [sic] this."), "", "deleted in the source");
    let vanished = "<p>Look:</p>\n<p>Not [sic] this.</p>";
    assert_eq!(
        lost(source, Some(vanished), &vanished.replace("Look", "See")),
        "[gallery]",
        "renders to nothing"
    );

    let source = format!("{PARAGRAPH}\n<!-- wp:latest-posts {{\"postsToShow\":2}} /-->");
    let shown = format!(
        "{}<ul class=\"wp-block-latest-posts\"><li>Harvest</li><li>Winter</li></ul>",
        rendered(PARAGRAPH)
    );
    let new = format!("{PARAGRAPH}<ul><li>Harvest</li><li>Winter</li></ul>");
    assert_eq!(lost(&source, Some(&shown), &new), "<!-- wp:latest-posts /-->");
    assert_eq!(lost(&source, Some(&shown), PARAGRAPH), "");
}

#[test]
fn attributes_that_all_vanish_are_a_loss() {
    let heading = "<!-- wp:heading {\"level\":3,\"className\":\"is-style-wide\"} -->\n<h3 class=\"wp-block-heading is-style-wide\">At the lake</h3>\n<!-- /wp:heading -->";
    let gallery =
        format!("<!-- wp:gallery {{\"columns\":2}} -->\n<figure>{IMAGE}</figure>\n<!-- /wp:gallery -->");
    let posts = "<!-- wp:latest-posts {\"postsToShow\":3} /-->";
    let code = "[gallery ids=\"1,2\" size=\"large\"]";
    for (source, from, to, lost_words) in [
        (heading, " {\"level\":3,\"className\":\"is-style-wide\"}", "", "the attributes of a heading block"),
        (
            heading,
            "{\"level\":3,\"className\":\"is-style-wide\"}",
            "{ }",
            "the attributes of a heading block",
        ),
        (&*gallery, " {\"columns\":2}", "", "the attributes of a gallery block"),
        (&*gallery, " {\"id\":5}", "", "the attributes of a image block"),
        (posts, " {\"postsToShow\":3}", "", "the attributes of a latest-posts block"),
        (code, " ids=\"1,2\" size=\"large\"", "", "the attributes of [gallery]"),
        // Edits of single attributes.
        (heading, ",\"className\":\"is-style-wide\"", "", ""),
        (posts, "3", "5", ""),
        (code, " size=\"large\"", "", ""),
        // A block, or a shortcode, that is deleted or has attributes elsewhere.
        (posts, posts, "", ""),
        (code, code, "", ""),
        ("[see x=1]", " x=1", "", ""),
    ] {
        for (head, tail) in [("", ""), (PARAGRAPH, HEADING)] {
            let (source, new) =
                (format!("{head}{source}{tail}"), format!("{head}{}{tail}", source.replacen(from, to, 1)));
            assert_eq!(lost(&source, Some("<p>Any. [see x=1]</p>"), &new), lost_words, "{new}");
        }
    }
    let two = format!("{heading}\n{}", heading.replace("lake", "sea"));
    let bare = two.replace(" {\"level\":3,\"className\":\"is-style-wide\"}", "");
    assert_eq!(lost(&two, None, &bare), "the attributes of 2 heading blocks");
    assert_eq!(lost(heading, None, &format!("{heading}{HEADING}")), "", "another block without attributes");
}

#[test]
fn an_embedded_page_in_place_of_its_url_is_a_loss() {
    let source = "A film:\n\nhttps://video.example/watch?v=1&t=2\n\nAnd a text.";
    let shown = "<p>A film:</p>\n<iframe src=\"https://video.example/embed/1?feature=oembed\" title=\"Film\"></iframe>\n<p>And a text.</p>";
    assert_eq!(
        lost(source, Some(shown), &shown.replace("text", "word")),
        "https://video.example/watch?v=1&t=2"
    );
    assert_eq!(lost(source, Some(shown), &source.replace("text", "word")), "");
    assert_eq!(lost(source, Some(shown), "A film:\n\nAnd a text."), "", "deleted in the source");
    let paragraphs = "<p>A film:</p>\n<p>https://video.example/watch?v=1&amp;t=2</p>\n<p>And a word.</p>";
    assert_eq!(
        lost(source, Some(shown), paragraphs),
        "",
        "a paragraph with only the URL is embedded as well"
    );
    let unknown = "<p>A film:</p>\n<p>https://video.example/watch?v=1&#038;t=2</p>\n<p>And a text.</p>";
    assert_eq!(lost(source, Some(unknown), &unknown.replace("<p>https", "<p>See https")), "", "not embedded");
}

fn block() -> impl Strategy<Value = String> {
    let text = prop::collection::vec("[a-zæøå]{1,8}", 1..8).prop_map(|words| words.join(" "));
    (prop::sample::select(vec!["paragraph", "heading", "quote", "my/box"]), text)
        .prop_map(|(name, text)| format!("<!-- wp:{name} -->\n<p>{text}</p>\n<!-- /wp:{name} -->"))
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "(<!-- |/?wp:|[a-z]{1,3}| |/?-->|\\[|\\]|\\{|\\}|\"|<|>|\\PC){0,40}", other in "\\PC{0,40}") {
        let content = parse(&text);
        let own = content.blocks.iter().flat_map(|block| &block.own);
        let kept: usize = own.chain(&content.freeform).map(|html| html.len()).sum();
        prop_assert!(kept <= text.len());
        let _ = markup_loss(&text, Some(&other), &other);
        prop_assert_eq!(markup_loss(&text, Some(&other), &text), None, "what stays as it is loses nothing");
    }

    #[test]
    fn only_comments_that_go_without_their_text_are_lost(
        blocks in prop::collection::vec(block(), 1..8), deleted in any::<u8>(), bared in any::<u8>(),
    ) {
        let source = blocks.join("\n\n");
        let is = |bits: u8, at: usize| bits & (1 << at) != 0;
        let left = |bare: u8| {
            let stays = blocks.iter().enumerate().filter(|(at, _)| !is(deleted, *at));
            stays.map(|(at, block)| if is(bare, at) { rendered(block) } else { block.clone() }).collect::<Vec<_>>().join("\n\n")
        };
        prop_assert_eq!(markup_loss(&source, None, &left(0)), None, "deleted alone");
        let bares = (0..blocks.len()).any(|at| is(bared, at) && !is(deleted, at));
        prop_assert_eq!(markup_loss(&source, None, &left(bared)).is_some(), bares);
    }

    #[test]
    fn blocks_without_any_of_their_attributes_are_lost(
        blocks in prop::collection::vec(block(), 1..8), void in any::<bool>(), stripped in 0_usize..8,
    ) {
        let with = |at: usize| blocks[at].replacen(" -->", &format!(" {{\"at\":{at}}} -->"), 1);
        let tail = |attributes: &str| if void { format!("\n<!-- wp:latest-posts {attributes}/-->") } else { String::new() };
        let all: Vec<String> = (0..blocks.len()).map(with).collect();
        let source = all.join("\n\n") + &tail("{\"a\":1} ");
        let is_bare = stripped < blocks.len();
        let some = all.iter().enumerate().map(|(at, block)| if at == stripped { &blocks[at] } else { block });
        let new = some.map(String::as_str).collect::<Vec<_>>().join("\n\n");
        prop_assert_eq!(markup_loss(&source, None, &(new.clone() + &tail("{\"a\":1} "))).is_some(), is_bare);
        prop_assert_eq!(markup_loss(&source, None, &(new + &tail(""))).is_some(), is_bare || void);
        prop_assert!(markup_loss(&source, None, &(blocks.join("\n\n") + &tail(""))).is_some(), "all");
        prop_assert_eq!(markup_loss(&source, None, &source.replace("\"at\"", "\"to\"")), None, "other attributes");
    }
}
