//! The graph model: nested scopes, phases in order, edges of `loop` and of jumps, and marks for the guards of a phase.
//!
//! Decides which parts of a definition are drawn, and limits the number of nodes. Every text is short and without
//! control characters, but not yet escaped for a format.

use std::fmt;

use workflow_core::definition::Target;
use workflow_core::diagnostic::shown;

/// Maximum number of nodes. A larger diagram is unreadable, and Mermaid draws at most 500 edges.
pub(crate) const MAX_NODES: usize = 250;

/// The graph of a workflow.
#[derive(Debug)]
pub(crate) struct Graph {
    /// The command that starts it; `None` for a subworkflow.
    pub(crate) command: Option<String>,
    /// The scope of the workflow itself.
    pub(crate) root: GraphNode,
    /// The arrow from each node to the one behind it, or to the end: its label, which is empty for `next`; `None` if all outcomes
    /// lead elsewhere.
    pub(crate) order: Vec<Option<String>>,
    /// The jumps: outcomes, checks that do not pass, answers, limits of visits.
    pub(crate) jumps: Vec<Jump>,
}

/// A labelled edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Jump {
    pub(crate) from: usize,
    pub(crate) to: JumpTarget,
    pub(crate) label: String,
}

/// The target of a labelled edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JumpTarget {
    Node(usize),
    Done,
    Cancelled,
}

impl fmt::Display for JumpTarget {
    /// Writes the name of the node in Mermaid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(id) => write!(f, "n{id}"),
            Self::Done => f.write_str("done"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl Graph {
    /// Adds marks to phases, by the ids of the phase and of the references around it, outer ones first.
    pub(crate) fn mark<'m>(&mut self, marks: impl IntoIterator<Item = (&'m [String], NodeMark)>) {
        for (path, mark) in marks {
            if let Some(node) = self.root.at(path) {
                node.marks.push(mark);
            }
        }
    }

    /// Changes all texts that are drawn.
    pub(crate) fn change_texts(&mut self, change: &dyn Fn(&mut String)) {
        let order = self.order.iter_mut().flatten();
        let jumps = self.jumps.iter_mut().map(|jump| &mut jump.label);
        self.command
            .iter_mut()
            .chain(order)
            .chain(jumps)
            .for_each(change);
        self.root.change_texts(change);
    }

    /// Returns true if a jump leads to the end by cancelling.
    pub(crate) fn can_be_cancelled(&self) -> bool {
        let mut targets = self.jumps.iter().map(|jump| jump.to);
        targets.any(|to| to == JumpTarget::Cancelled)
    }
}

/// A phase, a subworkflow that is not expanded, or a scope: one use of a workflow, drawn as a box around its entries.
#[derive(Debug, Default)]
pub(crate) struct GraphNode {
    /// Numbered from 0 in drawing order, scopes and other nodes together.
    pub(crate) id: usize,
    /// The id by which jumps name it.
    pub(crate) key: String,
    /// Empty for a subworkflow.
    pub(crate) emoji: String,
    pub(crate) name: String,
    /// Of a scope, what applies to all of its phases, and to the run.
    pub(crate) marks: Vec<NodeMark>,
    /// The labelled exits of the phase.
    pub(super) exits: Vec<LabelledExit>,
    /// True if it is left only by its exits.
    pub(super) has_only_exits: bool,
    /// The phases of the scope itself, apart from the first one if there are others: each may call `loop`, which leads to the
    /// first node. Empty if the workflow is not loopable, or no phase here could call it.
    pub(crate) loop_from: Vec<usize>,
    /// The entries of a scope, at least one.
    pub(crate) entries: Vec<GraphNode>,
}

/// A labelled exit of a phase.
#[derive(Debug)]
pub(super) struct LabelledExit {
    pub(super) label: String,
    pub(super) to: Target,
}

impl LabelledExit {
    pub(super) fn new(name: &str, to: &Target) -> Self {
        let (label, to) = (label(name), to.clone());
        Self { label, to }
    }
}

/// What a mark is about, which decides how a format draws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// The tools that are left, or a rule on tool calls.
    Rule,
    /// Calls that are open: a rule that allows, or an exception from read-only.
    Open,
    /// The phase waits for the user: no reminder is sent.
    Waits,
    /// A check of the gate, with its expectation.
    Gate,
    /// The question of the approval, with its choices.
    Approval,
    /// A condition, values, a limit of visits, or a budget.
    Flow,
    /// A subworkflow that is not expanded, with its number of entries.
    Collapsed,
    /// How often a run entered the phase, and its time there.
    Visited,
    /// The run is there.
    Present,
}

/// A guard of a phase, or the size of a collapsed subworkflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeMark {
    pub(crate) kind: MarkKind,
    pub(crate) text: String,
}

impl NodeMark {
    pub(crate) fn new(kind: MarkKind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, text }
    }
}

/// Returns a name for a diagram: `?` for white space, which no format can draw.
pub(super) fn label(name: &str) -> String {
    match name.trim() {
        "" => "?".to_owned(),
        name => shown(name),
    }
}

impl GraphNode {
    /// Returns the emoji and the name.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.emoji, self.name)
            .trim_start()
            .to_owned()
    }

    /// Returns true if it has a mark of a kind.
    pub(crate) fn has(&self, kind: MarkKind) -> bool {
        self.marks.iter().any(|mark| mark.kind == kind)
    }

    /// Returns true if it is a box around others.
    pub(crate) fn is_scope(&self) -> bool {
        !self.entries.is_empty()
    }

    fn change_texts(&mut self, change: &dyn Fn(&mut String)) {
        change(&mut self.name);
        self.marks
            .iter_mut()
            .for_each(|mark| change(&mut mark.text));
        let entries = self.entries.iter_mut();
        entries.for_each(|entry| entry.change_texts(change));
    }

    /// Returns the phase at a path of ids below this scope.
    fn at(&mut self, path: &[String]) -> Option<&mut Self> {
        let [id, inner @ ..] = path else {
            return (!self.is_scope()).then_some(self);
        };
        let id = label(id);
        self.entries
            .iter_mut()
            .find(|entry| entry.key == id)?
            .at(inner)
    }

    /// Returns the node that a run enters first.
    pub(crate) fn first(&self) -> &Self {
        self.entries.first().map_or(self, Self::first)
    }

    /// Returns the nodes that are no scopes, in the order of a run.
    pub(crate) fn nodes(&self) -> Vec<&Self> {
        if self.is_scope() {
            self.entries.iter().flat_map(Self::nodes).collect()
        } else {
            vec![self]
        }
    }

    /// Returns the scopes with a loop: of this one and all inside.
    pub(crate) fn loops(&self) -> impl Iterator<Item = &Self> {
        let scopes = self.scopes().into_iter();
        scopes.filter(|scope| !scope.loop_from.is_empty())
    }

    /// Returns the node that a jump to an id of this scope enters first.
    pub(super) fn entry(&self, id: &str) -> Option<usize> {
        let id = label(id);
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| entry.key == id)?;
        Some(entry.first().id)
    }

    /// Returns this scope and all inside, outer ones first.
    pub(crate) fn scopes(&self) -> Vec<&Self> {
        let inner = self.entries.iter().filter(|entry| entry.is_scope());
        let inner = inner.flat_map(Self::scopes);
        std::iter::once(self).chain(inner).collect()
    }
}
