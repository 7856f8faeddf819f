//! The time without a run: what `withoutRun` of the settings blocks, and what is offered then.
//!
//! Nothing is guessed from a prompt: the first call that is blocked is the moment. Where the host has dialogs the user decides
//! about it, elsewhere the reason names the commands, for the model to pass on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::call_guard::{ALLOW_ONCE, CANNOT_ASK, CallVerdict, PendingCall, blocked, described};
use super::commands::{NewRun, PendingDoor, VerdictInRun};
use super::controls::{Answered, CommandOutcome};
use super::phase::ResolvedPhase;
use super::questions::Topic;
use super::{Session, controls, inputs, task_id};
use crate::definition::{Loaded, QUICK, Tier, spelled_duration};
use crate::effect::{BlockKind, Delivery, Effects, Notice, Question, Reply, ToolDecision};
use crate::event::{Answer, Entry};
use crate::policy::rules::Call;
use crate::run::entry_type;
use crate::types::{Millis, RequestId};
use crate::{text, white_space};

/// The version of [`StoredDoor`].
const VERSION: u32 = 1;
/// The time for which the answer to the question lifts the rules.
const FREELY: Millis = 30 * 60_000;
/// The longest time for which the user may lift them.
const LONGEST: Millis = 24 * 3_600_000;
/// The characters of a prompt that become a description.
const MAX_PROMPT: u32 = 10_000;

const OFFER_QUICK: &str = "Quick: a run of one phase";
const OFFER_FREELY: &str = "Write freely for 30 minutes";
const NO: &str = "No";
const BEING_ASKED: &str = "\nThe user is being asked what to do: wait.";
const NEEDS_INPUTS: &str = "The user starts a workflow and is asked for its inputs: wait.";
const NOT_TRUSTED: &str = "it or its settings come from this project, which is not trusted.";

/// What the user decided for the time without a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Door {
    stored: StoredDoor,
    /// The user's last prompt, if it may become the description of a run.
    pub(super) prompt: Option<String>,
    /// The last message that was sent in the user's name.
    pub(super) sent: Option<String>,
}

/// The decision, as an entry of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StoredDoor {
    version: u32,
    /// When the rules hold again, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    off_until: Option<Millis>,
    /// True if the user was asked, and started nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    asked: bool,
}

impl Door {
    /// The decision that the entries of a session contain. A run ends that not to start one.
    pub(crate) fn of(entries: &[Entry<'_>]) -> Self {
        let mut stored = StoredDoor::default();
        for entry in entries {
            if entry.custom_type == entry_type::STATE {
                stored.asked = false;
            } else if entry.custom_type == entry_type::DOOR {
                let read = entry
                    .data
                    .and_then(|data| serde_json::from_str(data.get()).ok());
                stored = read
                    .filter(|read: &StoredDoor| read.version == VERSION)
                    .unwrap_or_default();
            }
        }
        Self {
            stored,
            ..Self::default()
        }
    }

    /// The time for which the rules are lifted still.
    fn lifted_for(&self, now: Millis) -> Option<Millis> {
        let until = self.stored.off_until?;
        until.checked_sub(now).filter(|left| *left > 0)
    }

    /// Forgets that the user was asked, because a run starts. Its entry says so.
    pub(crate) fn forget(&mut self) {
        self.stored.asked = false;
    }

    /// Stores until when the rules are lifted, or that the user was asked.
    fn decide(&mut self, off_until: Option<Millis>, out: &mut Effects) {
        self.stored = StoredDoor {
            version: VERSION,
            off_until,
            asked: off_until.is_none(),
        };
        out.lifted |= self.lifted_for(out.now()).is_some();
        out.append_entry(entry_type::DOOR, &self.stored);
    }
}

impl Session {
    /// Returns true if no run is active, and the settings say what holds then.
    pub fn is_at_door(&self) -> bool {
        self.call_guard.has_door() && self.active().is_none()
    }

    /// Returns true if a call is stopped because no run is active: what can be started is needed to decide about it.
    pub fn is_stopped_at_door(&self, call: &Call<'_>) -> bool {
        self.is_in_force() && self.call_guard.stops_at_door(call)
    }

    /// Returns true if no run is active, and the rules for that are not lifted.
    pub(super) fn is_in_force(&self) -> bool {
        self.is_at_door() && self.door.lifted_for(self.out.now()).is_none()
    }

    /// Notes a prompt that may become the description of a run, unless the session has sent it.
    pub(super) fn note_prompt(&mut self, prompt: Option<&str>) {
        let prompt = prompt.filter(|_| self.call_guard.has_door());
        if prompt.is_none_or(|prompt| self.door.sent.as_deref() != Some(prompt)) {
            let prompt = prompt.map(white_space::trim);
            let prompt = prompt.filter(|prompt| !prompt.is_empty());
            self.door.prompt = prompt.map(|prompt| text::shortened(prompt, MAX_PROMPT));
        }
    }

    /// Decides about a call that is stopped because no run is active.
    pub(super) fn at_door(
        &mut self,
        call: &Call<'_>,
        pending: PendingCall,
        cause: &str,
        question: Option<Question>,
        definitions: Option<&Arc<Loaded>>,
    ) {
        let request = pending.request;
        let mut why = String::new();
        if let (Some((start, tier)), Some(loaded)) = (self.settings.start(), definitions)
            && !start.ask
            && question.is_none()
        {
            let name = start.workflow.clone();
            let run = self.new_at_door(&name, loaded);
            let is_trusted = |run: &NewRun| {
                let is_users = tier == Tier::Global && run.is_users();
                is_users || self.host.project_trusted == Some(true)
            };
            let run = run.and_then(|run| is_trusted(&run).then_some(run).ok_or(NOT_TRUSTED.into()));
            match run.and_then(NewRun::completed) {
                Ok(mut run) => {
                    run.by_settings = true;
                    self.start(&run, Some(Delivery::Steer));
                    if self.active().is_some() {
                        let verdict = self.judge(request, call);
                        return self.follow(request, verdict);
                    }
                }
                Err(refusal) => why = format!("\n`{name}` was not started: {refusal}"),
            }
        }
        let asks = |topic: &Topic| matches!(topic, Topic::Door(_));
        let (is_open, can_ask) = (self.questions.is_open(asks), self.questions.can_ask());
        if let Some(loaded) = definitions
            && can_ask
            && !(is_open || self.door.stored.asked)
        {
            self.ask_at_door(call, pending, cause, loaded);
            return self.refresh_status();
        }
        let commands = self.commands_at_door(definitions.map(Arc::as_ref));
        let verdict = if let Some(mut question) = question {
            if !can_ask {
                // The host asks by itself, and knows nothing of workflows.
                question.message += &commands;
            }
            CallVerdict::Ask(question, pending)
        } else {
            let wait = if is_open { BEING_ASKED } else { "" };
            blocked(format!("{}{wait}{why}{commands}", pending.reason))
        };
        self.follow(request, verdict);
    }

    /// The commands that the model passes on to the user.
    fn commands_at_door(&self, loaded: Option<&Loaded>) -> String {
        let start = self.settings.start();
        let name = start.map_or("{name}", |(start, _)| &*start.workflow);
        let workflow = loaded.and_then(|loaded| loaded.catalog.started_by(name));
        let line = workflow.map(|workflow| inputs::start_line(workflow, "{description}"));
        let line = line.unwrap_or_else(|| format!("/workflow {name} {{description}}"));
        format!(
            "\nNo workflow is active. Ask the user to type one of these, and wait: `{line}` to start it, \
             `/workflow-quick {{description}}` for a small change, or `/workflow-off 30m` to write freely."
        )
    }

    /// A run of a workflow with the last prompt as its description; the error says why it cannot be started.
    fn new_at_door(&self, name: &str, loaded: &Arc<Loaded>) -> Result<NewRun, String> {
        let prompt = self.door.prompt.as_deref();
        let prompt = prompt.ok_or("there is no prompt that describes the task.")?;
        NewRun::described(name, prompt, Arc::clone(loaded))
    }

    /// Asks the user what to start.
    fn ask_at_door(
        &mut self,
        call: &Call<'_>,
        pending: PendingCall,
        cause: &str,
        loaded: &Arc<Loaded>,
    ) {
        let start = self.settings.start();
        let start = start.map(|(start, _)| start.workflow.clone());
        let offers = start.map(|name| (format!("Start {name}"), name));
        let quick = (OFFER_QUICK.to_owned(), QUICK.to_owned());
        let mut problems = String::new();
        let mut runs = Vec::new();
        for (offer, name) in offers.into_iter().chain([quick]) {
            let offered = self.new_at_door(&name, loaded).and_then(|run| {
                if run.missing_input().is_some() {
                    return Ok(Some((offer, run, None)));
                }
                let run = run.completed()?;
                let verdict = self.judge_in(&run, pending.request, call);
                Ok(verdict.map(|verdict| (offer, run, Some(verdict))))
            });
            match offered {
                Ok(offered) => runs.extend(offered),
                Err(why) => {
                    problems = format!("{problems}\n\n{name} cannot be started here: {why}");
                }
            }
        }
        let mut question = Question::new("No workflow is active", String::new());
        let offers = runs.iter().map(|(offer, ..)| offer.clone());
        let once = pending.needs_consent().then_some(ALLOW_ONCE);
        let others = once.into_iter().chain([OFFER_FREELY, NO]);
        question.options = offers.chain(others.map(str::to_owned)).collect();
        if pending.needs_consent() {
            self.out.asked.push(pending.asked(None));
        }
        let shown = described(call);
        let task = self.door.prompt.as_deref().unwrap_or_default();
        question.message = format!(
            "{shown}\n\nIt is stopped by {cause}\n\nWhat holds for this task?\n{}{problems}\n\n\
             No: it is blocked, and you are not asked again before the next run.",
            text::shortened(task, 200)
        );
        let pending = PendingDoor {
            call: pending,
            runs,
        };
        self.ask(Topic::Door(Box::new(pending)), question);
    }

    /// What the first phase of a run says of a call; `None` if it does not begin.
    fn judge_in(&self, run: &NewRun, request: RequestId, call: &Call<'_>) -> Option<VerdictInRun> {
        let now = self.out.now();
        let progress = run.progress(run.workflow()?, task_id(0, now), now);
        let (catalog, settings) = (&run.loaded.catalog, &run.loaded.settings);
        let phase = ResolvedPhase::of(&progress.ok()?, catalog, None, settings).ok()?;
        let cannot_ask = self.questions.cannot_ask(CANNOT_ASK);
        // A copy: nothing has happened yet.
        let mut guard = self.call_guard.clone();
        let out = &mut Effects::at(now);
        let verdict = guard.on_call(request, call, Some(&phase), None, cannot_ask, out);
        Some((verdict, std::mem::take(&mut out.denied)))
    }

    /// Acts on the user's decision on what to start.
    pub(super) fn on_door_answer(&mut self, pending: &PendingDoor, answer: Answer<'_>) {
        if answer == Answer::Chosen(ALLOW_ONCE) && pending.call.needs_consent() {
            self.call_guard
                .on_answer(&pending.call, answer, &mut self.out);
            return;
        }
        let mut runs = pending.runs.iter();
        let run = runs.find(|(offer, ..)| answer == Answer::Chosen(offer));
        if pending.call.needs_consent() {
            let in_run = run.and_then(|(.., verdict)| Some(&verdict.as_ref()?.0));
            let allowed = answer == Answer::Chosen(OFFER_FREELY)
                || matches!(in_run, Some(CallVerdict::Decided(ToolDecision::Allow)));
            self.out.asked.push(pending.call.asked(Some(allowed)));
        }
        let Answer::Chosen(chosen) = answer else {
            return self.end_door_question(pending, "The user did not decide about it.");
        };
        if chosen == OFFER_FREELY {
            self.lift_until(self.out.now().saturating_add(FREELY));
            let allow = Reply::ToolCall(ToolDecision::Allow);
            return self.out.reply(pending.call.request, allow);
        }
        let Some((_, run, verdict)) = run else {
            return self.end_door_question(pending, "The user was asked and wants no run now.");
        };
        if let Some((verdict, denied)) = verdict {
            self.start(run, Some(Delivery::Steer));
            self.out.denied.extend_from_slice(denied);
            return self.follow(pending.call.request, verdict.clone());
        }
        let (call, run) = (&pending.call, run.clone());
        call.block(BlockKind::User, NEEDS_INPUTS, &mut self.out);
        let outcome = self.proceed_with_start(None, run);
        controls::end_command(None, None, outcome, &mut self.out);
    }

    /// Blocks a call about which the user decided nothing that lets it run. The question is not repeated.
    pub(super) fn end_door_question(&mut self, pending: &PendingDoor, why: &str) {
        self.door.decide(None, &mut self.out);
        self.call_guard.count_answer(&pending.call);
        let loaded = pending.runs.first().map(|(_, run, _)| &*run.loaded);
        let why = format!("{why}{}", self.commands_at_door(loaded));
        pending.call.block(BlockKind::User, &why, &mut self.out);
    }

    /// Ends the time for which the rules are lifted, because a session begins, anew or over the entries of another one.
    pub fn end_lift(&mut self) {
        let now = self.out.now();
        if self.door.lifted_for(now).is_some() {
            self.lift_until(now);
        }
    }

    fn lift_until(&mut self, until: Millis) {
        self.door.decide(Some(until), &mut self.out);
    }

    /// Lifts the rules for a time, as the user asks.
    pub(super) fn lift_door(&mut self, argument: &str) -> CommandOutcome {
        if !self.call_guard.has_door() {
            let message = "The settings have no `withoutRun`, so there is nothing to switch off.";
            return Err(Notice::info(message));
        }
        let now = self.out.now();
        if argument == "0" {
            self.lift_until(now);
            self.out.inform("`withoutRun` of the settings holds again.");
            return Ok(Answered::Now);
        }
        let span = spelled_duration(argument).map(|seconds| Millis::from(seconds) * 1000);
        let Some(span) = span.filter(|span| (1..=LONGEST).contains(span)) else {
            return Err(Notice::warning(
                "Say for how long, at most 24h: /workflow-off 30m. /workflow-off 0 ends it.",
            ));
        };
        self.lift_until(now.saturating_add(span));
        self.out.inform(self.door_status().unwrap_or_default());
        Ok(Answered::Now)
    }

    /// What holds without a run, for the user; `None` if nothing does.
    pub(super) fn door_status(&self) -> Option<String> {
        if !self.call_guard.has_door() {
            return None;
        }
        Some(match self.door.lifted_for(self.out.now()) {
            Some(left) => {
                let seconds = left.div_ceil(1000);
                let left = match seconds {
                    ..120 => format!("{seconds} s"),
                    _ => text::duration(left),
                };
                format!("`withoutRun` of the settings is off for {left}. /workflow-off 0 ends it.")
            }
            None => "`withoutRun` of the settings holds until a workflow starts. /workflow-off 30m lifts it.".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_not_to_start_holds_until_a_run() {
        let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
        let (no, state) = (raw(r#"{"version":1,"asked":true}"#), raw("{}"));
        let entry = |custom_type, data| Entry { custom_type, data };
        let no = entry(entry_type::DOOR, Some(&*no));
        let state = entry(entry_type::STATE, Some(&*state));
        assert!(Door::of(&[no]).stored.asked);
        assert!(!Door::of(&[no, state]).stored.asked);
        let later = raw(r#"{"version":2,"offUntil":9}"#);
        let later = entry(entry_type::DOOR, Some(&*later));
        assert_eq!(Door::of(&[later]).lifted_for(1), None);
    }
}
