//! Builds the graph of a workflow: its nodes, then the edges between them.

use workflow_core::definition::{
    Catalog, ContinueRule, Phase, PhaseEntry, Settings, Show, Target, Workflow,
};
use workflow_core::diagnostic::shown;

use super::marks::{
    exits, flow, gate, has_only_exits, of_workflow, only_if, read_only, rules, short, tools,
    unknown,
};
use super::model::{
    Graph, GraphEntry, GraphNode, GraphScope, InOrder, Jump, JumpTarget, LoopEdge, MAX_NODES,
    MarkKind, NodeMark, TooLarge, label,
};

impl Graph {
    /// Builds the graph of a workflow, with subworkflows expanded to a depth.
    pub(crate) fn of(
        catalog: &Catalog,
        settings: &Settings,
        workflow: &Workflow,
        depth: usize,
    ) -> Result<Self, TooLarge> {
        let fits = |depth: &usize| {
            let mut left = MAX_NODES;
            fits(catalog, workflow, *depth, &mut left)
        };
        if !fits(&depth) {
            let key = shown(&workflow.key);
            return Err(match (0..depth).take_while(fits).last() {
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
            if node.has_only_exits {
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
            for exit in &node.exits {
                let to = match &exit.to {
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
                        InOrder::Named(names) => InOrder::Named(format!("{names}, {}", exit.label)),
                        InOrder::Never => InOrder::Named(exit.label.clone()),
                        // The order leads there anyway.
                        InOrder::Plain => InOrder::Plain,
                    };
                    continue;
                }
                let mut same = jumps.iter_mut();
                match same.find(|jump| jump.from == node.id && jump.to == to) {
                    Some(jump) => jump.label = format!("{}, {}", jump.label, exit.label),
                    None => jumps.push(Jump {
                        from: node.id,
                        to,
                        label: exit.label.clone(),
                    }),
                }
            }
        }
    }
    (order, jumps)
}

/// True if a workflow, with subworkflows to this depth, has at most as many nodes and scopes as are left. It takes them.
fn fits(catalog: &Catalog, workflow: &Workflow, depth: usize, left: &mut usize) -> bool {
    let take = |left: &mut usize| {
        let rest = left.checked_sub(1);
        *left = rest.unwrap_or_default();
        rest.is_some()
    };
    take(left)
        && workflow.phases.iter().all(|entry| {
            let inner = match entry {
                PhaseEntry::Subworkflow(key) => catalog.get(key),
                PhaseEntry::Phase(_) => None,
            };
            match (inner, depth.checked_sub(1)) {
                (Some(inner), Some(depth)) => fits(catalog, inner, depth, left),
                _ => take(left),
            }
        })
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
            marks: of_workflow(workflow),
            loop_edge: loop_edge.map(|(from, to)| LoopEdge { from, to }),
            entries,
        }
    }

    fn phase(&mut self, workflow: &Workflow, phase: &Phase, outer: &ContinueRule) -> GraphNode {
        let approval = phase.approve.as_ref();
        let approval = approval.map(|approval| {
            let asks = format!("asks you: {}", short(&approval.describe()));
            NodeMark::new(MarkKind::Approval, asks)
        });
        let waits = phase.auto_continue.within(outer).wait == Some(true);
        GraphNode {
            id: self.id(),
            emoji: shown(phase.emoji.trim()),
            name: label(&phase.name),
            marks: read_only(workflow, phase)
                .into_iter()
                .chain(tools(phase.tools.as_ref()))
                .chain(rules(&phase.rules))
                .chain(unknown(phase.unknown))
                .chain(waits.then(|| NodeMark::new(MarkKind::Waits, "waits for you")))
                .chain(gate(&phase.gate))
                .chain(approval)
                .chain(flow(phase))
                .collect(),
            key: label(&phase.id),
            exits: exits(phase),
            has_only_exits: has_only_exits(phase),
        }
    }

    fn collapsed(&mut self, workflow: &Workflow, condition: Option<String>) -> GraphNode {
        let condition = condition.map(|condition| NodeMark::new(MarkKind::Flow, short(&condition)));
        let size = match workflow.phases.len() {
            1 => "1 phase".to_owned(),
            phases => format!("{phases} phases"),
        };
        let size = NodeMark::new(MarkKind::Collapsed, size);
        GraphNode {
            id: self.id(),
            emoji: String::new(),
            name: label(&workflow.name),
            marks: [size]
                .into_iter()
                .chain(condition)
                .chain(of_workflow(workflow))
                .collect(),
            key: label(&workflow.key),
            exits: Vec::new(),
            has_only_exits: false,
        }
    }
}
