//! What a picture shows: scopes inside scopes, phases in order, where `loop` leads, what holds in a phase.
//!
//! Owns which of a definition's facts are worth drawing, and how many boxes a picture may have. Every text in
//! it is short and fit for a page: without control characters, but not yet escaped for a format.

use std::collections::HashMap;

use workflow_core::definition::{
    Catalog, ContinueRule, Gate, Phase, PhaseEntry, Rule, Settings, Show, ToolAccess, Verdict,
    Workflow,
};
use workflow_core::diagnostic::shown;

/// Boxes in one picture. Nobody reads more, and Mermaid draws no more than 500 arrows.
pub(crate) const MOST: usize = 250;

/// A workflow as a picture.
#[derive(Debug)]
pub(crate) struct Graph {
    /// What a person types to start it; `None` if it only runs inside others.
    pub(crate) command: Option<String>,
    /// The workflow itself.
    pub(crate) root: Scope,
}

/// A workflow that runs at one place: a box with others inside.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Counts from 0, in the order of drawing, scopes and phases together.
    pub(crate) id: usize,
    pub(crate) key: String,
    pub(crate) name: String,
    /// What `loop` restarts here; `None` if it is forbidden, or nothing here could call it.
    pub(crate) back: Option<Back>,
    /// At least one.
    pub(crate) entries: Vec<Entry>,
}

/// Where `loop` leads in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Back {
    /// The last phase of the scope itself.
    pub(crate) from: usize,
    /// The first phase, which may be one of a subworkflow.
    pub(crate) to: usize,
}

/// What stands in a scope.
#[derive(Debug)]
pub(crate) enum Entry {
    Step(Step),
    Scope(Scope),
}

/// A box without others inside: a phase, or a subworkflow that is not opened.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) id: usize,
    /// Empty for a subworkflow.
    pub(crate) emoji: String,
    pub(crate) name: String,
    pub(crate) marks: Vec<Mark>,
}

/// What holds in a phase, or what a closed box holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Only these tools.
    Only(String),
    /// All tools but these.
    Without(String),
    /// What rules say of calls, in order.
    Rules(String),
    /// What is checked when the phase is left.
    Gate(String),
    /// What a person is asked before it is left.
    Approval(String),
    /// The agent is not sent on: the phase waits for the user.
    Waits,
    /// A subworkflow with so many entries, which is not opened.
    Closed(usize),
}

impl Mark {
    /// The mark in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Only(tools) if tools.is_empty() => "no tools".to_owned(),
            Self::Only(tools) => format!("only {tools}"),
            Self::Without(tools) => format!("no {tools}"),
            Self::Rules(rules) => format!("rules: {rules}"),
            Self::Gate(checks) => format!("checks {checks}"),
            Self::Approval(ask) => format!("asks you: {ask}"),
            Self::Waits => "waits for you".to_owned(),
            Self::Closed(1) => "1 phase".to_owned(),
            Self::Closed(phases) => format!("{phases} phases"),
        }
    }
}

/// A picture that nobody could read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooLarge {
    /// The workflow alone has too many entries.
    #[error("`{0}` has {1} phases of its own, a picture holds {MOST}")]
    Flat(String, usize),
    /// It has too many with its subworkflows opened; so many levels fit.
    #[error(
        "`{0}` has more than {MOST} phases and subworkflows, all in all: `--depth {1}` draws fewer"
    )]
    Deep(String, usize),
}

impl Graph {
    /// The picture of a workflow of this catalog, with so many levels of subworkflows opened.
    pub(crate) fn of(
        catalog: &Catalog,
        settings: &Settings,
        workflow: &Workflow,
        depth: usize,
    ) -> Result<Self, TooLarge> {
        let mut sizes = Sizes {
            catalog,
            known: HashMap::new(),
        };
        if sizes.of(workflow, depth) > MOST {
            let key = shown(&workflow.key);
            let fitting = |depth: &usize| sizes.of(workflow, *depth) <= MOST;
            return Err(match (0..depth).take_while(fitting).last() {
                None => TooLarge::Flat(key, workflow.phases.len()),
                Some(depth) => TooLarge::Deep(key, depth),
            });
        }
        let mut drawing = Drawing { catalog, ids: 0 };
        let root = drawing.scope(workflow, &settings.auto_continue, depth);
        let startable = workflow.show == Show::User;
        Ok(Self {
            command: startable.then(|| format!("/workflow {}", shown(&workflow.command_name))),
            root,
        })
    }
}

/// How many boxes workflows come to, which is asked before any is made.
struct Sizes<'c> {
    catalog: &'c Catalog,
    known: HashMap<(&'c str, usize), usize>,
}

impl<'c> Sizes<'c> {
    /// Its own box and those inside. A subworkflow used twice counts twice, so this may be astronomic.
    fn of(&mut self, workflow: &'c Workflow, depth: usize) -> usize {
        if let Some(&size) = self.known.get(&(&*workflow.key, depth)) {
            return size;
        }
        let size = workflow.phases.iter().fold(1_usize, |size, entry| {
            let inside = match (entry, depth.checked_sub(1)) {
                (PhaseEntry::Subworkflow(key), Some(depth)) => self
                    .catalog
                    .get(key)
                    .map_or(1, |workflow| self.of(workflow, depth)),
                (PhaseEntry::Subworkflow(_), None) | (PhaseEntry::Phase(_), _) => 1,
            };
            size.saturating_add(inside)
        });
        self.known.insert((&workflow.key, depth), size);
        size
    }
}

struct Drawing<'c> {
    catalog: &'c Catalog,
    ids: usize,
}

impl Drawing<'_> {
    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids - 1
    }

    fn scope(&mut self, workflow: &Workflow, outer: &ContinueRule, depth: usize) -> Scope {
        let id = self.id();
        let rule = workflow.auto_continue.within(outer);
        let entries: Vec<Entry> = workflow
            .phases
            .iter()
            .filter_map(|entry| match entry {
                PhaseEntry::Phase(phase) => Some(Entry::Step(self.phase(phase, &rule))),
                PhaseEntry::Subworkflow(key) => {
                    let inner = self.catalog.get(key)?;
                    Some(match depth.checked_sub(1) {
                        Some(depth) => Entry::Scope(self.scope(inner, &rule, depth)),
                        None => Entry::Step(self.closed(inner)),
                    })
                }
            })
            .collect();
        // `loop` restarts the innermost scope: one without phases of its own is never that.
        let last = workflow.phases.iter().zip(&entries).rev();
        let mut last = last.filter_map(|(entry, drawn)| match (entry, drawn) {
            (PhaseEntry::Phase(_), Entry::Step(step)) => Some(step.id),
            (PhaseEntry::Phase(_) | PhaseEntry::Subworkflow(_), _) => None,
        });
        let first = entries.first().map(|entry| entry.first().id);
        let back = last.next().zip(first).filter(|_| workflow.loopable);
        Scope {
            id,
            key: label(&workflow.key),
            name: label(&workflow.name),
            back: back.map(|(from, to)| Back { from, to }),
            entries,
        }
    }

    fn phase(&mut self, phase: &Phase, outer: &ContinueRule) -> Step {
        let list = |names: &[String]| shown(&names.join(", "));
        let tools = phase.tools.as_ref().and_then(|tools| match tools {
            ToolAccess::Whitelist(names) => Some(Mark::Only(list(names))),
            ToolAccess::Blacklist(names) if names.is_empty() => None,
            ToolAccess::Blacklist(names) => Some(Mark::Without(list(names))),
        });
        let approval = phase.approve.as_ref();
        let approval = approval.map(|approval| Mark::Approval(shown(&approval.ask)));
        let waits = phase.auto_continue.within(outer).wait == Some(true);
        Step {
            id: self.id(),
            emoji: shown(phase.emoji.trim()),
            name: label(&phase.name),
            marks: tools
                .into_iter()
                .chain(rules(&phase.rules))
                .chain(waits.then_some(Mark::Waits))
                .chain(gate(&phase.gate))
                .chain(approval)
                .collect(),
        }
    }

    fn closed(&mut self, workflow: &Workflow) -> Step {
        Step {
            id: self.id(),
            emoji: String::new(),
            name: label(&workflow.name),
            marks: vec![Mark::Closed(workflow.phases.len())],
        }
    }
}

/// What rules say, each in a few words; those that say the same in a row once.
fn rules(rules: &[Rule]) -> Option<Mark> {
    let mut words: Vec<String> = rules
        .iter()
        .map(|rule| {
            let verdict = match rule.verdict {
                Verdict::Allow => "allow",
                Verdict::Ask => "ask about",
                Verdict::Block => "block",
            };
            format!("{verdict} {}", rule.tools.join(", "))
        })
        .collect();
    words.dedup();
    (!words.is_empty()).then(|| Mark::Rules(shown(&words.join("; "))))
}

fn gate(gates: &[Gate]) -> Option<Mark> {
    let checks: Vec<String> = gates.iter().map(|gate| gate.check.in_words()).collect();
    (!checks.is_empty()).then(|| Mark::Gate(shown(&checks.join(", "))))
}

/// A name as it stands in a picture. No format can draw one of nothing but white space.
fn label(name: &str) -> String {
    match name.trim() {
        "" => "?".to_owned(),
        name => shown(name),
    }
}

impl Step {
    /// Whether it stands for a subworkflow that is not opened.
    pub(crate) fn is_closed(&self) -> bool {
        self.marks
            .iter()
            .any(|mark| matches!(mark, Mark::Closed(_)))
    }
}

impl Entry {
    /// The box a run enters first.
    pub(crate) fn first(&self) -> &Step {
        match self {
            Self::Step(step) => step,
            Self::Scope(scope) => scope.entries[0].first(),
        }
    }
}

impl Scope {
    /// All boxes without others inside, in the order in which a run goes through them.
    pub(crate) fn steps(&self) -> Vec<&Step> {
        self.entries
            .iter()
            .flat_map(|entry| match entry {
                Entry::Step(step) => vec![step],
                Entry::Scope(scope) => scope.steps(),
            })
            .collect()
    }

    /// This scope and all inside, from the outside in.
    pub(crate) fn scopes(&self) -> Vec<&Self> {
        let inner = self.entries.iter().filter_map(|entry| match entry {
            Entry::Step(_) => None,
            Entry::Scope(scope) => Some(scope.scopes()),
        });
        std::iter::once(self).chain(inner.flatten()).collect()
    }
}
