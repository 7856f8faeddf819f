//! Answers to events, and what is printed for them.

use serde_json::{Value, json};

use super::event::EventName;
use super::tool_result::{Replacement, in_its_form};

/// The exit code that blocks, in the hosts that know one.
pub(super) const BLOCKED: u8 = 2;

/// The answer to an event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HookAnswer {
    pub(super) decision: HookDecision,
    /// A text that the model reads.
    pub(super) context: Option<String>,
    /// A text that only the person reads.
    pub(super) notice: Option<String>,
}

/// The decision of an answer.
#[derive(Debug, Default, PartialEq)]
pub(super) enum HookDecision {
    /// The host continues as it would.
    #[default]
    GoOn,
    /// The tool call must not run; the reason for the model.
    Deny(String),
    /// The tool call runs if the user agrees, whom the host asks; the reason for both.
    Ask(String),
    /// The tool call runs with these arguments.
    Input(Value),
    /// The model reads this instead of the result.
    Replace(Replacement),
    /// The prompt does not reach the model; the text that the person reads.
    BlockPrompt(String),
    /// The agent must not stop; the text for the model.
    Continue(String),
}

impl HookAnswer {
    pub(super) fn of(decision: HookDecision) -> Self {
        Self {
            decision,
            ..Self::default()
        }
    }

    /// The answer that only adds a text for the model.
    pub(super) fn for_model(text: impl Into<String>) -> Self {
        Self {
            context: Some(text.into()),
            ..Self::default()
        }
    }

    /// The answer to a prompt that does not reach the model.
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::of(HookDecision::BlockPrompt(text.into()))
    }

    /// The answer to a command of the person that cannot be carried out.
    pub(super) fn not_done(reason: &str) -> Self {
        Self::refused(format!(
            "Nothing was done: {reason}. Fix this, then give the command again."
        ))
    }

    /// The answer if no decision can be made: closed where a guard is at stake, open elsewhere.
    pub(super) fn closed(event: EventName, reason: &str) -> Self {
        Self::of(match event {
            EventName::ToolCall | EventName::Unknown => HookDecision::Deny(format!(
                "[workflow] This call is blocked, because it could not be judged: {reason}. Tell the user."
            )),
            EventName::ToolResult => HookDecision::Replace(Replacement {
                text: format!(
                    "[workflow] The result of this call is withheld, because it could not be checked: {reason}. Tell the user."
                ),
                redacted: None,
            }),
            EventName::SessionStart
            | EventName::Prompt
            | EventName::Stop
            | EventName::Interrupt
            | EventName::Compaction
            | EventName::CompactionCheck
            | EventName::Unused => HookDecision::GoOn,
        })
    }
}

/// The output of a hook, and its exit code.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: u8,
}

/// The members of an answer, each by its path: `a/b` is the member `b` of `a`.
pub(super) type Members = &'static [(&'static str, Member)];

/// The value of a member.
#[derive(Debug, Clone, Copy)]
pub(super) enum Member {
    Is(&'static str),
    False,
    /// The host's name of the event.
    Event,
    /// The text of the decision, or the arguments of the call.
    Content,
    /// The result of the tool with the text of the decision, in the tool's own form.
    Result,
}

/// The form in which a host reads answers, without a key that it may refuse.
#[derive(Debug)]
pub(super) struct AnswerForm {
    /// A denied call.
    pub(super) deny: Members,
    /// True if a denial has to be an exit code as well.
    pub(super) deny_exits: bool,
    /// A call about which the host asks the user.
    pub(super) ask: Members,
    /// The arguments of a call.
    pub(super) input: Members,
    /// What the model reads instead of a result.
    pub(super) replace: Members,
    /// A prompt that does not reach the model.
    pub(super) block: Members,
    /// An agent that must not stop.
    pub(super) remind: Members,
    /// A text that the model reads.
    pub(super) context: Members,
    /// A text that only the user reads.
    pub(super) notice: Members,
}

pub(super) const OUTPUT_EVENT: &str = "hookSpecificOutput/hookEventName";
const REASON: &str = "hookSpecificOutput/permissionDecisionReason";

/// The form that the hosts' own are made of: that of Claude Code, with only the keys that the strictest of them accepts.
pub(super) const FORM: AnswerForm = AnswerForm {
    deny: &[
        (OUTPUT_EVENT, Member::Event),
        ("hookSpecificOutput/permissionDecision", Member::Is("deny")),
        (REASON, Member::Content),
    ],
    ask: &[
        (OUTPUT_EVENT, Member::Event),
        ("hookSpecificOutput/permissionDecision", Member::Is("ask")),
        (REASON, Member::Content),
    ],
    deny_exits: true,
    input: &[
        (OUTPUT_EVENT, Member::Event),
        ("hookSpecificOutput/permissionDecision", Member::Is("allow")),
        ("hookSpecificOutput/updatedInput", Member::Content),
    ],
    replace: BLOCK,
    block: BLOCK,
    remind: BLOCK,
    context: CONTEXT,
    notice: &[("systemMessage", Member::Content)],
};

pub(super) const CONTEXT: Members = &[
    (OUTPUT_EVENT, Member::Event),
    ("hookSpecificOutput/additionalContext", Member::Content),
];

const BLOCK: Members = &[
    ("decision", Member::Is("block")),
    ("reason", Member::Content),
];

impl AnswerForm {
    /// Prints an answer to an event of a host with these events.
    pub(super) fn print(
        &self,
        event: EventName,
        events: &[(&'static str, EventName)],
        answer: &HookAnswer,
        result: Option<&Value>,
    ) -> Printed {
        let name = event.of(events);
        let mut printed = json!({});
        let mut add = |members: Members, content: Value| {
            // An event that could not be read has no name.
            let has_event = members
                .iter()
                .any(|(_, member)| matches!(member, Member::Event));
            if has_event && name.is_empty() {
                return;
            }
            for (path, member) in members {
                let value = match member {
                    Member::Is(text) => json!(text),
                    Member::False => json!(false),
                    Member::Event => json!(name),
                    Member::Content => content.clone(),
                    Member::Result => match &answer.decision {
                        HookDecision::Replace(it) => {
                            in_its_form(result.cloned().unwrap_or_default(), it)
                        }
                        _ => Value::Null,
                    },
                };
                match path.split_once('/') {
                    Some((outer, inner)) => printed[outer][inner] = value,
                    None => printed[path] = value,
                }
            }
        };
        match &answer.decision {
            HookDecision::GoOn => {}
            HookDecision::Deny(reason) => add(self.deny, json!(reason)),
            HookDecision::Ask(reason) => add(self.ask, json!(reason)),
            HookDecision::Input(input) => add(self.input, input.clone()),
            HookDecision::Replace(it) => add(self.replace, json!(it.text)),
            HookDecision::BlockPrompt(text) => add(self.block, json!(text)),
            HookDecision::Continue(text) => add(self.remind, json!(text)),
        }
        let takes_context = matches!(
            event,
            EventName::SessionStart | EventName::Prompt | EventName::ToolResult
        );
        if let (Some(context), true) = (&answer.context, takes_context) {
            add(self.context, json!(context));
        }
        if let Some(notice) = &answer.notice {
            add(self.notice, json!(notice));
        }
        let is_empty = printed.as_object().is_some_and(serde_json::Map::is_empty);
        let (stderr, code) = match &answer.decision {
            // Blocks in every way that a host may understand.
            HookDecision::Deny(reason) if self.deny_exits || is_empty => (reason.clone(), BLOCKED),
            _ => (String::new(), 0),
        };
        Printed {
            stdout: if is_empty {
                String::new()
            } else {
                printed.to_string()
            },
            stderr,
            code,
        }
    }
}
