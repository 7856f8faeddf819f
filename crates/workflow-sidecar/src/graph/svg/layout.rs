//! Layout: boxes below each other on one axis, scopes around them, `loop` in a lane on the right, jumps on the left.
//!
//! Two passes: the extent of each box to the left and right of the axis, then its position. All lengths are whole
//! pixels.

use super::super::model::{
    Graph, GraphEntry, GraphNode, GraphScope, InOrder, JumpTarget, MarkKind,
};
use super::cards::{BoxText, CardMetrics};
use super::measure::{width, wrapped};
use super::sizes::{
    GAP, INSET, JUMP_LABEL, JUMP_LINE, LANE, LEGEND_ICON, LEGEND_LINE, MARGIN, PAD, PILL_HEIGHT,
    SMALL, TO_LANE, WIDEST,
};

/// A graph with the positions of its boxes.
#[derive(Debug)]
pub(super) struct Layout<'g> {
    pub(super) graph: &'g Graph,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) axis: u32,
    /// Outer ones first.
    pub(super) frames: Vec<Frame<'g>>,
    pub(super) cards: Vec<Card<'g>>,
    pub(super) arrows: Vec<Arrow>,
    pub(super) jumps: Vec<JumpLane<'g>>,
    pub(super) loops: Vec<Lane<'g>>,
    /// The command, the end, and the end by cancelling if a jump leads there.
    pub(super) pills: Vec<Pill>,
    /// The icons with their explanation and vertical position. No kind of mark has that of `loop`.
    pub(super) legend: Vec<(Option<MarkKind>, &'static str, u32)>,
}

/// An arrow along the axis.
#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) label: Option<String>,
}

/// The line of a jump: left from its card, along its lane, and right to its target.
#[derive(Debug)]
pub(super) struct JumpLane<'g> {
    /// The label in full.
    pub(super) title: &'g str,
    /// The part of the label for which there is room, and its position.
    pub(super) label: String,
    pub(super) label_x: u32,
    pub(super) x: u32,
    pub(super) from: (u32, u32),
    pub(super) to: (u32, u32),
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// A scope.
#[derive(Debug)]
pub(super) struct Frame<'g> {
    pub(super) scope: &'g GraphScope,
    pub(super) area: Area,
    pub(super) text: BoxText<'g>,
    /// The nesting level.
    pub(super) level: usize,
}

/// A phase, or a collapsed subworkflow.
#[derive(Debug)]
pub(super) struct Card<'g> {
    pub(super) step: &'g GraphNode,
    pub(super) area: Area,
    pub(super) text: BoxText<'g>,
}

/// The line of `loop`.
#[derive(Debug)]
pub(super) struct Lane<'g> {
    pub(super) scope: &'g GraphScope,
    pub(super) x: u32,
    /// The phases of the scope that may call it, first to last.
    pub(super) from: Vec<(u32, u32)>,
    pub(super) to: (u32, u32),
}

/// The start or the end of a run.
#[derive(Debug)]
pub(super) struct Pill {
    pub(super) area: Area,
    pub(super) text: String,
}

impl<'g> Layout<'g> {
    pub(super) fn of(graph: &'g Graph) -> Self {
        let metrics = CardMetrics::of(graph);
        let start = graph.command.as_deref().unwrap_or("as a part of others");
        let start = wrapped(start, SMALL, WIDEST, 1).concat();
        let pill_width = |text: &str| width(text, SMALL) + 2 * INSET;
        let half_pill = pill_width(&start).div_ceil(2);
        let legend_entries = legend_entries(graph);
        let texts_of_legend = legend_entries.iter().map(|(_, text)| width(text, SMALL));
        let legend_width = LEGEND_ICON + texts_of_legend.max().unwrap_or(0);
        let extent = metrics
            .extent(&graph.root)
            .at_least(half_pill, legend_width);
        let gutter = Gutter::of(graph);
        let axis = MARGIN + gutter.width + extent.left;
        let mut placement = BoxPlacement {
            metrics: &metrics,
            graph,
            edge: &InOrder::Plain,
            axis,
            y: MARGIN,
            frames: Vec::new(),
            cards: Vec::new(),
            arrows: Vec::new(),
            loops: Vec::new(),
        };
        let start = placement.pill(start);
        placement.arrow();
        placement.scope(&graph.root, 0);
        placement.arrow();
        let end = placement.pill("done".to_owned());
        let mut pills = vec![start, end];
        if graph.can_be_cancelled() {
            placement.y += GAP / 2;
            pills.push(placement.pill("cancelled".to_owned()));
        }
        let mut y = placement.y + MARGIN;
        let mut legend = Vec::new();
        for (icon, text) in legend_entries {
            legend.push((icon, text, y));
            y += LEGEND_LINE;
        }
        let jumps = gutter.lanes(graph, &placement.cards, &pills);
        Self {
            graph,
            jumps,
            width: axis + extent.right + MARGIN,
            height: if legend.is_empty() { y } else { y + MARGIN / 2 },
            axis,
            frames: placement.frames,
            cards: placement.cards,
            arrows: placement.arrows,
            loops: placement.loops,
            pills,
            legend,
        }
    }
}

/// Returns the legend: only the icons that occur.
fn legend_entries(graph: &Graph) -> Vec<(Option<MarkKind>, &'static str)> {
    let marks = graph.root.all_marks();
    let has = |kind: MarkKind| marks.iter().any(|mark| mark.kind == kind);
    let tools = match (has(MarkKind::Rule), has(MarkKind::Tools)) {
        (true, _) => Some("tools that are blocked, or the only ones allowed, and rules on calls"),
        (false, true) => Some("tools that are blocked, or the only ones allowed"),
        (false, false) => None,
    };
    let lines = [
        (MarkKind::Open, "calls that are allowed"),
        (MarkKind::Gate, "checked before the phase can be left"),
        (MarkKind::Approval, "you are asked before the phase is left"),
        (MarkKind::Waits, "an agent that stops here is not sent on"),
        (MarkKind::Flow, "conditions, values and limits"),
        (MarkKind::Collapsed, "a subworkflow, closed"),
    ];
    let lines = lines.into_iter().filter(|(kind, _)| has(*kind));
    let mut scopes = graph.root.scopes().into_iter();
    let loops = scopes.any(|scope| scope.loop_edge.is_some());
    let loops = loops.then_some((None, "loop starts over, from any phase on the line"));
    let tools = tools.map(|text| (Some(MarkKind::Tools), text));
    let lines = lines.map(|(kind, text)| (Some(kind), text));
    tools.into_iter().chain(lines).chain(loops).collect()
}

/// The room for the jumps, left of all scopes: the lanes, then the labels.
struct Gutter {
    lanes: u32,
    width: u32,
}

impl Gutter {
    fn of(graph: &Graph) -> Self {
        let lanes = u32::try_from(graph.jumps.len()).expect("a few jumps for each node");
        let labels = graph.jumps.iter().map(|jump| width(&jump.label, SMALL));
        let widest = labels
            .max()
            .map_or(0, |widest| widest.min(JUMP_LABEL) + INSET);
        Self {
            lanes,
            width: lanes * LANE + widest,
        }
    }

    /// Places the lines: those at one card below each other.
    fn lanes<'g>(&self, graph: &'g Graph, cards: &[Card<'_>], pills: &[Pill]) -> Vec<JumpLane<'g>> {
        let mut used: Vec<u32> = vec![0; cards.len()];
        let mut at_card = |id: usize| {
            let at = cards.iter().position(|card| card.step.id == id);
            let at = at.expect("every node has a card");
            used[at] += 1;
            let (area, lines) = (cards[at].area, lines_at(graph, id));
            (area.x, area.y + area.height * used[at] / (lines + 1))
        };
        let pill = |at: usize| {
            let area = pills[at].area;
            (area.x, area.y + area.height / 2)
        };
        let jumps = graph.jumps.iter().zip(0..);
        jumps
            .map(|(jump, lane)| JumpLane {
                title: &jump.label,
                label: wrapped(&jump.label, SMALL, JUMP_LABEL, 1).concat(),
                label_x: MARGIN + self.lanes * LANE + 2,
                x: MARGIN + lane * LANE,
                from: at_card(jump.from),
                to: match jump.to {
                    JumpTarget::Node(id) => at_card(id),
                    JumpTarget::Done => pill(1),
                    JumpTarget::Cancelled => pill(2),
                },
            })
            .collect()
    }
}

/// The number of ends of jumps at a node.
fn lines_at(graph: &Graph, id: usize) -> u32 {
    let ends = graph
        .jumps
        .iter()
        .map(|jump| u32::from(jump.from == id) + u32::from(jump.to == JumpTarget::Node(id)));
    ends.sum()
}

/// The second pass: the boxes placed so far, and the current vertical position.
struct BoxPlacement<'t, 'g> {
    metrics: &'t CardMetrics,
    graph: &'g Graph,
    /// The transition from the last card to the next one.
    edge: &'g InOrder,
    axis: u32,
    y: u32,
    frames: Vec<Frame<'g>>,
    cards: Vec<Card<'g>>,
    arrows: Vec<Arrow>,
    loops: Vec<Lane<'g>>,
}

impl<'g> BoxPlacement<'_, 'g> {
    fn pill(&mut self, text: String) -> Pill {
        let width = (width(&text, SMALL) + 2 * INSET).next_multiple_of(2);
        let area = Area {
            x: self.axis - width / 2,
            y: self.y,
            width,
            height: PILL_HEIGHT,
        };
        self.y += PILL_HEIGHT;
        Pill { area, text }
    }

    fn arrow(&mut self) {
        let label = match self.edge {
            InOrder::Plain => Some(None),
            InOrder::Named(names) => Some(Some(names)),
            InOrder::Never => None,
        };
        if let Some(label) = label {
            let room = self.metrics.card / 2 - INSET;
            self.arrows.push(Arrow {
                from: self.y,
                to: self.y + GAP,
                label: label.map(|names| wrapped(names, SMALL, room, 1).concat()),
            });
        }
        self.y += GAP;
    }

    /// Places a scope and its content.
    fn scope(&mut self, scope: &'g GraphScope, level: usize) -> Area {
        let extent = self.metrics.extent(scope);
        let (x, y, width) = (self.axis - extent.left, self.y, extent.left + extent.right);
        let text = BoxText::new(None, &scope.name, &scope.marks, width);
        let at = self.frames.len();
        let area = Area {
            x,
            y,
            width,
            height: 0,
        };
        self.y += text.height();
        self.frames.push(Frame {
            scope,
            area,
            text,
            level,
        });
        let areas = self.entries(scope, level);
        self.lane(scope, &areas);
        self.y += PAD;
        let area = Area {
            height: self.y - y,
            ..area
        };
        self.frames[at].area = area;
        area
    }

    fn entries(&mut self, scope: &'g GraphScope, level: usize) -> Vec<Area> {
        let mut areas = Vec::new();
        for entry in &scope.entries {
            if !areas.is_empty() {
                self.arrow();
            }
            areas.push(match entry {
                GraphEntry::Node(step) => self.card(step),
                GraphEntry::Scope(inner) => self.scope(inner, level + 1),
            });
        }
        areas
    }

    fn card(&mut self, step: &'g GraphNode) -> Area {
        let text = self.metrics.text(step);
        let lines = match lines_at(self.graph, step.id) {
            0 => 0,
            lines => (lines + 1) * JUMP_LINE,
        };
        self.edge = &self.graph.order[self.cards.len()];
        let area = Area {
            x: self.axis - self.metrics.card / 2,
            y: self.y,
            width: self.metrics.card,
            height: text.height().max(lines),
        };
        self.y += area.height;
        self.cards.push(Card { step, area, text });
        area
    }

    fn lane(&mut self, scope: &'g GraphScope, areas: &[Area]) {
        let (Some(loop_edge), Some(first)) = (scope.loop_edge, areas.first()) else {
            return;
        };
        let middle = |area: &Area| (area.x + area.width, area.y + area.height / 2);
        // A subworkflow is entered at its title.
        let mut to = match &scope.entries[0] {
            GraphEntry::Node(_) => middle(first),
            GraphEntry::Scope(_) => (first.x + first.width, first.y + 20),
        };
        let callers = scope.entries.iter().zip(areas).filter(|(entry, _)| {
            matches!(entry, GraphEntry::Node(step) if step.id <= loop_edge.from && !step.has(MarkKind::Collapsed))
        });
        let mut from: Vec<(u32, u32)> = callers.map(|(_, area)| middle(area)).collect();
        // The arrow ends at the first phase, so a line cannot start there, unless it is the only phase.
        if from.len() > 1 {
            from.retain(|from| *from != to);
        } else if from.first() == Some(&to) {
            to.1 -= 9;
            from[0].1 += 9;
        }
        self.loops.push(Lane {
            scope,
            x: self.axis + self.metrics.inside(scope).right + TO_LANE,
            from,
            to,
        });
    }
}
