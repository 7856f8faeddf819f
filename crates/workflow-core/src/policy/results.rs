//! Tool results as the model reads them: redacted, cut, with appended text.
//!
//! Only the texts of a result change, not images and not the information whether the call failed.

use std::cell::OnceCell;

use regex::Regex;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::definition::{ResultKind, ResultRule};
use crate::pattern::{names_match, regex};

/// The replacement for redacted text, unless the rule sets one.
const REDACTED: &str = "[redacted]";

/// The rules on results of all levels, outer first. All matching rules are applied, in order.
#[derive(Debug, Clone, Default)]
pub struct Results {
    rules: Vec<CompiledResultRule>,
}

#[derive(Debug, Clone)]
struct CompiledResultRule {
    rule: ResultRule,
    /// `None` is an invalid pattern: the whole text is redacted.
    redact: OnceCell<Option<Vec<Regex>>>,
}

impl Results {
    /// Creates the rules, outer first.
    #[must_use]
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a ResultRule>) -> Self {
        let compiled = |rule: &ResultRule| CompiledResultRule {
            rule: rule.clone(),
            redact: OnceCell::new(),
        };
        Self {
            rules: rules.into_iter().map(compiled).collect(),
        }
    }

    /// Returns whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Applies the rules to a result; `None` if it does not change.
    ///
    /// A result is a text or a list of parts, of which those of type `text` have one.
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "a value of JSON can be serialized"
    )]
    pub fn apply(&self, tool: &str, content: &RawValue, is_error: bool) -> Option<Box<RawValue>> {
        let applies = |rule: &&CompiledResultRule| rule.applies_to(tool, is_error);
        let mut rules = self.rules.iter().filter(applies).peekable();
        rules.peek()?;
        let Ok(before) = serde_json::from_str::<Value>(content.get()) else {
            // For example half a surrogate pair. A result that cannot be searched for secrets is withheld.
            let redacts = rules.any(|rule| rule.rule.unread || !rule.rule.redact.is_empty());
            return redacts.then(withheld);
        };
        let rules: Vec<&CompiledResultRule> = rules.collect();
        let mut after = before.clone();
        // Half of a secret matches no pattern, so all levels redact before any of them cuts.
        for rule in &rules {
            rule.redact(&mut after);
        }
        for rule in &rules {
            rule.shape(&mut after);
        }
        (after != before).then(|| to_raw_value(&after).expect("a value of JSON can be serialized"))
    }
}

impl CompiledResultRule {
    fn applies_to(&self, tool: &str, is_error: bool) -> bool {
        let kind = if is_error {
            ResultKind::Error
        } else {
            ResultKind::Ok
        };
        names_match(&self.rule.tools, tool) && self.rule.on.is_none_or(|on| on == kind)
    }

    fn redact(&self, content: &mut Value) {
        for text in texts(content) {
            self.redact_text(text);
        }
    }

    /// Cuts and appends.
    fn shape(&self, content: &mut Value) {
        if let Some(most) = self.rule.max_chars {
            let mut left = most as usize;
            for text in texts(content) {
                left = cut(text, left);
            }
        }
        if let Some(appended) = &self.rule.append {
            append(content, appended);
        }
    }

    fn redact_text(&self, text: &mut String) {
        if self.rule.unread {
            *text = format!(
                "[withheld: {} says in a way that cannot be read what is to be redacted here]",
                self.rule.source
            );
            return;
        }
        // A pattern that cannot be compiled redacts the whole text.
        let compile = || {
            self.rule
                .redact
                .iter()
                .map(|pattern| regex(pattern).ok())
                .collect()
        };
        let with = self.rule.with.as_deref().unwrap_or(REDACTED);
        let Some(patterns) = self.redact.get_or_init(compile) else {
            with.clone_into(text);
            return;
        };
        for pattern in patterns {
            if pattern.is_match(text) {
                *text = pattern
                    .replace_all(text, regex::NoExpand(with))
                    .into_owned();
            }
        }
    }
}

/// Returns the replacement for a result that cannot be parsed.
fn withheld() -> Box<RawValue> {
    let text = "[redacted: the result could not be read]";
    to_raw_value(&serde_json::json!([{"type": "text", "text": text}]))
        .expect("a value of JSON can be serialized")
}

/// Returns the texts of a result.
fn texts(content: &mut Value) -> Vec<&mut String> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter_mut().filter_map(text_of).collect(),
        _ => Vec::new(),
    }
}

fn text_of(part: &mut Value) -> Option<&mut String> {
    if part.get("type")? != "text" {
        return None;
    }
    match part.get_mut("text")? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Cuts the middle of a text. Returns the number of characters left for the next one.
pub(crate) fn cut(text: &mut String, most: usize) -> usize {
    let length = text.chars().count();
    if length <= most {
        return most - length;
    }
    let (head, tail) = (most - most / 3, most / 3);
    let at = |index: usize| {
        text.char_indices()
            .nth(index)
            .map_or(text.len(), |(at, _)| at)
    };
    let (head, tail) = (at(head), at(length - tail));
    let left_out = length - most;
    *text = format!(
        "{}\n[… {left_out} characters left out …]\n{}",
        &text[..head],
        &text[tail..]
    );
    0
}

/// Appends a text to the last one, or as a new part if there is none.
fn append(content: &mut Value, appended: &str) {
    match texts(content).pop() {
        Some(last) => {
            if !last.is_empty() && !last.ends_with('\n') {
                last.push('\n');
            }
            last.push_str(appended);
        }
        None => {
            if let Value::Array(parts) = content {
                parts.push(serde_json::json!({"type": "text", "text": appended}));
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn content_without_text_does_not_change() {
        let rules = [json!({"redact": ["a"], "append": "b"})];
        for content in [json!(null), json!({"a": "a"}), json!(1)] {
            assert_eq!(applied(&rules, "bash", &content, false), None, "{content}");
        }
    }
}
