//! The graph model: nested scopes, phases in order, edges of `loop` and of jumps, and marks for the guards of a phase.
//!
//! Decides which parts of a definition are drawn, and limits the number of nodes. Every text is short and without
//! control characters, but not yet escaped for a format.

use std::collections::HashMap;

use workflow_core::definition::{
    Catalog, Condition, ContinueRule, Gate, OnMaxVisits, Phase, PhaseEntry, Rule, RuleAction,
    Settings, Show, Target, ToolAccess, Workflow,
};
use workflow_core::diagnostic::{shown, visible};
use workflow_core::policy::rules::ReadOnly;

/// Maximum number of nodes. A larger diagram is unreadable, and Mermaid draws at most 500 edges.
pub(crate) const MAX_NODES: usize = 250;

/// The graph of a workflow.
#[derive(Debug)]
pub(crate) struct Graph {
    /// The command that starts it; `None` for a subworkflow.
    pub(crate) command: Option<String>,
    /// The scope of the workflow itself.
    pub(crate) root: GraphScope,
    /// The order of the nodes: an item for each node that says how the run gets from it to the one behind it.
    pub(crate) order: Vec<InOrder>,
    /// The jumps: outcomes, checks that do not pass, answers, limits of visits.
    pub(crate) jumps: Vec<Jump>,
}

/// How a run gets from a node to the one behind it, or to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InOrder {
    /// By `next`.
    Plain,
    /// By the outcomes or answers of these names.
    Named(String),
    /// Never: all outcomes lead elsewhere.
    Never,
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

/// One use of a workflow: a box that contains others.
#[derive(Debug)]
pub(crate) struct GraphScope {
    /// Numbered from 0 in drawing order, scopes and nodes together.
    pub(crate) id: usize,
    pub(crate) key: String,
    pub(crate) name: String,
    /// The edge of `loop`; `None` if the workflow is not loopable, or no phase here could call it.
    pub(crate) loop_edge: Option<LoopEdge>,
    /// At least one.
    pub(crate) entries: Vec<GraphEntry>,
}

/// The edge of `loop` in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopEdge {
    /// The last phase of the scope itself.
    pub(crate) from: usize,
    /// The first phase, which may be one of a subworkflow.
    pub(crate) to: usize,
}

/// An element of a scope.
#[derive(Debug)]
pub(crate) enum GraphEntry {
    Node(GraphNode),
    Scope(GraphScope),
}

/// A phase, or a subworkflow that is not expanded.
#[derive(Debug)]
pub(crate) struct GraphNode {
    pub(crate) id: usize,
    /// The id by which jumps name it.
    key: String,
    /// Empty for a subworkflow.
    pub(crate) emoji: String,
    pub(crate) name: String,
    pub(crate) marks: Vec<NodeMark>,
    /// The labelled ways out of the phase.
    ways: Vec<Way>,
    /// True if nothing but its ways leads out of it.
    has_only_ways: bool,
}

/// A way out of a phase.
#[derive(Debug)]
struct Way {
    label: String,
    to: Target,
}

/// A guard of a phase, or the size of a collapsed subworkflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeMark {
    /// It is read-only, with what is open.
    ReadOnly(String),
    /// Only these tools.
    Only(String),
    /// All tools but these.
    Without(String),
    /// A rule on tool calls.
    Rule(String),
    /// A check of the gate, with its expectation.
    Gate(String),
    /// The question of the approval, with its choices.
    Approval(String),
    /// A condition, outputs, a limit of visits, or a budget.
    Flow(String),
    /// The phase waits for the user: no reminder is sent.
    Waits,
    /// A subworkflow that is not expanded, with its number of entries.
    Collapsed(usize),
}

impl NodeMark {
    /// Returns the mark's text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Only(tools) if tools.is_empty() => "no tools".to_owned(),
            Self::Only(tools) => format!("only {tools}"),
            Self::Without(tools) => format!("no {tools}"),
            Self::ReadOnly(text) | Self::Rule(text) | Self::Gate(text) | Self::Flow(text) => {
                text.clone()
            }
            Self::Approval(ask) => format!("asks you: {ask}"),
            Self::Waits => "waits for you".to_owned(),
            Self::Collapsed(1) => "1 phase".to_owned(),
            Self::Collapsed(phases) => format!("{phases} phases"),
        }
    }
}

/// The graph has more nodes than a readable diagram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooLarge {
    /// The workflow alone has too many entries: its key and their number.
    #[error("`{0}` has {1} phases; a picture can have {MAX_NODES}")]
    Flat(String, usize),
    /// It has too many with its subworkflows expanded: its key and the depth that fits.
    #[error(
        "`{0}` has more than {MAX_NODES} phases and subworkflows, all in all: `--depth {1}` draws fewer"
    )]
    Deep(String, usize),
}

impl Graph {
    /// Builds the graph of a workflow, with subworkflows expanded to a depth.
    pub(crate) fn of(
        catalog: &Catalog,
        settings: &Settings,
        workflow: &Workflow,
        depth: usize,
    ) -> Result<Self, TooLarge> {
        let mut sizes = NodeCounts {
            catalog,
            known: HashMap::new(),
        };
        if sizes.of(workflow, depth) > MAX_NODES {
            let key = shown(&workflow.key);
            let fitting = |depth: &usize| sizes.of(workflow, *depth) <= MAX_NODES;
            return Err(match (0..depth).take_while(fitting).last() {
                None => TooLarge::Flat(key, workflow.phases.len()),
                Some(depth) => TooLarge::Deep(key, depth),
            });
        }
        let mut drawing = GraphBuilder { catalog, ids: 0 };
        let root = drawing.scope(workflow, &settings.auto_continue, depth);
        let startable = workflow.show == Show::User;
        let (order, jumps) = edges(&root);
        Ok(Self {
            command: startable.then(|| format!("/workflow {}", shown(&workflow.command_name))),
            root,
            order,
            jumps,
        })
    }

    /// Returns true if a jump leads to the end by cancelling.
    pub(crate) fn can_be_cancelled(&self) -> bool {
        let mut targets = self.jumps.iter().map(|jump| jump.to);
        targets.any(|to| to == JumpTarget::Cancelled)
    }
}

/// Returns the edges between the nodes of a scope and all inside: those in order, and the jumps.
fn edges(root: &GraphScope) -> (Vec<InOrder>, Vec<Jump>) {
    let nodes = root.nodes();
    let position = |id: usize| nodes.iter().position(|node| node.id == id);
    let behind = |id: usize| {
        let next = position(id).and_then(|at| nodes.get(at + 1));
        next.map_or(JumpTarget::Done, |node| JumpTarget::Node(node.id))
    };
    let mut order: Vec<InOrder> = nodes
        .iter()
        .map(|node| {
            if node.has_only_ways {
                InOrder::Never
            } else {
                InOrder::Plain
            }
        })
        .collect();
    let mut jumps: Vec<Jump> = Vec::new();
    for scope in root.scopes() {
        let end = scope.nodes().last().map(|node| behind(node.id));
        for entry in &scope.entries {
            let GraphEntry::Node(node) = entry else {
                continue;
            };
            for way in &node.ways {
                let to = match &way.to {
                    Target::Next => Some(behind(node.id)),
                    Target::End => end,
                    Target::Done => Some(JumpTarget::Done),
                    Target::Cancel => Some(JumpTarget::Cancelled),
                    Target::Phase(id) => scope.entry(id).map(JumpTarget::Node),
                };
                let Some(to) = to else { continue };
                if to == behind(node.id)
                    && let Some(at) = position(node.id)
                {
                    order[at] = match &order[at] {
                        InOrder::Named(names) => InOrder::Named(format!("{names}, {}", way.label)),
                        InOrder::Never => InOrder::Named(way.label.clone()),
                        // The order leads there anyway.
                        InOrder::Plain => InOrder::Plain,
                    };
                    continue;
                }
                let mut same = jumps.iter_mut();
                match same.find(|jump| jump.from == node.id && jump.to == to) {
                    Some(jump) => jump.label = format!("{}, {}", jump.label, way.label),
                    None => jumps.push(Jump {
                        from: node.id,
                        to,
                        label: way.label.clone(),
                    }),
                }
            }
        }
    }
    (order, jumps)
}

/// Numbers of nodes, computed before any node is built.
struct NodeCounts<'c> {
    catalog: &'c Catalog,
    known: HashMap<(&'c str, usize), usize>,
}

impl<'c> NodeCounts<'c> {
    /// Counts a workflow's nodes. A subworkflow that is used twice counts twice, so the number can be huge.
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

struct GraphBuilder<'c> {
    catalog: &'c Catalog,
    ids: usize,
}

impl GraphBuilder<'_> {
    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids - 1
    }

    fn scope(&mut self, workflow: &Workflow, outer: &ContinueRule, depth: usize) -> GraphScope {
        let id = self.id();
        let rule = workflow.auto_continue.within(outer);
        let entries: Vec<GraphEntry> = workflow
            .phases
            .iter()
            .filter_map(|entry| match entry {
                PhaseEntry::Phase(phase) => {
                    Some(GraphEntry::Node(self.phase(workflow, phase, &rule)))
                }
                PhaseEntry::Subworkflow(reference) => {
                    let inner = self.catalog.get(reference)?;
                    let condition = only_if(&reference.when);
                    Some(match depth.checked_sub(1) {
                        Some(depth) => {
                            let mut scope = self.scope(inner, &rule, depth);
                            if let Some(condition) = condition {
                                scope.name = label(&format!("{} ({condition})", inner.name));
                            }
                            GraphEntry::Scope(scope)
                        }
                        None => GraphEntry::Node(self.collapsed(inner, condition)),
                    })
                }
            })
            .collect();
        // `loop` restarts the innermost scope, which has a phase by definition.
        let last = workflow.phases.iter().zip(&entries).rev();
        let mut last = last.filter_map(|(entry, drawn)| match (entry, drawn) {
            (PhaseEntry::Phase(_), GraphEntry::Node(step)) => Some(step.id),
            (PhaseEntry::Phase(_) | PhaseEntry::Subworkflow(_), _) => None,
        });
        let first = entries.first().map(|entry| entry.first().id);
        let loop_edge = last.next().zip(first).filter(|_| workflow.loopable);
        GraphScope {
            id,
            key: label(&workflow.key),
            name: label(&workflow.name),
            loop_edge: loop_edge.map(|(from, to)| LoopEdge { from, to }),
            entries,
        }
    }

    fn phase(&mut self, workflow: &Workflow, phase: &Phase, outer: &ContinueRule) -> GraphNode {
        let list = |names: &[String]| short(&names.join(", "));
        let read_only = workflow.read_only_in(phase).map(|source| {
            let writable = workflow.writable.iter().chain(&phase.writable);
            let run = workflow.run.iter().chain(&phase.run);
            NodeMark::ReadOnly(short(&ReadOnly::new(source, writable, run).describe()))
        });
        let tools = phase.tools.as_ref().and_then(|tools| match tools {
            ToolAccess::ReadOnly { .. } => None,
            ToolAccess::Whitelist(names) => Some(NodeMark::Only(list(names))),
            ToolAccess::Blacklist(names) if names.is_empty() => None,
            ToolAccess::Blacklist(names) => Some(NodeMark::Without(list(names))),
        });
        let approval = phase.approve.as_ref();
        let approval = approval.map(|approval| NodeMark::Approval(short(&approval.describe())));
        let waits = phase.auto_continue.within(outer).wait == Some(true);
        GraphNode {
            id: self.id(),
            emoji: shown(phase.emoji.trim()),
            name: label(&phase.name),
            marks: read_only
                .into_iter()
                .chain(tools)
                .chain(rules(&phase.rules))
                .chain(waits.then_some(NodeMark::Waits))
                .chain(gate(&phase.gate))
                .chain(approval)
                .chain(flow(phase))
                .collect(),
            key: label(&phase.id),
            ways: ways(phase),
            has_only_ways: has_only_ways(phase),
        }
    }

    fn collapsed(&mut self, workflow: &Workflow, condition: Option<String>) -> GraphNode {
        let condition = condition.map(|condition| NodeMark::Flow(short(&condition)));
        let size = NodeMark::Collapsed(workflow.phases.len());
        GraphNode {
            id: self.id(),
            emoji: String::new(),
            name: label(&workflow.name),
            marks: [size].into_iter().chain(condition).collect(),
            key: label(&workflow.key),
            ways: Vec::new(),
            has_only_ways: false,
        }
    }
}

/// The most rules and checks of a phase that are drawn.
const MOST_MARKS: usize = 8;

/// Returns a mark for each rule; equal ones in a row appear once.
fn rules(rules: &[Rule]) -> Vec<NodeMark> {
    let mut marks: Vec<NodeMark> = rules
        .iter()
        .map(|rule| NodeMark::Rule(rule_text(rule)))
        .collect();
    marks.dedup();
    let more = marks.len().saturating_sub(MOST_MARKS);
    if more > 1 {
        marks.truncate(MOST_MARKS);
        marks.push(NodeMark::Rule(format!("and {more} more rules")));
    }
    marks
}

/// Describes a rule: its tools and its conditions.
fn rule_text(rule: &Rule) -> String {
    let action = match rule.action {
        RuleAction::Allow => "allow",
        RuleAction::Ask => "ask about",
        RuleAction::Block => "block",
    };
    let mut text = format!("{action} {}", rule.tools.join(", "));
    match rule.writes {
        Some(true) => text += " that writes",
        Some(false) => text += " that only reads",
        None => {}
    }
    if !rule.path.is_empty() {
        text = format!("{text} in {}", rule.path.join(", "));
    }
    if !rule.command.is_empty() {
        text = format!("{text}: {}", rule.command.join(", "));
    }
    for (field, pattern) in &rule.input {
        text = format!("{text} with {field} {pattern}");
    }
    short(&text)
}

fn gate(gates: &[Gate]) -> Vec<NodeMark> {
    let marks = gates
        .iter()
        .map(|gate| NodeMark::Gate(short(&gate.check.requirement(visible))));
    marks.take(MOST_MARKS).collect()
}

/// Returns the conditions under which an entry is entered.
fn only_if(when: &[Condition]) -> Option<String> {
    let conditions: Vec<String> = when.iter().map(ToString::to_string).collect();
    (!conditions.is_empty()).then(|| format!("only if {}", conditions.join(" and ")))
}

/// Returns the conditions, the outputs and the limits of a phase.
fn flow(phase: &Phase) -> Vec<NodeMark> {
    let mut texts: Vec<String> = only_if(&phase.when).into_iter().collect();
    if !phase.outputs.is_empty() {
        let names: Vec<&str> = phase.outputs.iter().map(|output| &*output.name).collect();
        texts.push(format!("hands over {}", names.join(", ")));
    }
    if let Some(most) = phase.max_visits {
        let visits = if most == 1 { "visit" } else { "visits" };
        texts.push(match &phase.on_max_visits {
            OnMaxVisits::Phase(id) => format!("at most {most} {visits}, then {id}"),
            OnMaxVisits::Pause | OnMaxVisits::Cancel => {
                format!("at most {most} {visits}, then {}", phase.on_max_visits)
            }
        });
    }
    if !phase.budget.is_unlimited() {
        texts.push(format!("at most {}", phase.budget.describe()));
    }
    texts
        .iter()
        .map(|text| NodeMark::Flow(short(text)))
        .collect()
}

/// Returns the labelled ways out of a phase: outcomes, answers, checks that do not pass, and the limit of visits.
fn ways(phase: &Phase) -> Vec<Way> {
    let outcomes = phase.outcomes.iter().map(|outcome| Way {
        label: label(&outcome.name),
        to: outcome.to.clone(),
    });
    let answers = phase.approve.iter().flat_map(|approval| {
        let choices = approval.choices.iter().zip(&approval.targets);
        choices.map(|(choice, to)| Way {
            label: label(choice),
            to: to.clone(),
        })
    });
    // With outcomes, the answer that goes on follows the outcome.
    let has_outcomes = !phase.outcomes.is_empty();
    let answers = answers.filter(move |way| !(has_outcomes && way.to == Target::Next));
    let mut failed: Vec<&String> = phase
        .gate
        .iter()
        .filter_map(|gate| gate.on_fail.as_ref())
        .collect();
    failed.dedup();
    let failed = failed.into_iter().map(|id| Way {
        label: "gate not passed".to_owned(),
        to: Target::Phase(id.clone()),
    });
    let limit = phase.max_visits.and_then(|most| {
        let to = match &phase.on_max_visits {
            OnMaxVisits::Phase(id) => Target::Phase(id.clone()),
            OnMaxVisits::Cancel => Target::Cancel,
            OnMaxVisits::Pause => return None,
        };
        let label = format!("instead of visit {}", u64::from(most) + 1);
        Some(Way { label, to })
    });
    outcomes.chain(answers).chain(failed).chain(limit).collect()
}

/// Returns true if a phase is left only by its outcomes or by the answers to its approval.
fn has_only_ways(phase: &Phase) -> bool {
    let answers = phase.approve.as_ref();
    !phase.outcomes.is_empty() || answers.is_some_and(|approval| !approval.targets.is_empty())
}

/// Shortens a text to what a diagram can hold, without control characters.
fn short(text: &str) -> String {
    const LONGEST: usize = 160;
    let text = visible(text);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Breaks a text into lines of some length after words, or inside of a long one.
pub(super) fn lines(text: &str) -> Vec<String> {
    const LONGEST: usize = 44;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LONGEST => {
                *line = format!("{line} {word}");
            }
            _ => lines.push(word.to_owned()),
        }
        while let Some(last) = lines.last()
            && let Some((at, _)) = last.char_indices().nth(LONGEST)
            // Joined emoji are not broken.
            && !last.contains('\u{200d}')
        {
            let rest = last[at..].to_owned();
            let end = lines.len() - 1;
            lines[end].truncate(at);
            lines.push(rest);
        }
    }
    lines
}

/// Returns a name for a diagram: `?` for white space, which no format can draw.
fn label(name: &str) -> String {
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

    /// Returns true for a subworkflow that is not expanded.
    pub(crate) fn is_collapsed(&self) -> bool {
        self.marks
            .iter()
            .any(|mark| matches!(mark, NodeMark::Collapsed(_)))
    }
}

impl GraphEntry {
    /// Returns the node that a run enters first.
    pub(crate) fn first(&self) -> &GraphNode {
        match self {
            Self::Node(step) => step,
            Self::Scope(scope) => scope.entries[0].first(),
        }
    }
}

impl GraphScope {
    /// Returns all nodes in the order of a run.
    pub(crate) fn nodes(&self) -> Vec<&GraphNode> {
        self.entries
            .iter()
            .flat_map(|entry| match entry {
                GraphEntry::Node(step) => vec![step],
                GraphEntry::Scope(scope) => scope.nodes(),
            })
            .collect()
    }

    /// Returns the loops of this scope and all inside: the phases that may call it, and where it leads.
    pub(crate) fn loops(&self) -> impl Iterator<Item = (Vec<usize>, usize)> {
        self.scopes()
            .into_iter()
            .filter_map(|scope| Some((scope.loop_callers()?, scope.loop_edge?.to)))
    }

    /// Returns the phases of the scope itself that may call `loop`, apart from the first one if there are others.
    fn loop_callers(&self) -> Option<Vec<usize>> {
        let LoopEdge { from, to } = self.loop_edge?;
        let own = self.entries.iter().filter_map(|entry| match entry {
            GraphEntry::Node(step) if !step.is_collapsed() && step.id <= from => Some(step.id),
            GraphEntry::Node(_) | GraphEntry::Scope(_) => None,
        });
        let mut callers: Vec<usize> = own.collect();
        if callers.len() > 1 {
            callers.retain(|id| *id != to);
        }
        Some(callers)
    }

    /// Returns the node that a jump to an id of this scope enters first.
    fn entry(&self, id: &str) -> Option<usize> {
        let id = label(id);
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| match entry {
            GraphEntry::Node(node) => node.key == id,
            GraphEntry::Scope(scope) => scope.key == id,
        });
        entry.map(|entry| entry.first().id)
    }

    /// Returns this scope and all inside, outer ones first.
    pub(crate) fn scopes(&self) -> Vec<&Self> {
        let inner = self.entries.iter().filter_map(|entry| match entry {
            GraphEntry::Node(_) => None,
            GraphEntry::Scope(scope) => Some(scope.scopes()),
        });
        std::iter::once(self).chain(inner.flatten()).collect()
    }
}
