//! The form that a key takes, for a value that is written in a shorter one: `edit` for `[edit]`.

use super::key::{Key, ValueType};
use super::section::Section;
use crate::definition::syntax::Kind;
use crate::diagnostic::{Finding, shown};

/// The longest text that a help repeats, in bytes.
const MAX_REPEATED: usize = 80;

/// The finding about a value of the wrong type, with the form that it most likely means.
pub(super) fn in_its_form(finding: Finding, key: &Key, kind: &Kind<'_>) -> Option<Finding> {
    let text = match kind {
        Kind::Text(text) if text.len() <= MAX_REPEATED && !text.contains('\n') => &**text,
        Kind::Number(number) => {
            let is_exit = key.value == ValueType::Map(Section::Expect);
            let help = format!("write `{}: {{exit: {number}}}`", key.name);
            return is_exit.then(|| finding.help(help));
        }
        Kind::List(_) if matches!(key.value, ValueType::Tools | ValueType::ReadOnlyOrTools) => {
            let help = "write `tools: {blacklist: [..]}` for tools that are blocked, or `tools: {whitelist: [..]}` for the only \
                        ones that are allowed";
            return Some(finding.help(help));
        }
        _ => return None,
    };
    let form = match key.value {
        ValueType::Texts | ValueType::ToolNames | ValueType::Phases | ValueType::Choices => {
            format!("[{text}]")
        }
        ValueType::ListOf(Section::Gate) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            format!("[{{run: [{}]}}]", words.join(", "))
        }
        ValueType::Map(Section::Expect) if text == "nonzero" => "{exit: nonzero}".to_owned(),
        ValueType::Map(Section::Approve) => {
            let help = format!("write `{}: {{ask: \"{}\"}}`", key.name, shown(text));
            return Some(finding.help(help));
        }
        _ => return None,
    };
    let finding = finding.help(format!("write `{}: {}`", key.name, shown(&form)));
    Some(finding.fix(text, &form))
}
