//! The rules of the flow between phases, implemented directly: a walk over the flattened list of the phases.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use workflow_core::definition::{
    Comparison, Condition, Phase, PhaseEntry, Subject, Target, Test, Workflow,
};

use crate::flow_catalogs::JUMPS;
use crate::reading::{FlatPhase, positions};

/// The flattened phases, and the ids of the entries around each.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) phases: Vec<FlatPhase>,
    workflows: Vec<Workflow>,
    counts: bool,
}

/// The position of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Phase(usize),
    Done,
    Cancelled,
    /// The run did not start.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wait {
    Gate,
    Approval,
}

/// A run as far as the rules are concerned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Flow {
    pub(crate) at: Place,
    visits: BTreeMap<String, u32>,
    jumps: BTreeMap<String, u32>,
    allowed: BTreeSet<String>,
    failures: BTreeMap<String, u32>,
    /// True while a way back belongs to the visit of its phase, so that the failures count on.
    keeps_failures: bool,
    /// By phase.
    outputs: BTreeMap<String, bool>,
    outcomes: BTreeMap<String, String>,
    answers: BTreeMap<String, String>,
    skipped: Vec<String>,
    limits: Vec<String>,
    outcome: Option<String>,
    refused: Option<String>,
    pub(crate) is_paused: bool,
    /// Paused, because a check has failed too often.
    is_blocked: bool,
    pub(crate) waits: Option<Wait>,
    /// The handover of the agent in this phase.
    named: Option<String>,
    flag: Option<bool>,
}

/// An event of a run with flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Next(Option<String>, Option<bool>),
    Loop,
    GatePasses,
    GateFails,
    Answer(usize),
    // A person's controls.
    PersonNext(Option<String>),
    Skip,
    Goto(String),
    Message,
    Resume,
}

impl Step {
    pub(crate) fn is_persons_control(&self) -> bool {
        matches!(
            self,
            Self::PersonNext(_) | Self::Skip | Self::Goto(_) | Self::Message | Self::Resume
        )
    }
}

/// The limits of a move: none, those that are declared, or another one for the rest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limits {
    Off,
    Declared,
    All,
}

/// The phases at which a move may end.
#[derive(Clone)]
enum Fence {
    None,
    /// Those of a way back. A limit may name another place.
    Back(BTreeSet<usize>),
    UpTo(BTreeSet<usize>),
}

enum Arrived {
    At(usize),
    Done,
    Cancelled,
    Refused(String),
    Nowhere,
}

/// The scopes around a phase.
enum Entered {
    All,
    /// The one of this key may not be entered so often.
    Refused(String),
    /// The conditions of the one that starts at this depth do not hold.
    Skipped(usize),
}

impl Walk {
    pub(crate) fn of(workflows: &[Workflow]) -> Self {
        let phases = positions(workflows);
        let counts = phases.iter().any(|flat| {
            let Phase {
                when,
                outcomes,
                max_visits,
                gate,
                approve,
                ..
            } = &flat.phase;
            !when.is_empty()
                || !outcomes.is_empty()
                || max_visits.is_some()
                || gate
                    .iter()
                    .any(|gate| gate.on_fail.is_some() || gate.tries.is_some())
                || approve
                    .as_ref()
                    .is_some_and(|approve| !approve.targets.is_empty())
        });
        let is_conditional = |entry: &PhaseEntry| match entry {
            PhaseEntry::Subworkflow(reference) => !reference.when.is_empty(),
            PhaseEntry::Phase(_) => false,
        };
        let mut entries = workflows.iter().flat_map(|workflow| &workflow.phases);
        Self {
            phases,
            counts: counts || entries.any(is_conditional),
            workflows: workflows.to_vec(),
        }
    }

    /// The key of the values of a phase.
    fn value_key(&self, at: usize) -> String {
        let (key, _) = self.phases[at].path.last().expect("it is in a scope");
        format!("{key}/{}", self.phase(at).id)
    }

    /// The conditions of the subworkflow around a phase that starts at this depth of its path.
    fn conditions(&self, at: usize, depth: usize) -> &[Condition] {
        let (key, index) = &self.phases[at].path[depth - 1];
        let mut workflows = self.workflows.iter();
        let scope = workflows.find(|workflow| workflow.key == *key);
        match &scope.expect("it is there").phases[*index] {
            PhaseEntry::Subworkflow(reference) => &reference.when,
            PhaseEntry::Phase(_) => &[],
        }
    }

    /// The first phase behind the subworkflow around a phase that starts at this depth of its path.
    fn behind(&self, at: usize, depth: usize) -> usize {
        let around = &self.phases[at].path[..depth];
        let is_behind = |other: &usize| !self.phases[*other].path.starts_with(around);
        let end = self.phases.len();
        (at..end).find(is_behind).unwrap_or(end)
    }

    pub(crate) fn phase(&self, at: usize) -> &Phase {
        &self.phases[at].phase
    }

    fn key(&self, at: usize, depth: usize, id: &str) -> String {
        let path = &self.phases[at].path;
        let around = path[..depth].iter();
        let around: Vec<String> = around
            .map(|(key, index)| format!("{key}:{index}/"))
            .collect();
        format!("{}{}#{id}", around.concat(), path[depth].0)
    }

    fn own_key(&self, at: usize, id: &str) -> String {
        self.key(at, self.phases[at].path.len() - 1, id)
    }

    /// The phases of the entry of the scope around a phase with this id.
    fn entry(&self, at: usize, id: &str) -> BTreeSet<usize> {
        let path = &self.phases[at].path;
        let (last, around) = path.split_last().expect("it is in a scope");
        let scope = self.workflows.iter().find(|scope| scope.key == last.0);
        let scope = scope.expect("it is there");
        let index = scope.phases.iter().position(|entry| match entry {
            PhaseEntry::Phase(phase) => phase.id == id,
            PhaseEntry::Subworkflow(reference) => reference.key == id,
        });
        let index = index.expect("it has this entry");
        let is_in = |other: &usize| {
            let other = &self.phases[*other].path;
            other.starts_with(around) && other.get(around.len()) == Some(&(last.0.clone(), index))
        };
        (0..self.phases.len()).filter(is_in).collect()
    }

    /// The phases of the scope around a phase up to the entry with this id.
    fn up_to(&self, at: usize, id: &str) -> BTreeSet<usize> {
        let path = &self.phases[at].path;
        let around = &path[..path.len() - 1];
        let last = *self.entry(at, id).last().expect("an entry has phases");
        let is_in = |other: &usize| self.phases[*other].path.starts_with(around);
        (0..=last).filter(is_in).collect()
    }

    /// The phases at which a jump to this entry may end: a way back never leads past the phase itself, and after a failure one on
    /// not past the entry.
    fn way_back(&self, at: usize, id: &str, has_failed: bool) -> Fence {
        let first = *self.entry(at, id).first().expect("an entry has phases");
        let own = self.phases[at].path.last().expect("it is in a scope");
        let own = own.1;
        let around = self.phases[at].path.len() - 1;
        if self.phases[first].path[around].1 > own {
            return if has_failed {
                Fence::Back(self.up_to(at, id))
            } else {
                Fence::None
            };
        }
        Fence::Back(self.up_to(at, &self.phase(at).id))
    }

    /// The phases up to the entry that a limit leads to, in the scope that it is in.
    fn around(&self, from: usize, to: usize) -> BTreeSet<usize> {
        let Some(flat) = self.phases.get(to) else {
            return [to].into();
        };
        let (path, from) = (&flat.path, &self.phases[from].path);
        let is_same =
            |depth: &usize| path[..*depth] == from[..*depth] && path[*depth].0 == from[*depth].0;
        let depths = 0..path.len().min(from.len());
        let depth = depths.take_while(is_same).last().unwrap_or_default();
        let is_in = |other: &usize| {
            let other = &self.phases[*other].path;
            other.starts_with(&path[..depth])
                && other.get(depth).is_some_and(|at| at.1 <= path[depth].1)
        };
        (0..self.phases.len()).filter(is_in).collect()
    }

    /// Returns true if the limit of visits of a phase leads behind it, past its gate or its approval.
    fn limit_passes_guard(&self, at: usize) -> bool {
        let phase = self.phase(at);
        let leads_behind = match &phase.on_limit {
            Some(Target::Next | Target::End | Target::Done) => true,
            Some(Target::EndAs(_)) => self.phases[at].path.len() == 1,
            Some(Target::Phase(id)) => self.entry(at, id).first().is_some_and(|to| *to > at),
            Some(Target::Pause | Target::Cancel) | None => false,
        };
        leads_behind && (!phase.gate.is_empty() || phase.approve.is_some())
    }

    /// The first phase that a target leads to; `None` is the end of the run.
    fn first_of(&self, at: usize, target: &Target) -> Option<usize> {
        match target {
            Target::Next => Some(at + 1),
            Target::End | Target::EndAs(_) => {
                let around = self.phases[at].path.len() - 1;
                (around > 0).then(|| self.behind(at, around))
            }
            Target::Phase(id) => self.entry(at, id).first().copied(),
            Target::Done => None,
            Target::Pause | Target::Cancel => Some(at),
        }
    }

    /// The ids of the entries of the scope around a phase, but that of its own.
    fn others(&self, at: usize) -> Vec<String> {
        let (key, own) = self.phases[at].path.last().expect("it is in a scope");
        let scope = self.workflows.iter().find(|scope| scope.key == *key);
        let entries = scope.expect("it is there").phases.iter().enumerate();
        let others = entries.filter(|(index, _)| index != own);
        let mut ids: Vec<String> = others.map(|(_, entry)| entry.id().to_owned()).collect();
        ids.dedup();
        ids
    }

    /// The visits of a run that came to a phase in order.
    fn entered_in_order(&self, at: usize) -> BTreeMap<String, u32> {
        let mut visits = BTreeMap::new();
        for (depth, (key, index)) in self.phases[at].path.iter().enumerate() {
            let scope = self.workflows.iter().find(|scope| scope.key == *key);
            let entries = &scope.expect("it is there").phases[..=*index];
            for entry in entries {
                *visits.entry(self.key(at, depth, entry.id())).or_default() += 1;
            }
        }
        visits
    }

    /// The phases from the start of the scope to this one.
    fn so_far(&self, at: usize) -> BTreeSet<usize> {
        self.phases[at]
            .loops_to
            .map_or_else(BTreeSet::new, |first| (first..=at).collect())
    }
}

impl Flow {
    /// A run that has just been started.
    pub(crate) fn started(walk: &Walk) -> Self {
        let mut flow = Self {
            at: Place::Never,
            visits: BTreeMap::new(),
            jumps: BTreeMap::new(),
            allowed: BTreeSet::new(),
            failures: BTreeMap::new(),
            keeps_failures: false,
            outputs: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            answers: BTreeMap::new(),
            skipped: Vec::new(),
            limits: Vec::new(),
            outcome: None,
            refused: None,
            is_paused: false,
            is_blocked: false,
            waits: None,
            named: None,
            flag: None,
        };
        match flow.arrive(walk, None, Some(0), Limits::Off, false, Fence::None) {
            Arrived::At(at) => flow.at = Place::Phase(at),
            _ => flow.at = Place::Never,
        }
        flow
    }

    /// The data of the run, as the session has it.
    pub(crate) fn data(&self) -> Value {
        let mut data = json!({});
        let outputs = self.outputs.iter();
        let outputs: BTreeMap<_, _> = outputs
            .map(|(phase, flag)| (phase, json!({ "f": flag })))
            .collect();
        let mut put = |key: &str, value: Value, is_empty: bool| {
            if !is_empty {
                data[key] = value;
            }
        };
        put("visits", json!(self.visits), self.visits.is_empty());
        put("jumps", json!(self.jumps), self.jumps.is_empty());
        put(
            "allowedVisits",
            json!(self.allowed),
            self.allowed.is_empty(),
        );
        put("failures", json!(self.failures), self.failures.is_empty());
        put("outputs", json!(outputs), outputs.is_empty());
        put("outcomes", json!(self.outcomes), self.outcomes.is_empty());
        let answers = self.answers.iter();
        let answers: BTreeMap<_, _> = answers
            .map(|(phase, choice)| (phase, json!({ "choice": choice })))
            .collect();
        put("answers", json!(answers), answers.is_empty());
        let mut handed_over = json!({});
        if let Some(name) = &self.named {
            handed_over["outcome"] = json!(name);
        }
        if let Some(flag) = self.flag {
            handed_over["outputs"] = json!({ "f": flag });
        }
        let is_nothing = handed_over == json!({});
        put("handedOver", handed_over, is_nothing);
        put("skipped", json!(self.skipped), self.skipped.is_empty());
        put("limits", json!(self.limits), self.limits.is_empty());
        put("outcome", json!(self.outcome), self.outcome.is_none());
        put("refusedVisit", json!(self.refused), self.refused.is_none());
        data
    }

    /// The highest count, which bounds what is explored.
    pub(crate) fn highest(&self) -> u32 {
        let counts = self.visits.values().chain(self.failures.values());
        counts.copied().max().unwrap_or_default()
    }

    /// Everything that can happen now.
    pub(crate) fn steps(&self, walk: &Walk) -> Vec<Step> {
        let Place::Phase(at) = self.at else {
            return Vec::new();
        };
        let phase = walk.phase(at);
        let mut steps = vec![Step::Skip];
        if walk.phases[at].loops_to.is_some() {
            steps.push(Step::Loop);
        }
        match self.waits {
            Some(Wait::Gate) => steps.extend([Step::GatePasses, Step::GateFails]),
            Some(Wait::Approval) => {
                let choices = phase
                    .approve
                    .as_ref()
                    .map_or(0, |approve| approve.choices.len());
                steps.extend((0..choices).map(Step::Answer));
            }
            None => {
                let named = phase
                    .outcomes
                    .iter()
                    .map(|outcome| Some(outcome.name.clone()));
                let outcomes: Vec<_> = [None].into_iter().chain(named).collect();
                let flags: &[Option<bool>] = match &*phase.outputs {
                    [] => &[None],
                    _ => &[None, Some(true), Some(false)],
                };
                for outcome in &outcomes {
                    steps.extend(flags.iter().map(|flag| Step::Next(outcome.clone(), *flag)));
                }
                if phase.gate.is_empty() && phase.approve.is_none() {
                    steps.extend(outcomes.into_iter().map(Step::PersonNext));
                }
            }
        }
        if self.is_paused {
            steps.push(Step::Message);
        }
        if self.is_paused || self.refused.is_some() {
            steps.push(Step::Resume);
        }
        steps.extend(walk.others(at).into_iter().map(Step::Goto));
        steps
    }

    pub(crate) fn after(&self, step: &Step, walk: &Walk) -> Self {
        let mut next = self.clone();
        let Place::Phase(at) = self.at else {
            return next;
        };
        let phase = walk.phase(at);
        match step {
            Step::Next(..) | Step::Loop if self.is_blocked => {}
            Step::Next(outcome, flag) => {
                let flag = flag.or(self.flag);
                let misses = !phase.outputs.is_empty() && flag.is_none()
                    || !phase.outcomes.is_empty() && outcome.is_none();
                if misses {
                    return next;
                }
                next.choose(walk, at, outcome.as_deref());
                if let Some(flag) = flag {
                    next.flag = Some(flag);
                    next.outputs.insert(walk.value_key(at), flag);
                }
                if !phase.gate.is_empty() {
                    next.waits = Some(Wait::Gate);
                } else if phase.approve.is_some() {
                    next.waits = Some(Wait::Approval);
                } else {
                    next.leave(walk, at, None, Limits::Declared);
                }
            }
            Step::GatePasses => {
                next.waits = None;
                if phase.approve.is_some() {
                    next.waits = Some(Wait::Approval);
                } else {
                    next.leave(walk, at, None, Limits::Declared);
                }
            }
            Step::GateFails => {
                next.waits = None;
                next.fail(walk, at);
            }
            Step::Answer(choice) => {
                next.waits = None;
                let approve = phase.approve.as_ref().expect("it is asked for");
                let chosen = approve.choices[*choice].clone();
                next.answers.insert(walk.value_key(at), chosen);
                let target = match approve.targets.get(*choice) {
                    None if *choice > 0 => return next,
                    target => target.cloned().unwrap_or(Target::Next),
                };
                next.leave(walk, at, Some(target), Limits::Declared);
            }
            Step::Loop => {
                let fence = Fence::UpTo(walk.so_far(at));
                let first = walk.phases[at].loops_to;
                next.keeps_failures = true;
                next.go(walk, at, first, Limits::Declared, false, fence);
                next.keeps_failures = false;
            }
            Step::PersonNext(outcome) => {
                if phase.outcomes.is_empty() || outcome.is_some() {
                    next.choose(walk, at, outcome.as_deref());
                    next.leave(walk, at, None, Limits::Off);
                }
            }
            Step::Skip => {
                next.outcomes.remove(&walk.value_key(at));
                next.go(walk, at, Some(at + 1), Limits::Off, false, Fence::None);
            }
            Step::Goto(id) => {
                next.outcomes.remove(&walk.value_key(at));
                let entry = walk.entry(at, id);
                let first = entry.first().copied();
                if !walk.counts && next.visits.is_empty() {
                    next.visits = walk.entered_in_order(at);
                }
                let visits = next.visits.clone();
                next.go(walk, at, first, Limits::Off, true, Fence::UpTo(entry));
                if next.visits == visits {
                    // Nothing of it applies, so the run stays.
                    return self.clone();
                }
            }
            Step::Message => (next.is_paused, next.is_blocked) = (false, false),
            Step::Resume => {
                (next.is_paused, next.is_blocked) = (false, false);
                next.allowed.extend(next.refused.take());
            }
        }
        next
    }

    /// The run in a sidecar that has just been started.
    pub(crate) fn restarted(&self) -> Self {
        Self {
            waits: None,
            ..self.clone()
        }
    }

    fn choose(&mut self, walk: &Walk, at: usize, outcome: Option<&str>) {
        let mut known = walk.phase(at).outcomes.iter();
        let found = known.find(|known| Some(&*known.name) == outcome);
        self.named = found.map(|outcome| outcome.name.clone());
        if let Some(name) = &self.named {
            self.outcomes.insert(walk.value_key(at), name.clone());
        }
    }

    /// Goes where the failed check of a phase leads, or its limit.
    fn fail(&mut self, walk: &Walk, at: usize) {
        let check = &walk.phase(at).gate[0];
        let key = format!("{}/0", walk.own_key(at, &walk.phase(at).id));
        let mut is_limit = false;
        if let Some(most) = check.tries {
            let count = self.failures.entry(key.clone()).or_default();
            *count += 1;
            is_limit = *count >= most;
        }
        let pause = Target::Pause;
        let target = if is_limit {
            Some(check.on_limit.as_ref().unwrap_or(&pause))
        } else {
            check.on_fail.as_ref()
        };
        let limits = match target {
            Some(Target::Phase(_)) => Limits::All,
            _ => Limits::Declared,
        };
        match target {
            None => {}
            Some(Target::Pause) => (self.is_paused, self.is_blocked) = (true, true),
            Some(Target::Cancel) => self.over(Place::Cancelled),
            Some(target) => {
                let fence = match target {
                    Target::Phase(id) => walk.way_back(at, id, true),
                    _ => Fence::None,
                };
                let steps = self.visits.clone();
                let to = walk.first_of(at, target);
                let times = self.failures.get(&key).copied().unwrap_or_default();
                self.keeps_failures = !is_limit;
                self.go(walk, at, to, limits, false, fence);
                self.keeps_failures = false;
                let has_moved = self.visits != steps || self.at != Place::Phase(at);
                if is_limit && has_moved {
                    let times = words_of(times);
                    let why = format!("true has failed {times}, which is its limit");
                    self.limits.insert(0, why);
                    self.outcomes.remove(&walk.value_key(at));
                } else if !has_moved && is_limit && self.refused.is_none() {
                    (self.is_paused, self.is_blocked) = (true, true);
                }
            }
        }
    }

    /// Leaves a phase by its answer or by the chosen outcome.
    fn leave(&mut self, walk: &Walk, at: usize, answer: Option<Target>, limits: Limits) {
        let answer = answer.filter(|answer| *answer != Target::Next);
        let is_answer = answer.is_some();
        let mut outcomes = walk.phase(at).outcomes.iter();
        let chosen = outcomes.find(|outcome| Some(&outcome.name) == self.named.as_ref());
        let chosen = chosen.map(|outcome| &outcome.to);
        let target = answer.or_else(|| chosen.cloned()).unwrap_or(Target::Next);
        let named = self.named.clone().filter(|_| !is_answer);
        let before = self.outcome.clone();
        if target == Target::Cancel {
            self.over(Place::Cancelled);
            return;
        }
        let to = walk.first_of(at, &target);
        let is_jump = matches!(target, Target::Phase(_));
        let limits = if is_jump && limits == Limits::Declared {
            Limits::All
        } else {
            limits
        };
        let fence = match &target {
            Target::Phase(id) if is_answer => walk.way_back(at, id, false),
            _ => Fence::None,
        };
        let here = self.clone();
        self.go(walk, at, to, limits, false, fence);
        if *self == here || self.refused.is_some() {
            self.outcome = before;
        } else {
            self.outcome = named;
        }
    }

    fn over(&mut self, at: Place) {
        *self = Self {
            at,
            is_paused: false,
            named: None,
            flag: None,
            is_blocked: false,
            ..self.restarted()
        };
    }

    fn go(
        &mut self,
        walk: &Walk,
        from: usize,
        to: Option<usize>,
        limits: Limits,
        any: bool,
        fence: Fence,
    ) {
        let mut next = self.clone();
        match next.arrive(walk, Some(from), to, limits, any, fence) {
            Arrived::At(at) => {
                next.over(Place::Phase(at));
                *self = next;
            }
            Arrived::Done => {
                next.over(Place::Done);
                *self = next;
            }
            Arrived::Cancelled => self.over(Place::Cancelled),
            Arrived::Refused(key) => {
                self.refused = Some(key);
                (self.is_paused, self.is_blocked) = (true, false);
                self.waits = None;
            }
            Arrived::Nowhere => {}
        }
    }

    /// Walks on from a phase until one applies that may be entered.
    fn arrive(
        &mut self,
        walk: &Walk,
        from: Option<usize>,
        to: Option<usize>,
        mut limits: Limits,
        mut any: bool,
        mut fence: Fence,
    ) -> Arrived {
        self.skipped.clear();
        self.limits.clear();
        self.outcome = None;
        self.refused = None;
        if std::mem::take(&mut self.keeps_failures) {
            // The way back belongs to the visit, but for what is inside of a subworkflow that begins anew.
        } else if limits == Limits::Off {
            self.failures.clear();
        } else if let Some(from) = from {
            let own = walk.own_key(from, &walk.phase(from).id) + "/";
            self.failures.retain(|key, _| !key.starts_with(&own));
        }
        let mut before = from.map_or_else(Vec::new, |from| walk.phases[from].path.clone());
        let mut redirected = BTreeSet::new();
        let mut to = to.unwrap_or(walk.phases.len());
        loop {
            if let Fence::Back(phases) | Fence::UpTo(phases) = &fence
                && !phases.contains(&to)
            {
                return Arrived::Nowhere;
            }
            if to >= walk.phases.len() {
                return Arrived::Done;
            }
            if !walk.counts && self.visits.is_empty() {
                return Arrived::At(to);
            }
            match self.enter_scopes(walk, &before, to, limits, &mut any) {
                Entered::All => before.clone_from(&walk.phases[to].path),
                Entered::Refused(key) => return Arrived::Refused(key),
                Entered::Skipped(depth) => {
                    let path = &walk.phases[to].path;
                    self.skipped.push(path[depth].0.clone());
                    before = path[..depth - 1].to_vec();
                    to = walk.behind(to, depth);
                    continue;
                }
            }
            let phase = walk.phase(to);
            let applies = phase
                .when
                .iter()
                .all(|condition| self.holds(&|id| walk.own_key(to, id), condition));
            if !std::mem::take(&mut any) && !applies {
                self.skipped.push(phase.id.clone());
                to += 1;
                continue;
            }
            let key = walk.own_key(to, &phase.id);
            if let Some(limit) = self.limit(&key, &phase.name, limits, phase.max_visits) {
                self.limits.push(limit);
                if let Some(from) = from {
                    self.outcomes.remove(&walk.value_key(from));
                }
                if walk.limit_passes_guard(to) {
                    return Arrived::Refused(key);
                }
                match &phase.on_limit {
                    Some(Target::Cancel) if phase.max_visits.is_some() => {
                        return Arrived::Cancelled;
                    }
                    Some(target) if *target != Target::Pause && redirected.insert(key.clone()) => {
                        let first = walk.first_of(to, target).unwrap_or(walk.phases.len());
                        match &fence {
                            Fence::Back(phases) | Fence::UpTo(phases)
                                if phases.contains(&first) => {}
                            Fence::Back(_) if *target == Target::Next => {
                                return Arrived::Refused(key);
                            }
                            Fence::UpTo(_) => return Arrived::Refused(key),
                            Fence::Back(_) => fence = Fence::Back(walk.around(to, first)),
                            Fence::None => {}
                        }
                        if let Target::Phase(_) = target {
                            limits = Limits::All;
                        }
                        to = first;
                        continue;
                    }
                    _ => return Arrived::Refused(key),
                }
            }
            self.count(&key, limits, phase.max_visits);
            return Arrived::At(to);
        }
    }

    /// Enters the scopes that are around a phase, and not around the path before.
    fn enter_scopes(
        &mut self,
        walk: &Walk,
        before: &[(String, usize)],
        to: usize,
        limits: Limits,
        any: &mut bool,
    ) -> Entered {
        let path = &walk.phases[to].path;
        let same = path
            .iter()
            .zip(before)
            .take_while(|(one, other)| one == other);
        let same = same.count();
        for (depth, (inner, _)) in path.iter().enumerate().skip(same + 1) {
            let conditions = walk.conditions(to, depth).iter();
            let around = |id: &str| walk.key(to, depth - 1, id);
            let applies = |condition| self.holds(&around, condition);
            if !std::mem::take(any) && !conditions.clone().all(applies) {
                return Entered::Skipped(depth);
            }
            let key = walk.key(to, depth - 1, inner);
            if self.limit(&key, inner, limits, None).is_some() {
                return Entered::Refused(key);
            }
            self.count(&key, limits, None);
            let scope = walk.key(to, depth, "");
            let scope = scope.trim_end_matches('#').to_owned();
            let is_in = |key: &String| {
                let rest = key.strip_prefix(&scope);
                rest.is_some_and(|rest| rest.starts_with(['#', ':']))
            };
            self.visits.retain(|key, _| !is_in(key));
            self.jumps.retain(|key, _| !is_in(key));
            self.failures.retain(|key, _| !is_in(key));
            self.allowed.retain(|key| !is_in(key));
            let own = format!("{inner}/");
            self.outputs.retain(|key, _| !key.starts_with(&own));
            self.outcomes.retain(|key, _| !key.starts_with(&own));
            self.answers.retain(|key, _| !key.starts_with(&own));
        }
        Entered::All
    }

    /// The limit that something has reached, as people read it. A visit that a person has allowed is used up.
    fn limit(
        &mut self,
        key: &str,
        name: &str,
        limits: Limits,
        declared: Option<u32>,
    ) -> Option<String> {
        let (counts, most) = match (limits, declared) {
            (Limits::Off, _) | (Limits::Declared, None) => return None,
            (_, Some(most)) => (&self.visits, most),
            (Limits::All, None) => (&self.jumps, JUMPS),
        };
        let count = counts.get(key).copied().unwrap_or_default();
        if count < most || self.allowed.remove(key) {
            return None;
        }
        let times = words_of(count);
        Some(match declared {
            Some(_) => format!("{name} has been entered {times}, which is its limit"),
            None => format!(
                "{name} has been the target of a jump {times}, which is the limit of the settings"
            ),
        })
    }

    fn count(&mut self, key: &str, limits: Limits, declared: Option<u32>) {
        if limits == Limits::All && declared.is_none() {
            *self.jumps.entry(key.to_owned()).or_default() += 1;
        }
        *self.visits.entry(key.to_owned()).or_default() += 1;
    }

    /// Returns whether a condition holds in a scope, of which `key_of` makes the keys of visits.
    fn holds(&self, key_of: &dyn Fn(&str) -> String, condition: &Condition) -> bool {
        let scope = key_of("");
        let own = scope.trim_end_matches('#').rsplit('/').next();
        let own = own.unwrap_or_default();
        let is_of = |key: &str, phase: &str| *key == format!("{own}/{phase}");
        let compared = |comparison: &Comparison| {
            let value = match &comparison.subject {
                Subject::Visits(id) => {
                    let visits = self.visits.get(&key_of(id));
                    Some(json!(visits.copied().unwrap_or_default()))
                }
                Subject::Output { phase, .. } => self
                    .outputs
                    .iter()
                    .find(|(key, _)| is_of(key, phase))
                    .map(|(_, flag)| json!(flag)),
                Subject::Outcome(phase) => self
                    .outcomes
                    .iter()
                    .find(|(key, _)| is_of(key, phase))
                    .map(|(_, name)| json!(name)),
                Subject::Choice(phase) => self
                    .answers
                    .iter()
                    .find(|(key, _)| is_of(key, phase))
                    .map(|(_, choice)| json!(choice)),
                other => panic!("{other} is not in these workflows"),
            };
            match &comparison.test {
                Test::Values { values, negated } => {
                    value.is_some_and(|value| values.contains(&value)) != *negated
                }
                test @ (Test::Within { .. } | Test::Only { .. }) => {
                    panic!("{test} is not in these workflows")
                }
            }
        };
        match condition {
            Condition::Is(comparison) => compared(comparison),
            Condition::Any { any } => any.iter().any(|group| group.iter().all(compared)),
        }
    }
}

fn words_of(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}
