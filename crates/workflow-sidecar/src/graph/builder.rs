//! Builds the graph of a workflow: its nodes, then the edges between them.

use anyhow::bail;
use workflow_core::definition::{
    Catalog, ContinueRule, Phase, PhaseEntry, Settings, Show, Target, Workflow,
};
use workflow_core::diagnostic::shown;

use super::marks::{
    exits, flow, gate, has_only_exits, of_reference, of_workflow, read_only, rules, short, tools,
    unknown,
};
use super::model::{
    Graph, GraphNode, Jump, JumpTarget, LabelledExit, MAX_NODES, MarkKind, NodeMark, label,
};
use crate::present::count;

impl Graph {
    /// Builds the graph of a workflow, with subworkflows expanded to a depth.
    pub(crate) fn of(
        catalog: &Catalog,
        settings: &Settings,
        workflow: &Workflow,
        depth: usize,
    ) -> anyhow::Result<Self> {
        let scope = |depth: usize| {
            let mut builder = GraphBuilder { catalog, ids: 0 };
            builder.scope(workflow, &settings.auto_continue, depth)
        };
        let Some(root) = scope(depth) else {
            let key = shown(&workflow.key);
            match (0..depth)
                .take_while(|depth| scope(*depth).is_some())
                .last()
            {
                None => bail!(
                    "`{key}` has {} phases; a picture can have {MAX_NODES}",
                    workflow.phases.len()
                ),
                Some(depth) => bail!(
                    "`{key}` has more than {MAX_NODES} phases and subworkflows, all in all: `--depth {depth}` draws fewer"
                ),
            }
        };
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
fn edges(root: &GraphNode) -> (Vec<Option<String>>, Vec<Jump>) {
    let nodes = root.nodes();
    let position = |id: usize| nodes.iter().position(|node| node.id == id);
    let behind = |id: usize| {
        let next = position(id).and_then(|at| nodes.get(at + 1));
        next.map_or(JumpTarget::Done, |node| JumpTarget::Node(node.id))
    };
    let order = nodes.iter();
    let order = order.map(|node| (!node.has_only_exits).then(String::new));
    let mut order: Vec<Option<String>> = order.collect();
    let mut jumps: Vec<Jump> = Vec::new();
    let scopes = root.scopes();
    let around = |scope: &GraphNode| {
        let mut scopes = scopes.iter();
        let is_around =
            |outer: &&&GraphNode| outer.entries.iter().any(|entry| entry.id == scope.id);
        scopes.find(is_around).copied()
    };
    for &scope in &scopes {
        for node in scope.entries.iter().filter(|node| !node.is_scope()) {
            for exit in &node.exits {
                // A named end is an exit of the subworkflow around.
                let (mut scope, mut last, mut to) = (scope, node, &exit.to);
                while let Target::EndAs(name) = to {
                    let exit = scope.exits.iter().find(|exit| exit.label == label(name));
                    let (Some(exit), Some(outer)) = (exit, around(scope)) else {
                        to = &Target::End;
                        break;
                    };
                    (to, last, scope) = (&exit.to, scope, outer);
                }
                let behind_all = |of: &GraphNode| of.nodes().last().map(|node| behind(node.id));
                let to = match to {
                    Target::Next => behind_all(last),
                    Target::End | Target::EndAs(_) => behind_all(scope),
                    Target::Done => Some(JumpTarget::Done),
                    Target::Cancel => Some(JumpTarget::Cancelled),
                    Target::Pause => None,
                    Target::Phase(id) => scope.entry(id).map(JumpTarget::Node),
                };
                let Some(to) = to else { continue };
                if to == behind(node.id)
                    && let Some(at) = position(node.id)
                {
                    order[at] = match order[at].take() {
                        None => Some(exit.label.clone()),
                        // The order leads there anyway.
                        Some(names) if names.is_empty() => Some(names),
                        Some(names) => Some(format!("{names}, {}", exit.label)),
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

struct GraphBuilder<'c> {
    catalog: &'c Catalog,
    ids: usize,
}

impl GraphBuilder<'_> {
    /// The next id; `None` if the graph is too large.
    fn id(&mut self) -> Option<usize> {
        self.ids += 1;
        (self.ids <= MAX_NODES).then_some(self.ids - 1)
    }

    fn scope(
        &mut self,
        workflow: &Workflow,
        outer: &ContinueRule,
        depth: usize,
    ) -> Option<GraphNode> {
        let id = self.id()?;
        let rule = workflow.auto_continue.within(outer);
        let mut entries = Vec::new();
        let mut callers = Vec::new();
        for entry in &workflow.phases {
            match entry {
                PhaseEntry::Phase(phase) => {
                    let id = self.id()?;
                    callers.push(id);
                    entries.push(phase_node(id, workflow, phase, &rule));
                }
                PhaseEntry::Subworkflow(reference) => {
                    let Some(inner) = self.catalog.get(reference) else {
                        continue;
                    };
                    let marks = of_reference(reference);
                    let node = match depth.checked_sub(1) {
                        Some(depth) => {
                            let mut scope = self.scope(inner, &rule, depth)?;
                            if !marks.is_empty() {
                                let marks = marks.join("; ");
                                scope.name = label(&format!("{} ({marks})", inner.name));
                            }
                            scope
                        }
                        None => collapsed(self.id()?, inner, &marks),
                    };
                    let exits = reference.outcomes.iter();
                    let exits = exits.map(|exit| LabelledExit::new(&exit.name, &exit.to));
                    entries.push(GraphNode {
                        key: label(reference.id()),
                        exits: exits.collect(),
                        ..node
                    });
                }
            }
        }
        // `loop` restarts the innermost scope, which has a phase by definition.
        let to = entries.first()?.first().id;
        if callers.len() > 1 {
            callers.retain(|id| *id != to);
        }
        if !workflow.loopable {
            callers.clear();
        }
        Some(GraphNode {
            id,
            key: label(&workflow.key),
            name: label(&workflow.name),
            marks: of_workflow(workflow),
            loop_from: callers,
            entries,
            ..GraphNode::default()
        })
    }
}

fn phase_node(id: usize, workflow: &Workflow, phase: &Phase, outer: &ContinueRule) -> GraphNode {
    let approval = phase.approve.as_ref();
    let approval = approval.map(|approval| {
        let asks = format!("asks you: {}", short(&approval.describe()));
        NodeMark::new(MarkKind::Approval, asks)
    });
    let waits = phase.auto_continue.within(outer).wait == Some(true);
    GraphNode {
        id,
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
        ..GraphNode::default()
    }
}

fn collapsed(id: usize, workflow: &Workflow, marks: &[String]) -> GraphNode {
    let marks = marks.iter();
    let condition = marks.map(|mark| NodeMark::new(MarkKind::Flow, short(mark)));
    let size = NodeMark::new(MarkKind::Collapsed, count(workflow.phases.len(), "phase"));
    GraphNode {
        id,
        name: label(&workflow.name),
        marks: [size]
            .into_iter()
            .chain(condition)
            .chain(of_workflow(workflow))
            .collect(),
        key: label(&workflow.key),
        ..GraphNode::default()
    }
}
