//! Tests: redaction, cutting and appended text.

use serde_json::json;

use super::*;

fn rule(said: &Value) -> ResultRule {
    let mut rule = json!({"tools": ["*"]});
    for (key, value) in said.as_object().expect("a rule is a map") {
        rule[key] = value.clone();
    }
    serde_json::from_value(rule).expect("it is a rule")
}

fn applied(rules: &[Value], tool: &str, content: &Value, is_error: bool) -> Option<Value> {
    let rules: Vec<ResultRule> = rules.iter().map(rule).collect();
    let content = to_raw_value(content).expect("a value is JSON");
    let applied = Results::new(&rules).apply(tool, &content, is_error)?;
    Some(serde_json::from_str(applied.get()).expect("it is JSON"))
}

#[test]
fn secrets_are_replaced_in_every_text() {
    let content = json!([
        {"type": "text", "text": "key sk-1234 and sk-5678"},
        {"type": "image", "data": "sk-1234"},
        {"type": "text", "text": "$1 sk-9"},
    ]);
    let rules = [json!({"redact": ["sk-[0-9]+"], "with": "$0"})];
    let expected = json!([
        {"type": "text", "text": "key $0 and $0"},
        {"type": "image", "data": "sk-1234"},
        {"type": "text", "text": "$1 $0"},
    ]);
    assert_eq!(applied(&rules, "bash", &content, false), Some(expected));
}

#[test]
fn a_long_text_keeps_its_start_and_its_end() {
    let text = format!("{}{}", "a".repeat(20), "z".repeat(20));
    let found = applied(&[json!({"maxChars": 9})], "bash", &json!(text), false);
    let expected = "aaaaaa\n[… 31 characters left out …]\nzzz";
    assert_eq!(found, Some(json!(expected)));
    assert_eq!(
        applied(&[json!({"maxChars": 40})], "bash", &json!(text), false),
        None
    );
}

#[test]
fn no_level_cuts_before_all_have_redacted() {
    let rules = [
        json!({"maxChars": 9}),
        json!({"redact": ["sk-[0-9]{8}"], "with": "*"}),
    ];
    let text = format!("abcd sk-12345678 {}", "z".repeat(20));
    let found = applied(&rules, "bash", &json!(text), false).expect("it is changed");
    assert!(!found.to_string().contains("sk-"), "{found}");
}

#[test]
fn an_unreadable_rule_withholds_the_text_only() {
    let rules = [json!({"unread": true, "source": "f:3"})];
    let content = json!([{"type": "text", "text": "sk-1"}, {"type": "image", "data": "i"}]);
    let found = applied(&rules, "bash", &content, false).expect("it is changed");
    let text = found[0]["text"].as_str().expect("it is text");
    assert!(text.contains("f:3") && !text.contains("sk-1"), "{text}");
    assert_eq!(found[1], content[1]);
}

#[test]
fn only_matching_results_are_changed() {
    let rules = [json!({"tools": ["ba*"], "on": "error", "append": "Read it."})];
    let content = json!([{"type": "text", "text": "failed"}]);
    let expected = json!([{"type": "text", "text": "failed\nRead it."}]);
    assert_eq!(applied(&rules, "bash", &content, true), Some(expected));
    assert_eq!(applied(&rules, "bash", &content, false), None);
    assert_eq!(applied(&rules, "read", &content, true), None);
}

#[test]
fn an_invalid_pattern_redacts_everything() {
    let found = applied(&[json!({"redact": ["("]})], "bash", &json!("secret"), false);
    assert_eq!(found, Some(json!("[redacted]")));
}

#[test]
fn an_invalid_result_is_withheld_if_a_rule_redacts() {
    let content = RawValue::from_string(r#""sk-1 \ud83d""#.to_owned()).expect("it is JSON");
    let applied = |said: Value| {
        let applied = Results::new(&[rule(&said)]).apply("bash", &content, false);
        applied.map(|applied| applied.get().to_owned())
    };
    let redacted = applied(json!({"redact": ["sk-[0-9]"]})).expect("it is replaced");
    assert!(!redacted.contains("sk-1"), "{redacted}");
    assert_eq!(applied(json!({"append": "b"})), None);
}

#[test]
fn content_without_text_is_neither_cut_nor_appended_to() {
    let rules = [json!({"maxChars": 1, "append": "b"})];
    for content in [json!(null), json!({"a": "aaa"}), json!(1)] {
        assert_eq!(applied(&rules, "bash", &content, false), None, "{content}");
    }
}

/// Every shape in which a host may pass on a text.
fn shapes_with(key: &str) -> Vec<Value> {
    let said = format!("the key is {key}.");
    vec![
        json!(said),
        json!({"text": said}),
        json!({"content": said}),
        json!({"content": [{"type": "text", "text": said}]}),
        json!({"type": "text", "text": said}),
        json!([said]),
        json!([1, said]),
        json!([[said]]),
        json!([{"type": "text", "text": "a"}, said]),
        json!([{"type": "text", "text": [said]}]),
        json!([{"type": "text", "text": {"value": said}}]),
        json!([{"type": "text", "value": said}]),
        json!([{"type": "text", "text": "a", "annotations": {"title": said}}]),
        json!([{"type": "Text", "text": said}]),
        json!([{"type": ["text"], "text": said}]),
        json!([{"text": said}]),
        json!([{"content": said}]),
        json!([{"type": "content", "content": {"type": "text", "text": said}}]),
        json!([{"type": "thinking", "thinking": said}]),
        json!([{"type": "thinking", "thinking": "a", "signature": said}]),
        json!([{"type": "redacted_thinking", "data": said}]),
        json!([{"type": "json", "data": said}]),
        json!([{"type": "json", "json": {"a": [{"b": said}]}}]),
        json!([{"type": "tool_result", "content": [{"type": "text", "text": said}]}]),
        json!([{"type": "tool_use", "input": {"command": said}}]),
        json!([{"type": "structured", "structuredContent": {"value": said}}]),
        json!([{"type": "resource", "resource": {"uri": "file:///a", "text": said}}]),
        json!([{"type": "resource", "resource": {"uri": format!("file:///{key}"), "text": "a"}}]),
        json!([{"type": "resource", "resource": {"uri": "file:///a", "blob": key}}]),
        json!([{"type": "resource", "resource": {"mimeType": key}}]),
        json!([{"type": "resource_link", "uri": format!("file:///{key}"), "name": "a"}]),
        json!([{"type": "resource_link", "uri": "file:///a", "name": said}]),
        json!([{"type": "resource_link", "uri": "file:///a", "name": "a", "title": said}]),
        json!([{"type": "resource_link", "uri": "file:///a", "name": "a", "description": said}]),
        json!([{"type": "image", "data": "aaaa", "mimeType": key}]),
        json!([{"type": "image", "data": "aaaa", "alt": said}]),
        json!([{"type": "image", "data": [said]}]),
        json!([{"type": "image", "url": format!("https://example.com/{key}")}]),
        json!([{"type": "image", "source": {"type": "url", "url": key}}]),
        json!([{"type": "audio", "data": "aaaa", "transcript": said}]),
        json!([{"type": "error", "message": said, "stack": said}]),
        json!([{"type": key}]),
        json!([{(key): "a"}]),
        json!({(key): {(key): true}}),
        json!([{"type": "text", "text": "a", "_meta": {(key): null}}]),
        json!([{"type": "text", "text": "a"}, null, true, {"x": {"y": {"z": [[[said]]]}}}]),
    ]
}

#[test]
fn a_secret_is_redacted_in_every_shape_of_a_result() {
    let key = "sk-abcdefghijklmnopqrstuvwxyz";
    let rules = [json!({"redact": ["sk-[A-Za-z0-9]{20,}"]})];
    for content in shapes_with(key) {
        let found = applied(&rules, "bash", &content, false);
        let found = found.unwrap_or_else(|| panic!("unchanged: {content}"));
        assert!(!found.to_string().contains("sk-"), "{content}: {found}");
        assert!(
            found.to_string().contains(REDACTED),
            "{content}: only the secret is replaced: {found}"
        );
    }
}

#[test]
fn every_shape_is_withheld_where_it_is_not_known_what_is_secret() {
    let key = "sk-abcdefghijklmnopqrstuvwxyz";
    for rule in [json!({"unread": true}), json!({"redact": ["("]})] {
        for content in shapes_with(key) {
            let found = applied(std::slice::from_ref(&rule), "bash", &content, false);
            let found = found.unwrap_or_else(|| panic!("unchanged: {content}"));
            assert!(!found.to_string().contains("sk-"), "{content}: {found}");
        }
    }
}

#[test]
fn a_number_that_is_a_secret_becomes_a_redacted_text() {
    let rules = [json!({"redact": ["[0-9]{16}"]})];
    let content = json!([{"type": "json", "card": 4_111_111_111_111_111_u64, "count": 3}]);
    let expected = json!([{"type": "json", "card": "[redacted]", "count": 3}]);
    assert_eq!(applied(&rules, "pay", &content, false), Some(expected));
}

#[test]
fn secrets_of_known_shapes_are_redacted_by_one_word() {
    let rules = [json!({"redact": ["secrets", "hunter[0-9]"], "with": "*"})];
    let key = format!("sk-ant-api03-{}", "a1B2".repeat(12));
    let image = json!({"type": "image", "data": key});
    let text = |text: &str| json!({"type": "text", "text": text});
    let content = json!([image, text(&format!("KEY={key}\nhunter2")), {&key: "secrets"}]);
    let expected = json!([image, text("KEY=*\n*"), {"*": "secrets"}]);
    assert_eq!(applied(&rules, "bash", &content, false), Some(expected));
    let split = json!([text(&key[..20]), text(&key[20..])]);
    let expected = json!([text("*"), text("")]);
    assert_eq!(applied(&rules, "bash", &split, false), Some(expected));
    let everyday = json!([text(
        "the secrets of sk-learn, 123e4567-e89b-12d3-a456-426614174000"
    )]);
    assert_eq!(applied(&rules, "bash", &everyday, false), None);
}

#[test]
fn members_whose_keys_become_equal_are_both_preserved() {
    let rules = [json!({"redact": ["sk-[0-9]"]})];
    let content = json!({"sk-1": "a", "sk-2": "b"});
    let expected = json!({"[redacted]": "a", "[redacted]_": "b"});
    assert_eq!(applied(&rules, "bash", &content, false), Some(expected));
}

#[test]
fn a_secret_that_is_split_over_texts_is_redacted() {
    let rules = [json!({"redact": ["sk-[a-z]{20,}"], "with": "*"})];
    let text = |text: &str| json!({"type": "text", "text": text});
    let split = |parts: Vec<Value>| applied(&rules, "bash", &json!(parts), false);
    let key = ["x sk-abcdefgh", "ijklmnopqrst", "uvwxyz. y"];
    assert_eq!(
        split(key.map(text).to_vec()),
        Some(json!([text("x *"), text(""), text(". y")]))
    );
    assert_eq!(
        split(vec![json!(key[0]), text(key[1]), json!(key[2])]),
        Some(json!(["x *", text(""), ". y"]))
    );
    // The longer match counts, although the first part matches by itself.
    let long = [
        "sk-abcdefghijklmnopqrstuvwxyz",
        "abc. sk-abcdefghijklmnopqrstu",
    ];
    assert_eq!(
        split(long.map(text).to_vec()),
        Some(json!([text("*"), text(". *")]))
    );
    assert_eq!(split(vec![text("sk-abc"), text(" def")]), None);
}

#[test]
fn images_and_types_of_parts_are_unchanged() {
    let rules = [json!({"redact": ["text", "image", "iVBOR", "resource"]})];
    let content = json!([
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "a/b"},
        {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}},
        {"type": "text", "text": "a"},
        {"type": "audio", "data": "iVBORw0KGgo="},
    ]);
    assert_eq!(applied(&rules, "read", &content, false), None);
}
