//! The list of tools, generated once.

use std::fmt::Write;

/// The JSON array of `count` tools: `echo`, `payload`, then tools of about 300 bytes each.
pub(super) fn list(count: u32) -> String {
    let mut list = String::from(concat!(
        r#"[{"name":"echo","description":"Gives the text back.","inputSchema":{"type":"object","#,
        r#""properties":{"text":{"type":"string"}},"required":["text"]}},"#,
        r#"{"name":"payload","description":"A text of the wanted size.","inputSchema":{"type":"object","#,
        r#""properties":{"bytes":{"type":"integer","minimum":0,"maximum":16777216}},"required":["bytes"]}}"#,
    ));
    for number in 2..count {
        write!(
            list,
            concat!(
                r#",{{"name":"tool_{number:05}","title":"Tool {number}","description":"Looks up record {number} "#,
                r#"in the register and gives its fields back.","inputSchema":{{"type":"object","properties":{{"#,
                r#""record":{{"type":"string","description":"The record's key."}},"limit":{{"type":"integer","#,
                r#""minimum":1,"maximum":100}}}},"required":["record"]}}}}"#
            ),
            number = number
        )
        .expect("writing to a string cannot fail");
    }
    list.push(']');
    list
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn is_json_of_the_wanted_length() {
        for count in [2, 3, 1000] {
            let tools: Vec<serde_json::Value> = serde_json::from_str(&list(count)).unwrap();
            assert_eq!(tools.len(), usize::try_from(count).unwrap());
            assert_eq!(tools[0]["name"], "echo");
        }
        let length = list(1000).len();
        assert!((280_000..330_000).contains(&length), "{length}");
    }
}
