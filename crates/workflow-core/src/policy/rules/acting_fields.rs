//! Fields with which a tool whose name says that it reads may do more.

use serde_json::{Map, Value};

use super::arguments::{any_string, maps};
use crate::text::word_of_line;
use crate::tool_names::{ToolName, changes, has_listed, is_listed, is_verb, says_change, words};
use workflow_shell::{Effect, analyze};

/// Returns the first field with which a call may do more than read.
pub(super) fn acting_field<'f>(tool: &ToolName, fields: &'f Map<String, Value>) -> Option<&'f str> {
    fields.iter().find_map(|(key, value)| {
        let acts = acts(tool, &words(key), value);
        let inside = || {
            maps(value)
                .into_iter()
                .find_map(|fields| acting_field(tool, fields))
        };
        acts.then_some(&**key).or_else(inside)
    })
}

/// Returns whether a field may do more than read, by the words of its name and its value.
fn acts(tool: &ToolName, field: &[String], value: &Value) -> bool {
    let (Some(first), Some(last)) = (field.first(), field.last()) else {
        return false;
    };
    if value.is_null() || *value == false || *value == "" {
        return false;
    }
    let has = |list| has_listed(list, field);
    let is_action = |word: &String| {
        let is_thing = is_listed("things", word) && *value != true;
        changes(word) && !is_thing && !is_listed("presenting", word)
    };
    let is_noun = is_listed("nouns", last) && !is_verb(first) && *value != true;
    let is_query = has("queries") && last != "id";
    let takes_statements = tool.has("statements") || tool.has("queries");
    let is_name = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || "_-.:/@".contains(c))
    };
    let is_searched = |text: &str| tool.searches() && !text.contains([';', '|', '{', '(']);
    // One `select`, as `psql` would run it.
    let line = |text: &str| format!("psql -c {}", word_of_line(text));
    let only_asks = |text: &str| analyze(&line(text)).effect() == Effect::Reads;
    let may_change = |text: &str| {
        let is_statement = has("statements") || takes_statements && (is_query || !is_name(text));
        let says_so = || is_query && !is_searched(text) && words(text).iter().any(is_action);
        (is_statement || says_so()) && !only_asks(text)
    };
    is_listed("acting", &field.concat())
        || !is_noun && (is_action(first) || is_action(last))
        || has("outputs") && has("path_words")
        || is_listed("sending", last) && any_string(value, &|_| true)
        || is_listed("switches", last) && any_string(value, &|text| text.starts_with('-'))
        || has("operations") && any_string(value, &|text| says_change(&words(text)))
        || any_string(value, &may_change)
}
