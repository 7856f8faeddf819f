//! Tool calls: the decision, repeated denials, and calls that wait for a person (hook-lifecycle: "handleToolCall",
//! pi-hooks: `tool_call`, `tool_result`).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::phase::{ResolvedPhase, door_levels, is_of_door, settings_levels};
use crate::definition::{OnRepeat, Settings};
use crate::diagnostic::{shown, visible};
use crate::effect::{Asked, BlockKind, Denied, Effects, Question, Reply, ToolDecision};
use crate::event::Answer;
use crate::policy::results::Results;
use crate::policy::rules::{Call, Denial, Rules, block_notice, cause, hash_of, reason};
use crate::text;
use crate::types::RequestId;

/// Characters of a call's arguments that a person is shown. What is left out would run as well, so its length is shown.
const MAX_SHOWN: usize = 16_000;
/// The spaces before a field that is shown as JSON, whatever it contains.
const DEEPEST: usize = 8;
/// The number of denials of the same call in a row after which the agent is advised to stop, or a person is asked.
const REPEATED_DENIALS: u32 = 3;
/// The reason where the host has no dialogs.
pub(crate) const CANNOT_ASK: &str = "this host cannot ask for it";
/// The options of the question about a repeated call. Hosts preselect the first.
const KEEP_BLOCKED: &str = "No, keep it blocked";
pub(super) const ALLOW_ONCE: &str = "Yes, run it this once";
/// The further options of the question about an unknown call of a run.
const ALLOW: &str = "Yes";
const ALLOW_IN_RUN: &str = "Yes, for this run";
const FOR_RUN: &str = "\nYes, for this run: exactly this command line, or without one this tool, runs without a question until the run ends.";

/// The guard of tool calls and results.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallGuard {
    /// The rules of the settings on calls, for the time without a run.
    rules: Rules,
    /// The same with those of `withoutRun`, if the settings have it.
    door: Rules,
    /// True while these hold.
    pub(super) is_at_door: bool,
    /// The rules of the settings on results, for the time without a run.
    pub(super) results: Results,
    /// True if the host itself asks the user about a call that needs consent.
    host_asks: bool,
    /// The last denied call.
    pub(super) repeated: Option<RepeatedDenial>,
    /// Calls that rules denied or referred to a person.
    pub(super) denials: u64,
}

/// A call that was denied, and how often in a row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RepeatedDenial {
    /// A hash of the tool, its arguments and the reason.
    hash: [u8; 32],
    times: u32,
}

/// What follows from a call.
#[derive(Debug, Clone)]
pub(crate) enum CallVerdict {
    Decided(ToolDecision),
    /// The user is asked.
    Ask(Question, PendingCall),
    /// It needs the user's consent, and nobody can be asked.
    Unasked(ToolDecision, Unasked),
    /// `withoutRun` stops it, by this rule; the question is for consent, if that is enough.
    AtDoor(PendingCall, String, Option<Question>),
}

/// A call that waits for a person.
#[derive(Debug, Clone)]
pub(crate) struct PendingCall {
    pub(super) request: RequestId,
    /// The call, if it is denied only by an answer.
    asked: Option<[u8; 32]>,
    /// What it has in common with calls that the user may allow with it for the run; `None` if that is not offered.
    likeness: Option<String>,
    /// The reason the agent reads if it may not run.
    pub(super) reason: String,
    /// The call, for statistics.
    denied: Denied,
}

/// A call that needs the user's consent, which nobody could be asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Unasked {
    /// A hash of the tool and its arguments: the run waits until the same call is allowed.
    pub(super) call: [u8; 32],
    /// The tool, and the rule that asks.
    pub(super) what: String,
}

impl CallGuard {
    /// A guard without rules; `host_asks` if the host itself asks the user about a call that needs consent.
    pub(crate) fn new(host_asks: bool) -> Self {
        Self {
            host_asks,
            ..Self::default()
        }
    }

    /// Adopts the rules of the settings.
    pub(crate) fn adopt_settings(&mut self, settings: &Settings) {
        let Settings { user, project, .. } = settings;
        self.rules = Rules::new(settings_levels(settings.guards()));
        let mut door = door_levels(settings.guards()).peekable();
        let outer = door.peek().map(|_| settings_levels(settings.guards()));
        self.door = Rules::new(outer.into_iter().flatten().chain(door));
        self.results = Results::new(user.results.iter().chain(&project.results));
    }

    /// Returns true if the settings have rules on tools, which apply without a run as well.
    pub(crate) fn is_guarded(&self) -> bool {
        !(self.rules.is_empty() && self.results.is_empty() && self.door.is_empty())
    }

    /// Returns true if the settings have `withoutRun`.
    pub(crate) fn has_door(&self) -> bool {
        !self.door.is_empty()
    }

    /// Returns true if `withoutRun` stops a call, and nothing that is as strict.
    pub(crate) fn stops_at_door(&self, call: &Call<'_>) -> bool {
        let denial = self.door.decide(call).denial();
        denial.is_some_and(|(denial, _)| is_of_door(denial.level))
    }

    /// Returns true if a decision may depend on arguments or results, and not on tools' names alone.
    pub(crate) fn looks_at_payload(&self, phase: Option<&ResolvedPhase>) -> bool {
        if let Some(phase) = phase {
            return phase.rules.depend_on_input() || !phase.results.is_empty();
        }
        let mut rules = [&self.rules, &self.door].into_iter();
        rules.any(Rules::depend_on_input) || !self.results.is_empty()
    }

    /// Decides about a call; `cannot_ask` is the reason why the user cannot be asked.
    pub(crate) fn on_call(
        &mut self,
        request: RequestId,
        call: &Call<'_>,
        phase: Option<&ResolvedPhase>,
        allowed: Option<&BTreeSet<String>>,
        cannot_ask: Option<&str>,
        out: &mut Effects,
    ) -> CallVerdict {
        let outside = if self.is_at_door {
            &self.door
        } else {
            &self.rules
        };
        let rules = phase.map_or(outside, |phase| &phase.rules);
        let Some((denial, needs_consent)) = rules.decide_with(call, allowed).denial() else {
            self.repeated = None;
            return CallVerdict::Decided(ToolDecision::Allow);
        };
        let (by_door, cause) = (is_of_door(denial.level), cause(&denial, call.tool()));
        let reason = match phase {
            Some(phase) => phase.denial_reason(&denial, call.tool()),
            None if by_door => format!(
                "[workflow] The tool \"{}\" is blocked by {cause}",
                call.tool()
            ),
            None => reason(&denial, call.tool(), None),
        };
        let pending = |reason, asked| PendingCall {
            request,
            asked,
            likeness: None,
            reason,
            denied: denied(call, &denial),
        };
        if denial.rule.is_none() {
            self.repeated = None;
            out.denied.push(denied(call, &denial));
            return if by_door {
                CallVerdict::AtDoor(pending(reason, None), cause, None)
            } else {
                blocked(reason)
            };
        }
        self.denials += 1;
        let levels = &*denial.denied_by;
        let hash = hash_of([call.tool(), call.input_text(), &reason]).into();
        let repeated = self.denied_again(hash);
        let times = repeated.times;
        let cannot_consent = cannot_ask.filter(|_| needs_consent && !self.host_asks);
        let next = if needs_consent {
            consent(levels, times, cannot_consent)
        } else {
            let on_repeat = rules.on_repeat(&denial);
            let can_ask = cannot_ask.is_none() && !levels.iter().any(|level| is_of_door(level));
            exception(levels, times, on_repeat, can_ask)
        };
        // An open question is not a denial: the same call may wait several times at once.
        if next.is_err() || !needs_consent {
            self.repeated = Some(repeated);
        }
        match next {
            Ok(why) => {
                let location = phase.map(ResolvedPhase::location);
                let mut question =
                    self.question(call, location, &why, &cause, &reason, needs_consent);
                let is_for_run =
                    needs_consent && denial.is_unknown && phase.is_some() && !self.host_asks;
                if is_for_run {
                    question.message += FOR_RUN;
                    question.options = ["No", ALLOW, ALLOW_IN_RUN].map(str::to_owned).to_vec();
                }
                let asked = needs_consent.then_some(hash);
                let pending = PendingCall {
                    likeness: is_for_run.then(|| call.likeness()),
                    ..pending(reason, asked)
                };
                if by_door {
                    return CallVerdict::AtDoor(pending, cause, Some(question));
                }
                CallVerdict::Ask(question, pending)
            }
            Err(addition) => {
                // The first of the same calls is enough.
                if let Some(rule) = denial.rule.filter(|rule| rule.notify && times == 1) {
                    out.warn(block_notice(&denial, rule, call.tool()));
                }
                out.denied.push(denied(call, &denial));
                let reason = reason + &addition;
                if by_door {
                    return CallVerdict::AtDoor(pending(reason, None), cause, None);
                }
                if cannot_consent.is_some() {
                    let unasked = Unasked {
                        call: hash_of([call.tool(), call.input_text()]).into(),
                        what: format!("{}, {}", shown(call.tool()), denial.location()),
                    };
                    let decision = ToolDecision::block(BlockKind::Policy, reason);
                    return CallVerdict::Unasked(decision, unasked);
                }
                blocked(reason)
            }
        }
    }

    /// Counts a denial of a call, in a row with those of the same call.
    fn denied_again(&self, hash: [u8; 32]) -> RepeatedDenial {
        let before = self.repeated.as_ref();
        let before = before.filter(|repeated| repeated.hash == hash);
        let times = before.map_or(0, |repeated| repeated.times);
        RepeatedDenial {
            hash,
            times: times.saturating_add(1),
        }
    }

    /// Answers a call as a person decided. Returns whether it is allowed.
    pub(crate) fn on_answer(
        &mut self,
        pending: &PendingCall,
        answer: Answer<'_>,
        out: &mut Effects,
    ) -> bool {
        let allowed = matches!(answer, Answer::Confirmed(true))
            || matches!(answer, Answer::Chosen(ALLOW_ONCE | ALLOW | ALLOW_IN_RUN));
        out.asked.push(pending.asked(Some(allowed)));
        if allowed {
            self.repeated = None;
            out.reply(pending.request, Reply::ToolCall(ToolDecision::Allow));
        } else {
            self.count_answer(pending);
            let why = "The user was asked and did not allow it.";
            pending.block(BlockKind::User, why, out);
        }
        allowed
    }

    /// Counts the denial of a pending call.
    pub(crate) fn count_answer(&mut self, pending: &PendingCall) {
        if let Some(hash) = pending.asked {
            self.repeated = Some(self.denied_again(hash));
        }
    }

    /// The question about a call. A host that asks itself shows the call, and the agent reads the reason where there is nobody to
    /// ask.
    fn question(
        &self,
        call: &Call<'_>,
        location: Option<String>,
        why: &str,
        cause: &str,
        reason: &str,
        needs_consent: bool,
    ) -> Question {
        let described = described(call);
        let no_run = || "No workflow is active. A rule of the settings asks.".to_owned();
        let location = location.unwrap_or_else(no_run);
        let consequence = if needs_consent {
            "Yes: this one call runs.\nNo: it is blocked, and the agent reads that you did not allow it."
        } else {
            "Yes: this one call runs although the rule blocks it.\nNo: it stays blocked. The workflow continues either way."
        };
        let message = if self.host_asks {
            format!("{reason}\nIt needs the consent of the user.")
        } else {
            format!("{location}\n\n{described}\n\n{why}\nRule of {cause}\n\n{consequence}")
        };
        let mut question = Question::new(format!("Allow {}?", shown(call.tool())), message);
        if !needs_consent {
            question.options = [KEEP_BLOCKED, ALLOW_ONCE].map(str::to_owned).to_vec();
        }
        question
    }
}

impl PendingCall {
    /// The call with the user's answer, if there is one, for statistics.
    pub(super) fn asked(&self, allowed: Option<bool>) -> Asked {
        let call = self.denied.clone();
        Asked { call, allowed }
    }

    /// Returns true if the user's consent is enough.
    pub(super) fn needs_consent(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns what calls have in common that an answer allows for the run.
    pub(crate) fn allowed_in_run(self, answer: Answer<'_>) -> Option<String> {
        let is_chosen = answer == Answer::Chosen(ALLOW_IN_RUN);
        self.likeness.filter(|_| is_chosen)
    }

    /// Blocks the call, with what the agent reads below the reason.
    pub(crate) fn block(&self, kind: BlockKind, why: &str, out: &mut Effects) {
        let decision = ToolDecision::block(kind, format!("{}\n{why}", self.reason));
        out.reply(self.request, Reply::ToolCall(decision));
    }
}

/// The denial of a call, for statistics.
fn denied(call: &Call<'_>, denial: &Denial<'_>) -> Denied {
    Denied {
        tool: call.tool().to_owned(),
        level: denial.level.to_owned(),
        rule: denial.rule.map_or("", |rule| &rule.source).to_owned(),
    }
}

/// The verdict that rules block a call.
pub(crate) fn blocked(reason: String) -> CallVerdict {
    CallVerdict::Decided(ToolDecision::block(BlockKind::Policy, reason))
}

/// The sentence with which a person is asked about a denial by a rule. The error is added to the reason of a call that is
/// blocked.
type Sentence = Result<String, String>;

/// Asks for consent, unless the same call was declined too often. A yes is given to all levels that ask.
fn consent(levels: &[String], times: u32, cannot_ask: Option<&str>) -> Sentence {
    if cannot_ask.is_none() && times <= REPEATED_DENIALS {
        return Ok(match levels {
            [] | [_] => "This call needs your consent.".to_owned(),
            all => format!(
                "This call needs your consent, by rules of {}.",
                all.join(" and ")
            ),
        });
    }
    let addition = cannot_ask.map_or_else(String::new, |why| {
        format!("\nIt needs the consent of the user, and {why}.")
    });
    Err(addition + &stop_trying(times))
}

/// Asks for an exception, if the same call is denied again and again and a person may override all of these levels.
fn exception(levels: &[String], times: u32, on_repeat: OnRepeat, can_ask: bool) -> Sentence {
    if on_repeat == OnRepeat::Block || levels.is_empty() || times != REPEATED_DENIALS || !can_ask {
        return Err(stop_trying(times));
    }
    let by = match levels {
        [_] => String::new(),
        all => format!(" It is blocked by rules of {}.", all.join(" and ")),
    };
    Ok(format!(
        "The agent has tried this call three times in a row.{by}"
    ))
}

/// The advice to an agent that repeats a denied call.
fn stop_trying(times: u32) -> String {
    if times < REPEATED_DENIALS {
        return String::new();
    }
    format!(
        "\nThis same call was refused {times} times in a row. Stop trying it: the answer will not change."
    )
}

/// A call, as a person reads it.
pub(crate) fn described(call: &Call<'_>) -> String {
    let (tool, input) = (shown(call.tool()), shortened(&readable(call.input_text())));
    format!("The agent wants to run {tool}:\n{input}")
}

/// The arguments of a call, a field a line; as they are where that would not show all of them.
fn readable(input: &str) -> String {
    let fields = serde_json::from_str::<Map<String, Value>>(input);
    let fields = fields.map(Value::Object).unwrap_or_default();
    // A field that occurs twice, or a number that is written in another way, would be lost.
    let is_whole = fields.to_string().len() == input.len();
    let lines = below(&fields, 2).filter(|_| is_whole);
    lines.unwrap_or_else(|| visible(input))
}

/// The fields of an object, or the items of a list by their numbers, a line each; `None` if there are none. What a value
/// contains is indented, so that a text cannot pass for lines of the dialog.
fn below(value: &Value, indent: usize) -> Option<String> {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.map(|(name, value)| (visible(name), value)).collect()
        }
        Value::Array(items) => {
            let items = items.iter().zip(1_usize..);
            items.map(|(item, at)| (at.to_string(), item)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    let spaces = " ".repeat(indent);
    let lines = inside.iter().map(|(name, value)| {
        let deeper = (indent < DEEPEST)
            .then(|| below(value, indent + 2))
            .flatten();
        let value = match (deeper, value) {
            (Some(lines), _) => format!("\n{lines}"),
            (None, Value::String(text)) => {
                text::join(text.split('\n').map(visible), &format!("\n{spaces}  "))
            }
            (None, other) => visible(&other.to_string()),
        };
        let space = if value.starts_with('\n') { "" } else { " " };
        format!("{spaces}{name}:{space}{value}")
    });
    (!inside.is_empty()).then(|| text::join(lines, "\n"))
}

/// Arguments in a question to a person: the whole text, or its beginning and end and the length of the middle.
fn shortened(text: &str) -> String {
    let Some((head, hidden, tail)) = text::ends(text, MAX_SHOWN / 2, MAX_SHOWN / 2) else {
        return text.to_owned();
    };
    format!("{head}\n\n[{hidden} CHARACTERS ARE NOT SHOWN. YES ALLOWS THEM AS WELL]\n\n{tail}")
}
