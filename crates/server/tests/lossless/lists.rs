//! The lists of upstreams.

use crate::corpus::result_member;
use crate::corpus::{Section, Template, sections};
use crate::rig::{Place, Rig, offer_marks};

/// Every entry of every list arrives as the upstream wrote it, except for its public name, and for the characters that no list
/// may contain; the corpus has one of those.
pub(crate) async fn entries(place: Place) {
    let mut rig = Rig::start(place).await;
    let offers = sections(place.version, "offers");
    for (method, list) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let id = rig.next_id();
        let meta = format!(r#"{{{}"a":1}}"#, rig.envelope());
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{meta}}}}}"#);
        let mut turn = rig.client.request(&text, method, None).await;
        let answer = rig.client.next(&mut turn).await;
        let entries: Vec<String> = elements(&result_member(&answer, list));
        let own: Vec<(usize, &Section)> =
            offers.iter().enumerate().filter(|(_, section)| section.note == list).collect();
        // Entries that the corpus' calls need may precede its own entries.
        assert!(entries.len() >= own.len(), "{list}: {entries:?}");
        for ((number, section), entry) in own.iter().zip(&entries[entries.len() - own.len()..]) {
            let screened = Section { text: section.text.replace("\\u0000", ""), ..(*section).clone() };
            check(&rig.carried(&screened), *number, entry);
        }
    }
}

fn check(template: &Template, number: usize, entry: &str) {
    let spans = template.read(entry);
    let (name, uri) = offer_marks(number);
    assert!(spans.find("uri").is_none_or(|own| own == uri), "{entry}");
    let public = spans.find("name").map(|name| serde_json::from_str::<String>(name).expect("a string"));
    let name: String = serde_json::from_str(&name).expect("a string");
    assert!(public.is_none_or(|public| public == format!("up__{name}")), "{entry}");
}

/// The elements of a JSON array, in their original spelling.
fn elements(text: &str) -> Vec<String> {
    let elements: Vec<&serde_json::value::RawValue> =
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    elements.into_iter().map(|element| element.get().to_owned()).collect()
}
