//! Fields with which a tool whose name says that it reads may do more.

use serde_json::{Map, Value};

use super::builtin_rule::any_string;
use crate::text::word_of_line;
use crate::tool_names::{ToolName, changes, has_listed, is_listed, is_verb, says_change, words};
use workflow_shell::{Effect, analyze};

/// Returns the first field with which a call may do more than read.
pub(super) fn acting_field<'f>(tool: &ToolName, fields: &'f Map<String, Value>) -> Option<&'f str> {
    fields.iter().find_map(|(key, value)| {
        let acts = acts(tool, &words(key), value);
        acts.then_some(&**key).or_else(|| in_value(tool, value))
    })
}

fn in_value<'f>(tool: &ToolName, value: &'f Value) -> Option<&'f str> {
    match value {
        Value::Object(fields) => acting_field(tool, fields),
        Value::Array(items) => items.iter().find_map(|item| in_value(tool, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Returns whether a field may do more than read, by the words of its name and its value.
fn acts(tool: &ToolName, field: &[String], value: &Value) -> bool {
    if value.is_null() || *value == false || *value == "" {
        return false;
    }
    let has = |list| has_listed(list, field);
    let (first, last) = (field.first(), field.last());
    let on = value.to_string().to_lowercase();
    let turns_on = is_listed("on", on.trim_matches('"')) && !has("presenting");
    let says_change = |text: &str| says_change(&words(text));
    let may_change = |text: &str| {
        let is_query = has("queries") && last.is_some_and(|word| word != "id");
        let is_plain = match (tool.takes_statements(), is_query) {
            _ if has("statements") => false,
            (true, true) => false,
            (true, false) => text
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.:/@".contains(c)),
            (false, true) => {
                let is_searched = tool.searches() && !text.contains([';', '|', '{', '(']);
                let is_verb = |word: &String| changes(word) && !is_listed("things", word);
                is_searched || !words(text).iter().any(is_verb)
            }
            (false, false) => true,
        };
        !is_plain && !only_asks(text)
    };
    is_listed("acting", &field.concat())
        || last.is_some_and(|word| is_listed("sending", word)) && *value != true
        || first.is_some_and(|word| is_verb(word) || turns_on && changes(word))
        || has("outputs") && has("path_words")
        || has("operations") && any_string(value, &says_change)
        || any_string(value, &may_change)
}

/// Returns whether a text is one `select`, as `psql` would run it.
fn only_asks(text: &str) -> bool {
    let line = format!("psql -c {}", word_of_line(text));
    analyze(&line).effect() == Effect::Reads
}
