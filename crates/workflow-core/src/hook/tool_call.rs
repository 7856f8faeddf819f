//! `tool_call` and `tool_result`: may this tool run now, and what does the model read of its result?
//! (hook-lifecycle: "handleToolCall", pi-hooks: `tool_call`, `tool_result`)

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::Session;
use crate::diagnostic::{shown, visible};
use crate::guard::results::cut;
use crate::guard::rules::{Call, Decision, reason};
use crate::input::{Millis, Ticket};
use crate::output::{Decider, Output, Question, Reply, Settled};
use crate::session::Waiting;

/// How long a person has to answer about a call: as long as somebody is away, and not for ever.
const PATIENCE: Millis = 30 * 60 * 1000;
/// Characters of a call's arguments that a person is shown; what is left out is said.
const LONGEST_SHOWN: usize = 4000;
/// The same call denied this often in a row is no misunderstanding any more.
const STUBBORN: u32 = 3;

/// A call that waits for a person.
#[derive(Debug, Clone)]
pub(crate) struct PendingCall {
    pub(crate) ticket: Ticket,
    /// What the agent is told if it may not run.
    pub(crate) reason: String,
    pub(crate) due: Millis,
}

/// A call that was denied.
#[derive(Debug, Clone)]
pub(crate) struct Denied {
    /// Stands for the tool, its arguments and the reason.
    hash: [u8; 32],
    times: u32,
}

impl Session {
    pub(crate) fn tool_called(
        &mut self,
        now: Millis,
        ticket: Ticket,
        call: &Call<'_>,
        out: &mut Output,
    ) {
        self.agent_is_running(out);
        self.tool_was_used();
        let standing = self.standing().map(|(_, standing)| standing);
        let rules = standing.map_or(&self.rules, |standing| &standing.rules);
        let (denial, asked) = match rules.decide(call) {
            Decision::Allowed => return,
            Decision::Asked(denial) => (denial, true),
            Decision::Blocked(denial) => (denial, false),
        };
        let is_list = denial.rule.is_none();
        let reason = match standing {
            Some(standing) => standing.denial_reason(&denial, call.tool()),
            None => reason(&denial, call.tool(), None),
        };
        if is_list {
            out.reply = block(reason);
        } else if asked {
            let why = "It needs the user's consent";
            self.ask_about(now, ticket, call, why, reason, out);
        } else {
            self.deny(now, ticket, call, reason, out);
        }
    }

    /// Blocks a call by a rule; asks a person when it is always the same one.
    fn deny(
        &mut self,
        now: Millis,
        ticket: Ticket,
        call: &Call<'_>,
        reason: String,
        out: &mut Output,
    ) {
        let times = self.denied_again(call, &reason);
        if times < STUBBORN {
            out.reply = block(reason);
        } else if times == STUBBORN && self.can_ask() {
            let why = "The agent tries it for the third time in a row";
            self.ask_about(now, ticket, call, why, reason, out);
        } else {
            out.reply = block(format!(
                "{reason}\nThis same call was refused {times} times in a row. Stop trying it: the answer will not change."
            ));
        }
    }

    /// Counts how often in a row this call is denied with this reason.
    fn denied_again(&mut self, call: &Call<'_>, reason: &str) -> u32 {
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

    /// Asks a person whether a call may run; where nobody can be asked, it may not.
    fn ask_about(
        &mut self,
        now: Millis,
        ticket: Ticket,
        call: &Call<'_>,
        why: &str,
        reason: String,
        out: &mut Output,
    ) {
        if !self.can_ask() {
            out.reply = block(format!(
                "{reason}\nIt needs the user's consent, and {}.",
                self.why_not_asked("this host cannot ask for it")
            ));
            return;
        }
        let id = self.next_question();
        let mut input = visible(call.input_text());
        cut(&mut input, LONGEST_SHOWN);
        let what = format!("{} {input}", shown(call.tool()));
        out.questions.push(Question {
            id,
            title: format!("Allow {}?", shown(call.tool())),
            message: format!("{what}\n\n{why}.\n{reason}"),
            options: Vec::new(),
            show: None,
        });
        let due = now.saturating_add(PATIENCE);
        let call = PendingCall {
            ticket,
            reason,
            due,
        };
        self.waiting.insert(id, Waiting::Call(call));
        out.reply = Reply::Later;
    }

    /// A person said whether a call may run.
    pub(crate) fn call_answered(&mut self, call: PendingCall, allowed: bool, out: &mut Output) {
        let PendingCall { ticket, reason, .. } = call;
        let reply = if allowed {
            self.denied = None;
            Reply::None
        } else {
            let reason = format!("{reason}\nThe user was asked and did not allow it.");
            let by = Decider::Person;
            Reply::Block { reason, by }
        };
        out.settled.push(Settled {
            ticket,
            reply,
            actions: Vec::new(),
        });
    }

    /// Blocks the calls about which nobody answered in time.
    pub(crate) fn give_up_waiting(&mut self, now: Millis, out: &mut Output) {
        let is_late = |waiting: &Waiting| matches!(waiting, Waiting::Call(call) if call.due <= now);
        while let Some(late) = self.waiting.iter().find(|(_, waiting)| is_late(waiting)) {
            let id = *late.0;
            if let Some(waiting) = self.waiting.remove(&id) {
                out.settled
                    .extend(waiting.unanswered("nobody answered in half an hour"));
            }
        }
    }

    pub(crate) fn tool_answered(
        &mut self,
        tool: &str,
        content: Option<&RawValue>,
        is_error: bool,
        out: &mut Output,
    ) {
        let standing = self.standing().map(|(_, standing)| standing);
        let results = standing.map_or(&self.results, |standing| &standing.results);
        if let Some(content) = content.and_then(|content| results.apply(tool, content, is_error)) {
            out.reply = Reply::Content(content);
        }
    }
}

fn block(reason: String) -> Reply {
    let by = Decider::Rule;
    Reply::Block { reason, by }
}
