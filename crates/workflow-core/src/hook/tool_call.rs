//! `tool_call` and `tool_result`: may this tool run now, and what does the model read of its result?
//! (hook-lifecycle: "handleToolCall", pi-hooks: `tool_call`, `tool_result`)

use std::sync::Arc;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::Session;
use crate::diagnostic::{shown, visible};
use crate::effect::{Decider, DeferredReply, Effects, Question, Reply};
use crate::policy::STEP_TOOL;
use crate::policy::rules::{Call, Decision, Denial, Override, reason};
use crate::session::Waiting;
use crate::types::RequestId;

/// Characters of a call's arguments that a person is shown. What is left out of more is said, as it would run as well.
const MOST_SHOWN: usize = 16_000;
/// The same call denied this often in a row is no misunderstanding any more.
const STUBBORN: u32 = 3;

/// A call that waits for a person.
#[derive(Debug, Clone)]
pub(crate) struct PendingCall {
    pub(crate) request: RequestId,
    /// What the agent is told if it may not run.
    pub(crate) reason: String,
}

/// A call that was denied.
#[derive(Debug, Clone)]
pub(crate) struct Denied {
    /// Stands for the tool, its arguments and the reason.
    hash: [u8; 32],
    times: u32,
}

impl Session {
    pub(crate) fn tool_called(&mut self, request: RequestId, call: &Call<'_>, out: &mut Effects) {
        self.agent_is_running(out);
        self.tool_was_used();
        let standing = self.standing().map(|(_, standing)| standing);
        let rules = standing.map_or(&self.rules, |standing| &standing.rules);
        let (denial, asked) = match rules.decide(call) {
            Decision::Allow => {
                self.denied = None;
                return;
            }
            Decision::Ask(denial) => (denial, true),
            Decision::Block(denial) => (denial, false),
        };
        if denial.rule.is_none() {
            let reason = match standing {
                Some(standing) => standing.list_reason(&denial, call.tool()),
                None => reason(&denial, call.tool(), None).into(),
            };
            self.denied = None;
            out.reply = block(reason);
        } else {
            let reason = match standing {
                Some(standing) => standing.denial_reason(&denial, call.tool()),
                None => reason(&denial, call.tool(), None),
            };
            let lifted = match denial.override_by {
                Override::Person => rules
                    .overridden(call)
                    .iter()
                    .map(level_and_source)
                    .collect(),
                Override::Never => Vec::new(),
            };
            if asked {
                self.ask_for_consent(request, call, reason, &lifted, out);
            } else {
                self.deny(request, call, reason, &lifted, out);
            }
        }
    }

    /// Asks a person about a call, unless the same was declined often enough; a yes is to all levels that ask.
    fn ask_for_consent(
        &mut self,
        request: RequestId,
        call: &Call<'_>,
        mut reason: String,
        asking: &[String],
        out: &mut Effects,
    ) {
        let times = self.denied_again(call, &reason);
        let can_ask = self.can_ask();
        if can_ask && times <= STUBBORN {
            let why = match asking {
                [] | [_] => "It needs the user's consent.".to_owned(),
                all => format!(
                    "It needs the user's consent, for which {} ask.",
                    all.join(" and ")
                ),
            };
            return self.ask_about(request, call, &why, reason, out);
        }
        if !can_ask {
            let why = self.why_not_asked("this host cannot ask for it");
            reason = format!("{reason}\nIt needs the user's consent, and {why}.");
        }
        out.reply = refused(reason, times);
    }

    /// Blocks a call by a rule; asks a person when it is always the same one, if a person may lift all that it is `against`.
    fn deny(
        &mut self,
        request: RequestId,
        call: &Call<'_>,
        reason: String,
        against: &[String],
        out: &mut Effects,
    ) {
        let times = self.denied_again(call, &reason);
        if against.is_empty() || times != STUBBORN || !self.can_ask() {
            out.reply = refused(reason, times);
            return;
        }
        let why = format!(
            "The agent tries it for the third time in a row. A yes lets this one call run, against {}.",
            against.join(" and ")
        );
        self.ask_about(request, call, &why, reason, out);
    }

    /// Counts how often in a row this call is denied with this reason.
    fn denied_again(&mut self, call: &Call<'_>, reason: &str) -> u32 {
        self.denials += 1;
        let mut hash = Sha256::new();
        for part in [call.tool(), call.input_text(), reason] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let hash: [u8; 32] = hash.finalize().into();
        let times = match &self.denied {
            Some(denied) if denied.hash == hash => denied.times.saturating_add(1),
            Some(_) | None => 1,
        };
        self.denied = Some(Denied { hash, times });
        times
    }

    /// Asks a person whether a call may run.
    fn ask_about(
        &mut self,
        request: RequestId,
        call: &Call<'_>,
        why: &str,
        reason: String,
        out: &mut Effects,
    ) {
        let id = self.next_question();
        let (tool, input) = (shown(call.tool()), in_full(call.input_text()));
        out.questions.push(Question {
            id,
            title: format!("Allow {tool}?"),
            message: format!("{tool} {input}\n\n{why}\n{reason}"),
            options: Vec::new(),
            show: None,
        });
        let call = PendingCall { request, reason };
        self.waiting.insert(id, Waiting::Call(call));
        out.reply = Reply::Later;
    }

    /// A person said whether a call may run.
    pub(crate) fn call_answered(&mut self, call: PendingCall, allowed: bool, out: &mut Effects) {
        let PendingCall { request, reason } = call;
        let reply = if allowed {
            self.denied = None;
            Reply::None
        } else {
            let reason = format!("{reason}\nThe user was asked and did not allow it.").into();
            let by = Decider::Person;
            Reply::Block { reason, by }
        };
        out.deferred.push(DeferredReply {
            request,
            reply,
            actions: Vec::new(),
        });
    }

    /// The run moves, or the settings change: what a person is asked about a call is asked under rules that hold no longer.
    pub(crate) fn call_off_calls(&mut self, what: &str, out: &mut Effects) {
        self.denied = None;
        let is_call = |waiting: &Waiting| matches!(waiting, Waiting::Call(_));
        while let Some(asked) = self.waiting.iter().find(|(_, waiting)| is_call(waiting)) {
            let id = *asked.0;
            let why = format!(
                "{what} meanwhile, so other rules may hold; try again if it is still needed"
            );
            if let Some(waiting) = self.waiting.remove(&id) {
                out.deferred.extend(waiting.unanswered(&why));
            }
        }
    }

    pub(crate) fn tool_answered(
        &mut self,
        tool: &str,
        content: Option<&RawValue>,
        is_error: bool,
        out: &mut Effects,
    ) {
        let standing = self.standing().map(|(_, standing)| standing);
        let results = standing.map_or(&self.results, |standing| &standing.results);
        if let Some(content) = content.and_then(|content| results.apply(tool, content, is_error)) {
            out.reply = Reply::Content(content);
            // What is left of it may not be what we said.
            if tool == STEP_TOOL {
                self.told.doubt_answer();
            }
        }
    }
}

/// What denies a call: the level, and where its rule is written.
fn level_and_source(denial: &Denial<'_>) -> String {
    let source = denial.rule.map_or("", |rule| &rule.source);
    if source.is_empty() {
        denial.level.to_owned()
    } else {
        format!("{} ({source})", denial.level)
    }
}

/// Blocks a call that was denied so often in a row.
fn refused(mut reason: String, times: u32) -> Reply {
    if times >= STUBBORN {
        let stop = format!(
            "\nThis same call was refused {times} times in a row. Stop trying it: the answer will not change."
        );
        reason += &stop;
    }
    block(reason.into())
}

/// A text as a person is asked about it: all of it, or as much as anybody reads and how much that is not.
fn in_full(text: &str) -> String {
    let text = visible(text);
    let length = text.chars().count();
    if length <= MOST_SHOWN {
        return text;
    }
    let place = |index: usize| {
        text.char_indices()
            .nth(index)
            .map_or(text.len(), |(at, _)| at)
    };
    let (head, tail) = (place(MOST_SHOWN / 2), place(length - MOST_SHOWN / 2));
    let hidden = length - MOST_SHOWN;
    format!(
        "{}\n\n[{hidden} CHARACTERS ARE NOT SHOWN HERE, AND A YES IS ABOUT THEM AS WELL]\n\n{}",
        &text[..head],
        &text[tail..]
    )
}

fn block(reason: Arc<str>) -> Reply {
    let by = Decider::Rule;
    Reply::Block { reason, by }
}
