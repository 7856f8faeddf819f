//! Rules on the strings of a value that are free text, and how they are replaced.

use serde_json::Value;

/// Replaces a string; whose it is decides how.
pub(super) type Replace<'r> = &'r dyn Fn(&FreeText, &mut String);

/// The strings of a value that are free text.
pub(super) enum FreeText {
    /// None.
    Nothing,
    /// All: what tools are given and give back.
    Tool,
    /// All: what people and models say.
    Said,
    /// All: what people and models choose or fill in. A name in the definitions is no free text.
    Chosen,
    /// A list with these strings in each element.
    Each(&'static FreeText),
    /// An object with these strings in its members, and none in the others.
    Only(&'static [Member]),
    /// An object with these strings in some members, none in the names in others, and these in all others.
    Except(
        &'static [&'static str],
        &'static [Member],
        &'static FreeText,
    ),
    /// An object with its kind in this member: the strings of the kinds, and of all others.
    ByKind(&'static str, &'static [Member], &'static FreeText),
}

/// The name of a member or a kind, and the strings in it.
pub(super) type Member = (&'static str, &'static FreeText);

use FreeText::{ByKind, Chosen, Each, Except, Nothing, Only, Said, Tool};

impl FreeText {
    /// Replaces the strings that are free text. A value of an unexpected type has nothing else.
    pub(super) fn apply(&self, value: &mut Value, replace: Replace<'_>) {
        let find = |rules: &[Member], name: &str| {
            let found = rules.iter().find(|(known, _)| *known == name);
            found.map(|(_, rule)| *rule)
        };
        match (self, value) {
            (Nothing, _) => {}
            (Each(rule), Value::Array(elements)) => {
                for element in elements {
                    rule.apply(element, replace);
                }
            }
            (Only(rules), Value::Object(members)) => {
                for (name, value) in members {
                    find(rules, name).unwrap_or(&Nothing).apply(value, replace);
                }
            }
            (Except(names, rules, others), Value::Object(members)) => {
                for (name, value) in members {
                    let is_name = value.is_string() && names.contains(&&**name);
                    let others = if is_name { &Nothing } else { *others };
                    find(rules, name).unwrap_or(others).apply(value, replace);
                }
            }
            (ByKind(member, rules, others), value @ Value::Object(_)) => {
                match value.get(member) {
                    Some(Value::String(kind)) => find(rules, kind).unwrap_or(others),
                    Some(_) => &Tool,
                    None => others,
                }
                .apply(value, replace);
            }
            (Each(rule) | Except(_, _, rule) | ByKind(_, _, rule), value) => {
                rule.apply(value, replace);
            }
            (Only(_), value) => Tool.apply(value, replace),
            (Tool | Said | Chosen, value) => each_string(value, &mut |text| replace(self, text)),
        }
    }
}

/// Visits all strings of a value that are not names.
fn each_string(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(elements) => {
            for element in elements {
                each_string(element, visit);
            }
        }
        Value::Object(members) => {
            for value in members.values_mut() {
                each_string(value, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
