//! The rules of a run, implemented directly: the effect of each event, and the decision on each tool.
//!
//! A run is a walk over the flattened list of its phases, without the engine.

use workflow_core::definition::{
    Phase, PhaseEntry, Rule, RuleAction, Settings, ToolAccess, Workflow,
};

/// The tools that are tried everywhere.
pub(crate) const TOOLS: &[&str] = &["read", "edit", "bash", "format_disk", "workflow_step"];

/// A phase in the order `next` meets them.
#[derive(Debug)]
pub(crate) struct FlatPhase {
    pub(crate) phase: Phase,
    /// The workflows around it, root first, each with the index of the entry in it.
    pub(crate) path: Vec<(String, usize)>,
    /// The target of `loop`; `None` if the scope may not loop.
    pub(crate) loops_to: Option<usize>,
    scopes: Vec<Workflow>,
}

/// The phases of a run of the first workflow.
pub(crate) fn positions(workflows: &[Workflow]) -> Vec<FlatPhase> {
    let mut positions = Vec::new();
    visit(&workflows[0], workflows, &mut Vec::new(), &mut positions);
    positions
}

fn visit(
    workflow: &Workflow,
    workflows: &[Workflow],
    around: &mut Vec<(Workflow, usize)>,
    positions: &mut Vec<FlatPhase>,
) {
    let start = positions.len();
    for (at, entry) in workflow.phases.iter().enumerate() {
        around.push((workflow.clone(), at));
        match entry {
            PhaseEntry::Subworkflow(key) => {
                let inner = workflows.iter().find(|workflow| workflow.key == key.key);
                visit(inner.expect("it is there"), workflows, around, positions);
            }
            PhaseEntry::Phase(phase) => positions.push(FlatPhase {
                phase: phase.clone(),
                path: around
                    .iter()
                    .map(|(workflow, at)| (workflow.key.clone(), *at))
                    .collect(),
                loops_to: workflow.loopable.then_some(start),
                scopes: around
                    .iter()
                    .map(|(workflow, _)| workflow.clone())
                    .collect(),
            }),
        }
        around.pop();
    }
}

/// The decision on a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    Runs,
    Asked,
    Blocked,
}

/// The strictest level decides; a level's first rule for the tool decides, its list otherwise.
pub(crate) fn access(tool: &str, settings: &Settings, position: Option<&FlatPhase>) -> Access {
    if tool == "workflow_step" {
        return Access::Runs;
    }
    let mut levels = vec![(settings.user.tools.as_ref(), settings.user.rules.as_slice())];
    if let Some(position) = position {
        levels.extend(
            position
                .scopes
                .iter()
                .map(|scope| (scope.tools.as_ref(), scope.rules.as_slice())),
        );
        levels.push((
            position.phase.tools.as_ref(),
            position.phase.rules.as_slice(),
        ));
    }
    let decisions = levels
        .iter()
        .map(|(list, rules)| of_level(tool, *list, rules));
    decisions.max().unwrap_or(Access::Runs)
}

fn of_level(tool: &str, list: Option<&ToolAccess>, rules: &[Rule]) -> Access {
    let is_in = |names: &[String]| names.iter().any(|name| name == tool);
    if let Some(rule) = rules.iter().find(|rule| is_in(&rule.tools)) {
        return match rule.action {
            RuleAction::Allow => Access::Runs,
            RuleAction::Ask => Access::Asked,
            RuleAction::Block => Access::Blocked,
        };
    }
    let runs = match list {
        Some(ToolAccess::Blacklist(list)) => !is_in(list),
        Some(ToolAccess::Whitelist(list)) => is_in(list),
        Some(ToolAccess::ReadOnly { .. } | ToolAccess::All { .. }) => {
            panic!("the model does not generate it")
        }
        None => true,
    };
    if runs { Access::Runs } else { Access::Blocked }
}

/// The position of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum At {
    /// There is none.
    Nowhere,
    Phase(usize),
    /// Done, and not announced.
    Done,
    /// Cancelled, and not announced.
    Cancelled,
}

/// The reason why a run paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Pause {
    /// Reminders are used up.
    Limit,
    /// The phase needs an approval.
    Approval,
}

/// A person's decision outside of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Decision {
    Approve,
    Revise,
    /// A decision about content that has changed since.
    Outdated,
}

/// A session as far as the rules are concerned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Reading {
    pub(crate) at: At,
    /// A first `cancel` waits for its second.
    confirming: bool,
    pub(crate) reminders: u32,
    pub(crate) paused: Option<Pause>,
    pub(crate) counting: bool,
    /// True if the response in progress moved the run.
    moved: Option<bool>,
    /// A gate runs.
    pub(crate) checking: bool,
    /// A dialog about leaving the phase is open.
    pub(crate) approving: bool,
    /// An approval is requested, in the dialog or outside of it; it counts when it is read.
    pub(crate) awaited: bool,
    decision: Option<Decision>,
    /// A dialog about replacing the run is open; false if that run is over.
    pub(crate) replacing: Option<bool>,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Next,
    Loop,
    Cancel,
    CancelCommand,
    Start,
    ReplaceIt,
    KeepIt,
    Approve,
    Revise,
    Dismiss,
    /// A person says something outside of the host.
    Decide(Decision),
    GatePasses,
    GateFails,
    Stop,
    Abort,
    Second,
    Person,
    Prompt,
    TurnStart,
    TurnEnd,
    Reload,
}

impl Event {
    pub(crate) const ALL: &[Self] = &[
        Self::Next,
        Self::Loop,
        Self::Cancel,
        Self::CancelCommand,
        Self::Start,
        Self::ReplaceIt,
        Self::KeepIt,
        Self::Approve,
        Self::Revise,
        Self::Dismiss,
        Self::Decide(Decision::Approve),
        Self::Decide(Decision::Revise),
        Self::Decide(Decision::Outdated),
        Self::GatePasses,
        Self::GateFails,
        Self::Stop,
        Self::Abort,
        Self::Second,
        Self::Person,
        Self::Prompt,
        Self::TurnStart,
        Self::TurnEnd,
        Self::Reload,
    ];
}

impl Reading {
    /// A session without a run.
    pub(crate) fn new() -> Self {
        Self {
            at: At::Nowhere,
            confirming: false,
            reminders: 0,
            paused: None,
            counting: false,
            moved: None,
            checking: false,
            approving: false,
            awaited: false,
            decision: None,
            replacing: None,
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        matches!(self.at, At::Phase(_))
    }

    /// Returns whether this can happen now. Two open dialogs of one kind are not modelled.
    pub(crate) fn admits(&self, event: Event) -> bool {
        match event {
            Event::Approve | Event::Revise | Event::Dismiss => self.approving,
            Event::Decide(_) => self.awaited && self.decision.is_none(),
            Event::GatePasses | Event::GateFails => self.checking,
            Event::ReplaceIt | Event::KeepIt => self.replacing.is_some(),
            Event::Start => self.replacing.is_none(),
            Event::Second => self.counting,
            _ => true,
        }
    }

    /// Returns the session after the event; with `dialogs`, a person can be asked.
    pub(crate) fn after(&self, event: Event, positions: &[FlatPhase], dialogs: bool) -> Self {
        let mut next = self.clone();
        // All events but time, a decision on a start, and gates show that the agent works or a person is present.
        let silent = matches!(
            event,
            Event::KeepIt
                | Event::Revise
                | Event::Dismiss
                | Event::Decide(_)
                | Event::GateFails
                | Event::Second
                | Event::TurnEnd
        );
        if !silent
            && !matches!(
                event,
                Event::Start | Event::ReplaceIt | Event::Approve | Event::GatePasses
            )
        {
            next.counting = false;
        }
        match event {
            Event::Next => next.next(positions, dialogs),
            Event::Loop => next.repeat(positions),
            Event::Cancel => next.cancel(),
            Event::CancelCommand => next.cancel_at_once(),
            Event::Start if !self.is_active() => next.begin(),
            Event::Start => next.replacing = dialogs.then_some(true),
            Event::ReplaceIt if self.replacing == Some(true) => {
                next.replacing = None;
                next.begin();
            }
            Event::ReplaceIt | Event::KeepIt => next.replacing = None,
            Event::Approve => next.advance(positions),
            Event::Revise => {
                next.approving = false;
                next.withdraw_request();
            }
            Event::Dismiss => {
                next.approving = false;
                if !next.take_decision(positions, dialogs) {
                    next.paused = Some(Pause::Approval);
                }
            }
            Event::Decide(decision) => next.decision = Some(decision),
            Event::GatePasses => {
                next.checking = false;
                next.request_approval(positions, dialogs);
            }
            // The agent continues: an earlier decision is about other code.
            Event::GateFails => {
                next.checking = false;
                next.withdraw_request();
            }
            Event::Stop | Event::Abort => next.stop(event == Event::Abort, positions),
            Event::Second => {
                next.counting = false;
                next.reminders += 1;
            }
            Event::Person => next.resume(),
            Event::Prompt => {
                next.confirming = false;
                next.moved = None;
                next.resume();
            }
            Event::TurnStart => next.moved = Some(false),
            Event::TurnEnd => next.moved = None,
            Event::Reload => {
                next.close_dialog();
                next = Self {
                    at: next.at,
                    reminders: next.reminders,
                    paused: next.paused,
                    awaited: next.awaited,
                    decision: next.decision,
                    ..Self::new()
                }
            }
        }
        next
    }

    fn position<'p>(&self, positions: &'p [FlatPhase]) -> Option<&'p FlatPhase> {
        match self.at {
            At::Phase(at) => Some(&positions[at]),
            At::Nowhere | At::Done | At::Cancelled => None,
        }
    }

    /// Moves the run, which resets all that belongs to the old position.
    fn go(&mut self, at: At) {
        *self = Self {
            at,
            moved: self.moved,
            // Only a run that still is can be replaced.
            replacing: self
                .replacing
                .map(|valid| valid && matches!(at, At::Phase(_))),
            ..Self::new()
        };
    }

    /// Moves the run on behalf of the agent: one response moves a run once.
    fn go_on(&mut self, at: At) {
        self.go(at);
        self.moved = self.moved.map(|_| true);
    }

    fn next(&mut self, positions: &[FlatPhase], dialogs: bool) {
        self.confirming = false;
        let Some(position) = self.position(positions) else {
            return;
        };
        if self.moved == Some(true) || self.checking || self.approving {
            return;
        }
        if position.phase.gate.is_empty() {
            self.request_approval(positions, dialogs);
        } else {
            self.checking = true;
        }
    }

    /// Requests the approval, after the gate has passed.
    fn request_approval(&mut self, positions: &[FlatPhase], dialogs: bool) {
        let position = self.position(positions);
        if position.is_none_or(|position| position.phase.approve.is_none()) {
            self.advance(positions);
        } else if !self.take_decision(positions, dialogs) {
            self.ask(dialogs);
        }
    }

    /// Applies a decision made outside of the host; returns whether there was one.
    fn take_decision(&mut self, positions: &[FlatPhase], dialogs: bool) -> bool {
        match self.decision {
            None => return false,
            Some(Decision::Approve) => self.advance(positions),
            Some(Decision::Revise) => self.withdraw_request(),
            Some(Decision::Outdated) => {
                self.withdraw_request();
                self.ask(dialogs);
            }
        }
        true
    }

    fn ask(&mut self, dialogs: bool) {
        self.awaited = true;
        if dialogs {
            self.approving = true;
        } else {
            self.paused = Some(Pause::Approval);
        }
    }

    /// Withdraws the approval request, and a pause for it.
    fn withdraw_request(&mut self) {
        self.awaited = false;
        self.decision = None;
        self.paused.take_if(|why| *why == Pause::Approval);
    }

    /// Closes the dialogs; a request without a pause ends with its dialog.
    fn close_dialog(&mut self) {
        self.approving = false;
        if self.paused != Some(Pause::Approval) {
            self.withdraw_request();
        }
    }

    fn advance(&mut self, positions: &[FlatPhase]) {
        let At::Phase(at) = self.at else { return };
        self.go_on(if at + 1 < positions.len() {
            At::Phase(at + 1)
        } else {
            At::Done
        });
    }

    fn repeat(&mut self, positions: &[FlatPhase]) {
        self.confirming = false;
        if self.moved == Some(true) {
            return;
        }
        let position = self.position(positions);
        if let Some(start) = position.and_then(|position| position.loops_to) {
            self.go_on(At::Phase(start));
        }
    }

    fn cancel(&mut self) {
        if !self.is_active() {
            return;
        }
        if self.confirming {
            self.go(At::Cancelled);
        } else {
            self.confirming = true;
        }
    }

    fn cancel_at_once(&mut self) {
        if self.is_active() {
            self.go(At::Nowhere);
        }
    }

    fn begin(&mut self) {
        self.replacing = self.replacing.map(|_| false);
        self.go(At::Phase(0));
        self.moved = self.moved.map(|_| false);
    }

    fn stop(&mut self, aborted: bool, positions: &[FlatPhase]) {
        self.confirming = false;
        self.checking = false;
        self.close_dialog();
        self.moved = None;
        let waits = self
            .position(positions)
            .map(|position| position.phase.auto_continue.wait == Some(true));
        match waits {
            None => self.at = At::Nowhere,
            Some(waits) if waits || aborted || self.paused.is_some() => {}
            Some(_) if self.reminders >= 1 => self.paused = Some(Pause::Limit),
            Some(_) => self.counting = true,
        }
        if self.at == At::Nowhere {
            self.reminders = 0;
            self.paused = None;
        }
    }

    /// Resumes the run on a message of a person, unless it is paused for an approval.
    fn resume(&mut self) {
        if self.is_active() {
            self.reminders = 0;
            self.paused.take_if(|why| *why == Pause::Limit);
        }
    }
}
