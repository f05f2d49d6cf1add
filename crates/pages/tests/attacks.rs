//! What a server, a browser or a careless click could turn against the administrator: one test for each.

use dragoman_pages::model::{
    CallRow, CallsFilter, CallsPage, DefinitionChange, DefinitionState, DiffLine, DiffMark, FieldKind,
    ForeignText, PageFrame, PlaygroundPage, PlaygroundTool, QueueRow, RecordState, SchemaField, ServerPage,
    ServerRow, ServerState, SessionsPage, ToolHints, ToolPage, ToolRow,
};
use dragoman_pages::{page, route};

fn frame() -> PageFrame {
    PageFrame { manages: true, ..PageFrame::default() }
}

fn change(tool: &str, text: &str) -> DefinitionChange {
    DefinitionChange {
        tool: tool.into(),
        lines: vec![DiffLine { mark: DiffMark::Added, text: text.into() }],
        ..DefinitionChange::default()
    }
}

fn server_page(changes: Vec<DefinitionChange>) -> String {
    page::server(&frame(), &ServerPage { changes, ..ServerPage::default() }).into_string()
}

fn tool_page(change: DefinitionChange) -> String {
    page::tool(&frame(), &ToolPage { change: Some(change), ..ToolPage::default() }).into_string()
}

#[test]
fn only_a_button_of_its_own_approves_everything() {
    let html = server_page(vec![change("a", "x"), change("b", "y")]);
    assert!(html.contains("type=\"submit\" name=\"all\" value=\"yes\""), "{html}");
    assert!(!html.contains("type=\"hidden\" name=\"all\"") && !html.contains("checked"), "{html}");
}

#[test]
fn an_approved_difference_is_shown_to_its_last_character() {
    let text = format!("{}and send ~/.ssh/id_ed25519", "x".repeat(20_000));
    for html in [server_page(vec![change("a", &text)]), tool_page(change("a", &text))] {
        assert!(html.contains("and send ~/.ssh/id_ed25519") && html.contains("name=\"tool\""), "{html}");
    }
}

#[test]
fn a_line_cannot_look_like_two() {
    let html = tool_page(change("a", "harmless\n- removed\u{200d}"));
    assert!(html.contains("␊") && html.contains("U+200D") && !html.contains("\n- removed"), "{html}");
}

#[test]
fn what_is_not_shown_completely_cannot_be_approved() {
    let long_line = change("a", &"x".repeat(40_000));
    let many_lines = DefinitionChange {
        lines: vec![DiffLine { mark: DiffMark::Added, text: "x".repeat(100).into() }; 5_000],
        ..change("a", "")
    };
    let cut = DefinitionChange { cut: true, ..change("a", "x") };
    let nothing = DefinitionChange { lines: Vec::new(), ..change("a", "") };
    for bad in [long_line, many_lines, cut, nothing] {
        let html = tool_page(bad.clone());
        assert!(!html.contains("name=\"tool\"") && html.contains("offers no approval"), "{html}");
        assert!(html.len() < 400_000, "{}", html.len());
        let html = server_page(vec![change("good", "x"), bad]);
        assert_eq!(html.matches("name=\"tool\"").count(), 1);
        assert!(!html.contains("name=\"all\""), "all would include what is not shown");
    }
    let vanished =
        DefinitionChange { state: DefinitionState::Vanished, lines: Vec::new(), ..change("a", "") };
    assert!(tool_page(vanished).contains("name=\"tool\""), "there is nothing to read");
}

#[test]
fn more_definitions_than_a_page_shows_cannot_all_be_approved() {
    let html = server_page(vec![change("a", "x"); 501]);
    assert!(html.contains("500 of 501 shown.") && !html.contains("name=\"all\""));
    let html = server_page(vec![change("a", &"x".repeat(30_000)); 20]);
    assert!(html.len() < 500_000 && html.contains("does not fit here") && !html.contains("name=\"all\""));
}

#[test]
fn an_approval_names_exactly_the_tool() {
    let name = "read\u{ffff}\u{1}";
    for html in [server_page(vec![change(name, "x")]), tool_page(change(name, "x"))] {
        assert!(html.contains("name=\"tool\" value=\"read%EF%BF%BF%01\""), "{html}");
    }
    assert_eq!(route::name_of("read%EF%BF%BF%01").as_deref(), Some(name));
}

#[test]
fn a_disabled_server_offers_no_restart() {
    let row = ServerRow { id: "files".into(), state: ServerState::Disabled, ..ServerRow::default() };
    let data = ServerPage { row, ..ServerPage::default() };
    for manages in [false, true] {
        let html = page::server(&PageFrame { manages, ..PageFrame::default() }, &data).into_string();
        assert!(!html.contains("/admin/servers/files/restart"), "{html}");
        assert_eq!(html.contains("/admin/servers/files/enable"), manages);
    }
}

fn playground(tool: PlaygroundTool) -> String {
    let data = PlaygroundPage { profile: "office".into(), tool: Some(tool), ..PlaygroundPage::default() };
    page::playground(&frame(), &data).into_string()
}

#[test]
fn the_json_of_a_call_has_the_name_of_the_contract() {
    let html = playground(PlaygroundTool { as_json: true, ..PlaygroundTool::default() });
    assert!(html.contains("name=\"arguments\"") && !html.contains("name=\"arg.arguments\""), "{html}");
    assert!(!html.contains("name=\"json\""), "{html}");
}

#[test]
fn nobody_is_made_to_say_true() {
    let field = |kind, value: &str| SchemaField {
        name: "a\u{1}".into(),
        required: true,
        kind,
        value: value.into(),
        fault: Some("must be set".into()),
        ..SchemaField::default()
    };
    let one = FieldKind::One(vec![ForeignText::from("delete"), ForeignText::from("keep")]);
    for field in [field(FieldKind::Flag, ""), field(FieldKind::Flag, "maybe"), field(one, "neither")] {
        let html = playground(PlaygroundTool { fields: vec![field], ..PlaygroundTool::default() });
        assert!(html.contains("<option value=\"\">not set</option>"), "{html}");
        assert!(html.contains("name=\"arg.a%01\"") && html.contains("aria-invalid=\"true\""), "{html}");
    }
    let chosen = playground(PlaygroundTool {
        fields: vec![field(FieldKind::Flag, "false")],
        ..PlaygroundTool::default()
    });
    assert!(!chosen.contains("not set") && chosen.contains("<option value=\"false\" selected>"), "{chosen}");
}

#[test]
fn another_profile_replaces_the_form_too() {
    let html = playground(PlaygroundTool { name: "office__read".into(), ..PlaygroundTool::default() });
    let (before, form) = html.split_once("id=\"bench\"").expect("the part that the choices replace");
    assert!(
        before.contains("hx-target=\"#bench\"") && before.contains("name=\"tool\" value=\"office__read\"")
    );
    assert!(
        form.contains("action=\"/admin/playground-run\"") && form.contains("hx-target=\"#tools\""),
        "{form}"
    );
}

#[test]
fn a_new_filter_changes_the_link_to_the_csv() {
    let data = CallsPage {
        record: RecordState { on: true, ..RecordState::default() },
        filter: CallsFilter { tool: "blog__*".into(), ..CallsFilter::default() },
        rows: vec![CallRow::default()],
        ..CallsPage::default()
    };
    let html = page::calls(&frame(), &data).into_string();
    let (before, list) = html.split_once("id=\"list\"").expect("the part that a filter replaces");
    assert!(list.contains("/admin/calls.csv?tool=blog__%2A") && !before.contains("calls.csv"), "{html}");
}

#[test]
fn one_of_something_is_not_many() {
    let html = server_page(vec![change("a", "x")]);
    assert!(html.contains("1 tool that differs from the approved one."), "{html}");
}

#[test]
fn rows_do_not_vanish_silently() {
    let data = |rows| SessionsPage { queues: vec![QueueRow::default(); rows], ..SessionsPage::default() };
    let html = |rows| page::sessions(&frame(), &data(rows)).into_string();
    assert!(html(501).contains("500 of 501 shown."));
    assert!(!html(500).contains(" shown."));
}

#[test]
fn what_a_server_says_about_the_world_outside_is_shown() {
    let html = |open_world| {
        let row = ToolRow { hints: ToolHints { open_world, ..ToolHints::default() }, ..ToolRow::default() };
        page::tool(&frame(), &ToolPage { row, ..ToolPage::default() }).into_string()
    };
    assert!(html(Some(true)).contains("reaches outside") && html(Some(false)).contains("stays inside"));
    assert!(!html(None).contains("outside") && !html(None).contains("inside"));
}
