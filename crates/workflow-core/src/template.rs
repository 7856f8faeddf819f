//! `{variable}` templates: one pass, values are not scanned again.

use std::collections::BTreeMap;

/// The use of a template, which decides its variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// `initialMessage`.
    InitialMessage,
    /// Phase instructions, `roleInstruction` and `advanceReminder`.
    Context,
    /// `blockReasonTemplate`.
    BlockReason,
    /// `completionMessage` and `cancelledMessage`.
    Completion,
    /// `notDoneReminder`.
    NotDone,
    /// The `prompt` of a trigger.
    Trigger,
    /// The `reason` of a rule.
    RuleReason,
    /// `ask` of `approve`.
    Ask,
    /// A guard that takes values of closed types: an argument or a path.
    Guard,
    /// A bound, which is a whole number.
    Bound,
    /// A value of `with`.
    With,
}

/// The values of a run that have dotted names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `{inputs.<name>}`.
    Inputs,
    /// `{outputs.<phase>.<name>}`.
    Outputs,
    /// `{outcome.<phase>}`.
    Outcome,
    /// `{answer.<phase>.choice}` and `{answer.<phase>.comment}`.
    Answer,
    /// `{visits.<phase>}`.
    Visits,
    /// `{change.files}` and `{change.lines}`.
    Change,
    /// `{item.number}` and `{item.count}`.
    Item,
    /// `{approval.…}`, which is `{answer.<phase>.…}` now.
    Approval,
}

impl Family {
    /// The families, those that are read in the most texts first.
    const ALL: &[Self] = &[
        Self::Inputs,
        Self::Outputs,
        Self::Outcome,
        Self::Answer,
        Self::Change,
        Self::Visits,
        Self::Item,
        Self::Approval,
    ];

    /// The beginning of its dotted names, and a name for messages.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Inputs => ("inputs.", "inputs.<name>"),
            Self::Outputs => ("outputs.", "outputs.<phase>.<name>"),
            Self::Outcome => ("outcome.", "outcome.<phase>"),
            Self::Answer => ("answer.", "answer.<phase>.comment"),
            Self::Visits => ("visits.", "visits.<phase>"),
            Self::Change => ("change.", "change.lines"),
            Self::Item => ("item.", "item.number"),
            Self::Approval => ("approval.", "answer.<phase>.comment"),
        }
    }

    /// The family of a variable's name; `None` for a plain name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|family| name.starts_with(family.names().0))
    }

    /// A name of this family, for messages.
    pub fn form(self) -> &'static str {
        self.names().1
    }
}

impl TemplateKind {
    /// Returns true if its text decides what may be done.
    pub(crate) fn is_guard(self) -> bool {
        matches!(self, Self::Guard | Self::Bound)
    }

    /// The families of dotted names that a template of this kind takes.
    pub fn families(self) -> &'static [Family] {
        match self {
            Self::InitialMessage => &Family::ALL[..1],
            Self::Completion => &Family::ALL[..5],
            Self::Context | Self::NotDone | Self::Ask | Self::Guard | Self::Bound => {
                &Family::ALL[..6]
            }
            Self::With => &Family::ALL[..7],
            Self::BlockReason | Self::Trigger | Self::RuleReason => &[],
        }
    }

    /// The variables of a template of this kind.
    #[rustfmt::skip] // A row a line.
    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Self::InitialMessage => &["workflowName", "workflowKey", "description", "firstPhaseId", "firstPhaseName", "firstPhaseEmoji",
                "firstPhaseProfiles"],
            Self::Context => &["workflowName", "workflowKey", "description", "taskId", "phaseId", "phaseName", "previousPhaseName",
                "nextPhaseName", "blockedToolsList", "toolName", "breadcrumbPath", "globalStepCount"],
            Self::BlockReason => &["workflowName", "phaseName", "toolName", "allowedTools"],
            Self::Completion => &["workflowName", "taskDescription", "taskId", "phaseCount"],
            Self::NotDone => &["workflowName", "phaseName", "phaseEmoji", "phaseInstructions", "taskDescription", "taskId", "workflowKey"],
            Self::Trigger => &["content", "body"],
            Self::Ask | Self::Guard | Self::Bound => &[],
            Self::With => &["item"],
            Self::RuleReason => &["path", "tool", "command"],
        }
    }

    /// Returns whether a name without dots is a variable of the texts of a run.
    pub(crate) fn is_of_run(name: &str) -> bool {
        let texts = [
            Self::InitialMessage,
            Self::Context,
            Self::Completion,
            Self::NotDone,
        ];
        texts.iter().any(|kind| kind.variables().contains(&name))
    }
}

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Literal text.
    Text(&'a str),
    /// `{name}`, with the name without braces and the byte offset of the brace.
    Variable(&'a str, usize),
}

/// Splits a template into text and variables; `\w` is ASCII, as in the package.
pub fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = template.get(at..).filter(|rest| !rest.is_empty())?;
        if let Some(name) = variable_at(rest) {
            let start = at;
            at += name.len() + 2;
            return Some(Piece::Variable(name, start));
        }
        let text = rest
            .char_indices()
            .skip(1)
            .find(|&(i, c)| c == '{' && variable_at(&rest[i..]).is_some());
        let end = text.map_or(rest.len(), |(i, _)| i);
        at += end;
        Some(Piece::Text(&rest[..end]))
    })
}

/// The name of the variable that opens this text.
fn variable_at(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    if end > 0 && inner[end..].starts_with('}') {
        return Some(&inner[..end]);
    }
    inner[end..].starts_with('.').then_some(())?;
    let name = &inner[..inner.find('}')?];
    // All other names with dots are text, as in the package.
    (Family::of(name).is_some() && name.split('.').all(is_name)).then_some(name)
}

/// Returns whether a text can be the name of an input, an output or an outcome.
pub(crate) fn is_name(name: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.chars().all(is_sign)
}

/// The longest text a template may become, in bytes.
pub const MAX_RESOLVED: usize = 4 << 20;

/// Replaces the variables that `value_of` knows; others stay as they are.
///
/// An emoji that is empty leaves no blank behind: the one after it goes with it, or the one before the end.
///
/// A text that would become longer than [`MAX_RESOLVED`] is cut there, and says so.
pub fn resolve<'v>(template: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut out = String::with_capacity(template.len().min(MAX_RESOLVED));
    let mut is_after_nothing = false;
    for piece in pieces(template) {
        let text = match piece {
            Piece::Text(text) if std::mem::take(&mut is_after_nothing) => {
                text.strip_prefix(' ').unwrap_or_else(|| {
                    out.truncate(out.trim_end_matches(' ').len());
                    text
                })
            }
            Piece::Text(text) => text,
            Piece::Variable(name, start) => {
                let value = value_of(name);
                is_after_nothing = name.ends_with("Emoji") && value == Some("");
                value.unwrap_or(&template[start..start + name.len() + 2])
            }
        };
        let room = MAX_RESOLVED.saturating_sub(out.len());
        if text.len() > room {
            let end = (0..=room).rev().find(|&end| text.is_char_boundary(end));
            out.push_str(&text[..end.unwrap_or_default()]);
            out.push_str("\n[cut: this text is longer than 4 MiB]");
            break;
        }
        out.push_str(text);
    }
    if is_after_nothing {
        out.truncate(out.trim_end_matches(' ').len());
    }
    out
}

/// Replaces the variables that are in a map.
pub(crate) fn with_values(template: &str, values: &BTreeMap<String, String>) -> String {
    resolve(template, |name| values.get(name).map(String::as_str))
}

/// Replaces the variables that are in a map and have a value; a guard does not act on the others.
pub(crate) fn with_known(template: &str, values: &BTreeMap<String, String>) -> String {
    let known = |name: &str| values.get(name).filter(|value| !value.is_empty());
    resolve(template, |name| known(name).map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, expect: &str) {
        let value_of = |name: &str| match name {
            "a" => Some("1"),
            "b" => Some("{a}$&"),
            _ => None,
        };
        assert_eq!(resolve(template, value_of), expect);
    }

    #[test]
    fn an_emoji_that_is_empty_leaves_no_blank() {
        let value_of = |name: &str| match name {
            "firstPhaseEmoji" | "phaseEmoji" | "description" => Some(""),
            "phaseName" => Some("Fix"),
            _ => None,
        };
        for (template, expect) in [
            (
                "Begin with {firstPhaseEmoji} {phaseName}.",
                "Begin with Fix.",
            ),
            ("Begin with {phaseName} {phaseEmoji}.", "Begin with Fix."),
            ("{phaseName} {phaseEmoji}", "Fix"),
            ("{phaseEmoji} {phaseName}", "Fix"),
            ("in {phaseEmoji}{phaseName}", "in Fix"),
            ("Do {description} now", "Do  now"),
        ] {
            assert_eq!(resolve(template, value_of), expect, "{template}");
        }
    }

    #[test]
    fn known_variables_are_replaced_and_unknown_ones_stay() {
        check("{a}-{x}-{a}", "1-{x}-1");
        check("{constructor}", "{constructor}");
    }

    #[test]
    fn dotted_names_are_variables_in_their_families_only() {
        let variables = |template: &'static str| -> Vec<&str> {
            let names = pieces(template).filter_map(|piece| match piece {
                Piece::Variable(name, _) => Some(name),
                Piece::Text(_) => None,
            });
            names.collect()
        };
        assert_eq!(
            variables("{inputs.a-b}{outputs.plan.text_1} {visits.build} {answer.plan.comment}"),
            [
                "inputs.a-b",
                "outputs.plan.text_1",
                "visits.build",
                "answer.plan.comment"
            ]
        );
        for text in [
            "{a.b}",
            "{inputs}.x",
            "{inputs.}",
            "{inputs.a.}",
            "{inputs..a}",
            "{inputs.a b}",
            "{inputs.ä}",
            "{Inputs.x}",
            "{inputs.x",
        ] {
            let plain = |name: &&str| *name != "inputs";
            assert_eq!(
                variables(text).into_iter().filter(plain).count(),
                0,
                "{text}"
            );
        }
    }

    #[test]
    fn values_are_not_scanned_again() {
        check("{b}", "{a}$&");
    }

    #[test]
    fn braces_around_anything_but_a_name_are_text() {
        check("{}{ a}{{a}}{ä}{a", "{}{ a}{1}{ä}{a");
        check("", "");
    }

    #[test]
    fn a_text_beyond_the_limit_is_cut_and_marked() {
        let value = "ä".repeat(1 << 20);
        let text = resolve(&"{x}".repeat(100), |_| Some(&value));
        assert!(text.len() < MAX_RESOLVED + 100);
        assert!(text.ends_with("[cut: this text is longer than 4 MiB]"));
    }
}
