//! The playground before, during and after a call.

use super::{Sample, ago};
use crate::sample::access::verdict;
use crate::sample::catalogue::tool_row;
use crate::sample::traffic::messages;
use dragoman_pages::model::{
    FieldKind, OpenQuestion, PlaygroundPage, PlaygroundRun, PlaygroundTool, ProgressMark, RunState,
    SchemaField, ToolHints,
};

fn fields(s: &Sample) -> Vec<SchemaField> {
    let kinds = [
        ("title", "The title of the post", true, FieldKind::Line, "Autumn news"),
        (
            "content",
            "The text, as blocks or HTML",
            true,
            FieldKind::Text,
            "<!-- wp:paragraph --><p>It rains.</p>",
        ),
        ("status", "The status", true, FieldKind::One(s.list(&["draft", "publish", "private"])), "draft"),
        (
            "author",
            "The id of the author",
            false,
            FieldKind::Integer { minimum: Some(1), maximum: None },
            "0",
        ),
        ("sticky", "", false, FieldKind::Flag, "true"),
        (
            "categories",
            "The categories",
            false,
            FieldKind::Some(s.list(&["news", "events", "people"])),
            "news\npeople",
        ),
        ("meta", "More fields of the post", false, FieldKind::Json, "{ \"mood\": \"grey\" }"),
        ("score", "", false, FieldKind::Number, "0.5"),
        ("day", "", false, FieldKind::Date, "2026-12-01"),
        ("mail", "", false, FieldKind::Email, ""),
        ("link", "", false, FieldKind::Url, ""),
    ];
    let make =
        |(name, description, required, kind, value): (&str, &str, bool, FieldKind, &str)| SchemaField {
            name: s.t(name),
            label: s.t(name),
            description: s.t(description),
            required,
            kind,
            value: s.t(value),
            fault: (name == "author" && s.rows > 1).then(|| s.t("must be at least 1")),
        };
    kinds.into_iter().take(s.rows).map(make).collect()
}

/// A chosen tool.
pub(crate) fn chosen(s: &Sample) -> PlaygroundPage {
    PlaygroundPage {
        denied: s.few(3, |number| tool_row(s, number)),
        profiles: s.list(&["default", "office"]),
        profile: s.t("office"),
        callers: s.list(&["user:bob", "key:dgm_BgTMSuBe", "anyone"]),
        caller: s.t("user:bob"),
        q: s.t(""),
        tools: s.few(200, |number| tool_row(s, number)),
        tool: (s.rows > 0).then(|| PlaygroundTool {
            name: s.t("blog__wp_create_post"),
            server: s.t("blog"),
            title: s.t("Create a post"),
            description: s.t("Creates a post on the site.\n\nReturns the id and the address of the new post. Drafts are not visible to visitors."),
            hints: ToolHints { read_only: Some(false), destructive: Some(false), ..ToolHints::default() },
            fields: fields(s),
            arguments: s.t("{}"),
            as_json: false,
            verdict: Some(verdict(s)),
        }),
        run: None,
    }
}

/// A run whose server asks a question.
pub(crate) fn asking(s: &Sample) -> PlaygroundPage {
    let mark = |number: u32| ProgressMark {
        after_us: 90_000 * u64::from(number),
        value: f64::from(number),
        total: Some(5.0),
        text: s.t("checked the links"),
    };
    PlaygroundPage {
        run: Some(PlaygroundRun {
            id: "r7".to_owned(),
            tool: s.t("blog__wp_create_post"),
            state: if s.rows > 0 { RunState::Asking } else { RunState::Failed },
            started: ago(3),
            duration_us: 2_840_000,
            progress: [0, 1, 2, 3].into_iter().take(s.rows).map(mark).collect(),
            question: (s.rows > 0).then(|| OpenQuestion {
                id: "q1".to_owned(),
                text: s.t("Publish “Autumn news” now?"),
                fields: vec![SchemaField {
                    name: s.t("when"),
                    label: s.t("when"),
                    description: s.t("The moment of publication"),
                    required: true,
                    kind: FieldKind::One(s.list(&["now", "tomorrow"])),
                    value: s.t("now"),
                    fault: None,
                }],
                url: s.hostile.is_some().then(|| s.t("")),
            }),
            answer: (s.rows == 0)
                .then(|| s.t("{\n  \"code\": -32603,\n  \"message\": \"the server is not available\"\n}")),
            messages: messages(s),
        }),
        ..chosen(s)
    }
}

/// A tool whose schema cannot be shown as a form, after a call.
pub(crate) fn as_json(s: &Sample) -> PlaygroundPage {
    let mut page = asking(s);
    if let Some(tool) = &mut page.tool {
        tool.as_json = true;
        tool.verdict = None;
    }
    if let Some(run) = &mut page.run {
        run.state = RunState::Done;
        run.question = None;
        run.answer =
            Some(s.t("{\n  \"content\": [{ \"type\": \"text\", \"text\": \"Created post 4711\" }]\n}"));
    }
    page
}
