//! The rules of a run, read directly: what is to become of each input, and of each tool.
//!
//! A run is a walk over the flattened list of its phases. Nothing here asks the engine.

use workflow_core::definition::{
    Phase, PhaseEntry, Rule, RuleAction, Settings, ToolAccess, Workflow,
};

/// The tools that are asked about everywhere.
pub(crate) const TOOLS: &[&str] = &["read", "edit", "bash", "format_disk", "workflow_step"];

/// A phase in the order `next` meets them.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) phase: Phase,
    /// The workflows around it, root first, each with the place in it.
    pub(crate) path: Vec<(String, usize)>,
    /// Where `loop` goes; `None` where it may not.
    pub(crate) loops_to: Option<usize>,
    scopes: Vec<Workflow>,
}

/// The phases of a run of the first workflow.
pub(crate) fn places(workflows: &[Workflow]) -> Vec<Place> {
    let mut places = Vec::new();
    visit(&workflows[0], workflows, &mut Vec::new(), &mut places);
    places
}

fn visit(
    workflow: &Workflow,
    workflows: &[Workflow],
    around: &mut Vec<(Workflow, usize)>,
    places: &mut Vec<Place>,
) {
    let start = places.len();
    for (at, entry) in workflow.phases.iter().enumerate() {
        around.push((workflow.clone(), at));
        match entry {
            PhaseEntry::Subworkflow(key) => {
                let inner = workflows.iter().find(|workflow| workflow.key == *key);
                visit(inner.expect("it is there"), workflows, around, places);
            }
            PhaseEntry::Phase(phase) => places.push(Place {
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

/// What becomes of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Runs,
    Asked,
    Blocked,
}

/// The strictest level decides; a level's first rule for the tool speaks for it, its list otherwise.
pub(crate) fn fate(tool: &str, settings: &Settings, place: Option<&Place>) -> Fate {
    if tool == "workflow_step" {
        return Fate::Runs;
    }
    let mut levels = vec![(settings.user.tools.as_ref(), settings.user.rules.as_slice())];
    if let Some(place) = place {
        levels.extend(
            place
                .scopes
                .iter()
                .map(|scope| (scope.tools.as_ref(), scope.rules.as_slice())),
        );
        levels.push((place.phase.tools.as_ref(), place.phase.rules.as_slice()));
    }
    let fates = levels
        .iter()
        .map(|(list, rules)| of_level(tool, *list, rules));
    fates.max().unwrap_or(Fate::Runs)
}

fn of_level(tool: &str, list: Option<&ToolAccess>, rules: &[Rule]) -> Fate {
    let is_in = |names: &[String]| names.iter().any(|name| name == tool);
    if let Some(rule) = rules.iter().find(|rule| is_in(&rule.tools)) {
        return match rule.action {
            RuleAction::Allow => Fate::Runs,
            RuleAction::Ask => Fate::Asked,
            RuleAction::Block => Fate::Blocked,
        };
    }
    let runs = match list {
        Some(ToolAccess::Blacklist(list)) => !is_in(list),
        Some(ToolAccess::Whitelist(list)) => is_in(list),
        None => true,
    };
    if runs { Fate::Runs } else { Fate::Blocked }
}

/// Where a run is.
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

/// Why a run rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rests {
    /// Pushes are used up.
    Limit,
    /// The phase needs a person's word.
    Word,
}

/// What a person said outside of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    Approve,
    Revise,
    /// Something about what was shown before it changed.
    Outdated,
}

/// A session as far as the rules are concerned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Reading {
    pub(crate) at: At,
    /// A first `cancel` waits for its second.
    confirming: bool,
    pub(crate) pushes: u32,
    pub(crate) rests: Option<Rests>,
    pub(crate) counting: bool,
    /// Whether the response in progress moved the run.
    moved: Option<bool>,
    /// A gate runs.
    pub(crate) checking: bool,
    /// A person is asked whether the phase may be left.
    pub(crate) approving: bool,
    /// A word about it is waited for, in the dialog or outside of it; it counts when it is read.
    pub(crate) awaited: bool,
    said: Option<Said>,
    /// A person is asked whether to start anew, in the place of this run or of one that is over.
    pub(crate) replacing: Option<bool>,
}

/// What can happen.
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
    Say(Said),
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
        Self::Say(Said::Approve),
        Self::Say(Said::Revise),
        Self::Say(Said::Outdated),
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
            pushes: 0,
            rests: None,
            counting: false,
            moved: None,
            checking: false,
            approving: false,
            awaited: false,
            said: None,
            replacing: None,
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        matches!(self.at, At::Phase(_))
    }

    /// Whether this can happen now. Whether somebody is asked twice at once is none of this model's business.
    pub(crate) fn admits(&self, event: Event) -> bool {
        match event {
            Event::Approve | Event::Revise | Event::Dismiss => self.approving,
            Event::Say(_) => self.awaited && self.said.is_none(),
            Event::GatePasses | Event::GateFails => self.checking,
            Event::ReplaceIt | Event::KeepIt => self.replacing.is_some(),
            Event::Start => self.replacing.is_none(),
            Event::Second => self.counting,
            _ => true,
        }
    }

    /// What is to become of it; `dialogs` says whether a person can be asked.
    pub(crate) fn after(&self, event: Event, places: &[Place], dialogs: bool) -> Self {
        let mut next = self.clone();
        // Whatever happens but time, a word about a start, or a gate, the agent works or a person is there.
        let silent = matches!(
            event,
            Event::KeepIt
                | Event::Revise
                | Event::Dismiss
                | Event::Say(_)
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
            Event::Next => next.next(places, dialogs),
            Event::Loop => next.repeat(places),
            Event::Cancel => next.cancel(),
            Event::CancelCommand => next.cancel_at_once(),
            Event::Start if !self.is_active() => next.begin(),
            Event::Start => next.replacing = dialogs.then_some(true),
            Event::ReplaceIt if self.replacing == Some(true) => {
                next.replacing = None;
                next.begin();
            }
            Event::ReplaceIt | Event::KeepIt => next.replacing = None,
            Event::Approve => next.advance(places),
            Event::Revise => {
                next.approving = false;
                next.forget_word();
            }
            Event::Dismiss => {
                next.approving = false;
                if !next.hear_said(places, dialogs) {
                    next.rests = Some(Rests::Word);
                }
            }
            Event::Say(said) => next.said = Some(said),
            Event::GatePasses => {
                next.checking = false;
                next.come_to_word(places, dialogs);
            }
            // The agent goes on: what was said before is about other code.
            Event::GateFails => {
                next.checking = false;
                next.forget_word();
            }
            Event::Stop | Event::Abort => next.stop(event == Event::Abort, places),
            Event::Second => {
                next.counting = false;
                next.pushes += 1;
            }
            Event::Person => next.hear_person(),
            Event::Prompt => {
                next.confirming = false;
                next.moved = None;
                next.hear_person();
            }
            Event::TurnStart => next.moved = Some(false),
            Event::TurnEnd => next.moved = None,
            Event::Reload => {
                next.close_dialog();
                next = Self {
                    at: next.at,
                    pushes: next.pushes,
                    rests: next.rests,
                    awaited: next.awaited,
                    said: next.said,
                    ..Self::new()
                }
            }
        }
        next
    }

    fn place<'p>(&self, places: &'p [Place]) -> Option<&'p Place> {
        match self.at {
            At::Phase(at) => Some(&places[at]),
            At::Nowhere | At::Done | At::Cancelled => None,
        }
    }

    /// The run stands somewhere else: nothing of the old place counts.
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

    /// The same, by the agent: one response moves a run once.
    fn go_on(&mut self, at: At) {
        self.go(at);
        self.moved = self.moved.map(|_| true);
    }

    fn next(&mut self, places: &[Place], dialogs: bool) {
        self.confirming = false;
        let Some(place) = self.place(places) else {
            return;
        };
        if self.moved == Some(true) || self.checking || self.approving {
            return;
        }
        if place.phase.gate.is_empty() {
            self.come_to_word(places, dialogs);
        } else {
            self.checking = true;
        }
    }

    /// The gate is behind it.
    fn come_to_word(&mut self, places: &[Place], dialogs: bool) {
        let place = self.place(places);
        if place.is_none_or(|place| place.phase.approve.is_none()) {
            self.advance(places);
        } else if !self.hear_said(places, dialogs) {
            self.ask(dialogs);
        }
    }

    /// Whether a person said something outside of the host, which counts now.
    fn hear_said(&mut self, places: &[Place], dialogs: bool) -> bool {
        match self.said {
            None => return false,
            Some(Said::Approve) => self.advance(places),
            Some(Said::Revise) => self.forget_word(),
            Some(Said::Outdated) => {
                self.forget_word();
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
            self.rests = Some(Rests::Word);
        }
    }

    /// No word is waited for, and the run does not rest for one.
    fn forget_word(&mut self) {
        self.awaited = false;
        self.said = None;
        self.rests.take_if(|why| *why == Rests::Word);
    }

    /// What was asked in a dialog only is asked no more.
    fn close_dialog(&mut self) {
        self.approving = false;
        if self.rests != Some(Rests::Word) {
            self.forget_word();
        }
    }

    fn advance(&mut self, places: &[Place]) {
        let At::Phase(at) = self.at else { return };
        self.go_on(if at + 1 < places.len() {
            At::Phase(at + 1)
        } else {
            At::Done
        });
    }

    fn repeat(&mut self, places: &[Place]) {
        self.confirming = false;
        let place = self.place(places);
        if let Some(start) = place.and_then(|place| place.loops_to) {
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

    fn stop(&mut self, aborted: bool, places: &[Place]) {
        self.confirming = false;
        self.checking = false;
        self.close_dialog();
        self.moved = None;
        let waits = self
            .place(places)
            .map(|place| place.phase.auto_continue.wait == Some(true));
        match waits {
            None => self.at = At::Nowhere,
            Some(waits) if waits || aborted || self.rests.is_some() => {}
            Some(_) if self.pushes >= 1 => self.rests = Some(Rests::Limit),
            Some(_) => self.counting = true,
        }
        if self.at == At::Nowhere {
            self.pushes = 0;
            self.rests = None;
        }
    }

    /// Only a word about its phase wakes a run that rests for one.
    fn hear_person(&mut self) {
        if self.is_active() {
            self.pushes = 0;
            self.rests.take_if(|why| *why == Rests::Limit);
        }
    }
}
