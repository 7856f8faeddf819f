//! Layout: boxes below each other on one axis, scopes around them, `loop` in a lane on the right, jumps on the left.
//!
//! Two passes: the extent of each box to the left and right of the axis, then its position, where it is drawn. All
//! lengths are whole pixels.

use std::collections::HashMap;

use super::super::model::{Graph, GraphNode, Jump, JumpTarget, MarkKind};
use super::draw::{
    Area, LOOP, STYLE, around, arrow, box_text, described, icon, path, pill, quiet, rect, titled,
};
use super::measure::{BoxText, card_width, extent, inside};
use super::measure::{
    GAP, INSET, JUMP_LABEL, JUMP_LINE, LANE, LEGEND_ICON, LEGEND_LINE, MARGIN, PAD, PILL_HEIGHT,
    SMALL, TO_LANE, WIDEST,
};
use super::measure::{width, wrapped};
use crate::present::xml;

/// Draws a graph, with its style.
pub(crate) fn svg(graph: &Graph) -> String {
    drawn(graph, &format!("<style>\n{STYLE}</style>\n"))
}

/// Draws a graph for a page that has [`STYLE`].
pub(crate) fn svg_in_page(graph: &Graph) -> String {
    drawn(graph, "")
}

fn drawn(graph: &Graph, style: &str) -> String {
    let card = card_width(graph);
    let start = graph.command.as_deref().unwrap_or("as a part of others");
    let start = wrapped(start, SMALL, WIDEST, 1).concat();
    let half_pill = (width(&start, SMALL) + 2 * INSET).div_ceil(2);
    let legend_entries = legend_entries(graph);
    let texts_of_legend = legend_entries.iter().map(|(_, text)| width(text, SMALL));
    let legend_width = LEGEND_ICON + texts_of_legend.max().unwrap_or(0);
    let [left, right] = [0, TO_LANE].map(|lane| extent(&graph.root, card, lane).max(half_pill));
    let missing = legend_width.saturating_sub(left + right);
    // The jumps are left of all scopes: their lanes, then their labels.
    let lanes = u32::try_from(graph.jumps.len()).expect("a few jumps for each node");
    let labels = graph.jumps.iter().map(|jump| width(&jump.label, SMALL));
    let labels = labels.max();
    let labels = labels.map_or(0, |widest| widest.min(JUMP_LABEL) + INSET);
    let axis = MARGIN + lanes * LANE + labels + left + missing / 2;
    let mut picture = Picture {
        graph,
        card,
        edge: Some(""),
        axis,
        y: MARGIN,
        frames: Vec::new(),
        pills: String::new(),
        cards: String::new(),
        arrows: String::new(),
        loops: String::new(),
        areas: HashMap::new(),
        ends: Vec::new(),
    };
    picture.pill(&start);
    picture.arrow();
    picture.scope(&graph.root, 0);
    picture.arrow();
    picture.pill("done");
    if graph.can_be_cancelled() {
        picture.y += GAP / 2;
        picture.pill("cancelled");
    }
    let jumps = picture.jumps(MARGIN + lanes * LANE + 2);
    let mut y = picture.y + MARGIN;
    let mut legend = String::new();
    for (kind, text) in &legend_entries {
        legend += &icon(*kind, MARGIN, y);
        legend += &quiet(MARGIN + LEGEND_ICON, y + 10, text);
        y += LEGEND_LINE;
    }
    let height = if legend.is_empty() { y } else { y + MARGIN / 2 };
    let width = axis + right + missing.div_ceil(2) + MARGIN;
    let (name, description) = (xml(&graph.root.name), xml(&description(graph)));
    let (frames, pills, cards) = (picture.frames.concat(), picture.pills, picture.cards);
    let (arrows, loops) = (picture.arrows, picture.loops);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wf\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n\
         <title>{name}</title>\n<desc>{description}</desc>\n{style}\
         <rect class=\"wf-page\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n\
         {frames}{pills}{cards}{arrows}{jumps}{loops}{legend}</svg>\n"
    )
}

/// The picture in words: the order of the phases, and the jumps.
fn description(graph: &Graph) -> String {
    let nodes = graph.root.nodes();
    let names = nodes.iter();
    let names = names.map(|step| described(&step.name, &step.marks));
    let names: Vec<String> = names.collect();
    let start = graph.command.as_deref().unwrap_or("As a part of others");
    let scopes = graph.root.scopes().into_iter();
    let scopes = scopes.filter(|scope| !scope.marks.is_empty());
    let scopes = scopes.map(|scope| format!(" {}.", described(&scope.name, &scope.marks)));
    let scopes: String = scopes.collect();
    let order = format!("{start}: {}; then done.{scopes}", names.join("; "));
    let name = |id: usize| {
        let node = nodes.iter().find(|node| node.id == id);
        node.map_or("", |node| &*node.name)
    };
    let jump = |jump: &Jump| {
        let to = match jump.to {
            JumpTarget::Node(id) => name(id),
            JumpTarget::Done => "done",
            JumpTarget::Cancelled => "cancelled",
        };
        format!("{} from {} to {to}", jump.label, name(jump.from))
    };
    let jumps: Vec<String> = graph.jumps.iter().map(jump).collect();
    match &*jumps.join("; ") {
        "" => order,
        jumps => format!("{order} Jumps: {jumps}."),
    }
}

const RULES: &str = "tools that are blocked, or the only ones allowed, and rules on calls";

/// Returns the legend: only the icons that occur.
fn legend_entries(graph: &Graph) -> Vec<(Option<MarkKind>, &'static str)> {
    let all = [graph.root.scopes(), graph.root.nodes()].concat();
    let has = |kind: MarkKind| all.iter().any(|node| node.has(kind));
    let lines = [
        (MarkKind::Rule, RULES),
        (MarkKind::Open, "calls that are allowed"),
        (MarkKind::Gate, "checked before the phase can be left"),
        (MarkKind::Approval, "you are asked before the phase is left"),
        (MarkKind::Waits, "an agent that stops here is not sent on"),
        (MarkKind::Flow, "conditions, values and limits"),
        (MarkKind::Collapsed, "a subworkflow, closed"),
        (
            MarkKind::Visited,
            "how often the run was there, and how long",
        ),
        (MarkKind::Present, "where the run is"),
    ];
    let lines = lines.into_iter();
    let lines = lines.filter(|(kind, _)| has(*kind));
    let lines = lines.map(|(kind, text)| (Some(kind), text));
    let loops = graph.root.loops().next();
    let loops = loops.map(|_| (None, "loop starts over, from any phase on the line"));
    lines.chain(loops).collect()
}

/// The number of ends of jumps at a node.
fn lines_at(graph: &Graph, id: usize) -> u32 {
    let ends = graph
        .jumps
        .iter()
        .map(|jump| u32::from(jump.from == id) + u32::from(jump.to == JumpTarget::Node(id)));
    ends.sum()
}

/// The second pass: what is drawn so far, and the current vertical position.
struct Picture<'g> {
    graph: &'g Graph,
    /// The width of all cards.
    card: u32,
    /// The arrow from the last card to the next one.
    edge: Option<&'g str>,
    axis: u32,
    y: u32,
    /// Outer ones first.
    frames: Vec<String>,
    pills: String,
    cards: String,
    arrows: String,
    loops: String,
    /// The cards, by the ids of their nodes.
    areas: HashMap<usize, Area>,
    /// The command, the end, and the end by cancelling if a jump leads there.
    ends: Vec<Area>,
}

impl<'g> Picture<'g> {
    fn pill(&mut self, text: &str) {
        let width = (width(text, SMALL) + 2 * INSET).next_multiple_of(2);
        let area = Area {
            x: self.axis - width / 2,
            y: self.y,
            width,
            height: PILL_HEIGHT,
        };
        self.y += PILL_HEIGHT;
        self.pills += &pill(area, text);
        self.ends.push(area);
    }

    fn arrow(&mut self) {
        let (x, y) = (self.axis, self.y);
        self.y += GAP;
        let Some(label) = self.edge else { return };
        self.arrows += &arrow(x, y, self.y);
        if !label.is_empty() {
            let label = wrapped(label, SMALL, self.card / 2 - INSET, 1).concat();
            self.arrows += &quiet(x + 8, self.y - 11, &label);
        }
    }

    /// Places a scope and its content.
    fn scope(&mut self, scope: &'g GraphNode, level: usize) -> Area {
        let [left, right] = [0, TO_LANE].map(|lane| extent(scope, self.card, lane));
        let mut area = Area {
            x: self.axis - left,
            y: self.y,
            width: left + right,
            height: 0,
        };
        let text = BoxText::new(None, &scope.name, &scope.marks, area.width);
        self.y += text.height();
        let at = self.frames.len();
        // It is drawn when its height is known.
        self.frames.push(String::new());
        let mut first = None;
        for entry in &scope.entries {
            if first.is_some() {
                self.arrow();
            }
            let area = if entry.is_scope() {
                self.scope(entry, level + 1)
            } else {
                self.card(entry)
            };
            first.get_or_insert(area);
        }
        self.lane(scope, first);
        self.y += PAD;
        area.height = self.y - area.y;
        let class = if level.is_multiple_of(2) {
            "wf-frame"
        } else {
            "wf-frame wf-odd"
        };
        let frame = rect(class, area, 10) + &box_text(&text, area.x + INSET, area.y + 25);
        self.frames[at] = titled(&format!("{} ({})", scope.name, scope.key), &frame);
        area
    }

    fn card(&mut self, step: &'g GraphNode) -> Area {
        let text = BoxText::of(step, self.card);
        let lines = match lines_at(self.graph, step.id) {
            0 => 0,
            lines => (lines + 1) * JUMP_LINE,
        };
        self.edge = self.graph.order[self.areas.len()].as_deref();
        let area = Area {
            x: self.axis - self.card / 2,
            y: self.y,
            width: self.card,
            height: text.height().max(lines),
        };
        self.y += area.height;
        self.areas.insert(step.id, area);
        let mut card = String::new();
        if step.has(MarkKind::Collapsed) {
            let behind = Area {
                x: area.x + 4,
                y: area.y + 4,
                ..area
            };
            card += &rect("wf-card", behind, 8);
        }
        let class = if step.has(MarkKind::Present) {
            "wf-card wf-present"
        } else if step.has(MarkKind::Waits) {
            "wf-card wf-waits"
        } else {
            "wf-card"
        };
        card += &rect(class, area, 8);
        card += &box_text(&text, area.x + INSET, area.y + 24);
        self.cards += &titled(&described(&step.name, &step.marks), &card);
        area
    }

    /// Draws the line of `loop`, from the phases that may call it to the first entry, which is at `first`.
    fn lane(&mut self, scope: &'g GraphNode, first: Option<Area>) {
        let Some(first) = first.filter(|_| !scope.loop_from.is_empty()) else {
            return;
        };
        let middle = |area: Area| (area.x + area.width, area.y + area.height / 2);
        let mut to = middle(first);
        if scope.entries[0].is_scope() {
            // It is entered at its title.
            to.1 = first.y + 20;
        }
        let areas = scope.loop_from.iter().map(|id| middle(self.areas[id]));
        let mut from: Vec<(u32, u32)> = areas.collect();
        // The arrow ends at the first phase, so a line starts there only if it is the only phase.
        if from.first() == Some(&to) {
            to.1 -= 9;
            from[0].1 += 9;
        }
        let x = self.axis + inside(scope, self.card, TO_LANE) + TO_LANE;
        let mut lane = String::new();
        if let Some((last, others)) = from.split_last() {
            for (from, y) in others {
                lane += &path(LOOP, &format!("M{from} {y}H{x}"));
            }
            lane += &around(LOOP, x, *last, to);
        }
        let title = format!("loop: {} starts over", scope.name);
        self.loops += &titled(&title, &lane);
    }

    /// Draws the jumps: left from a card, along a lane, and right to the target. Those at one card are below each
    /// other.
    fn jumps(&self, label_x: u32) -> String {
        let mut used: HashMap<usize, u32> = HashMap::new();
        let mut at_card = |id: usize| {
            let used = used.entry(id).or_default();
            *used += 1;
            let (area, lines) = (self.areas[&id], lines_at(self.graph, id));
            (area.x, area.y + area.height * *used / (lines + 1))
        };
        let end = |at: usize| (self.ends[at].x, self.ends[at].y + PILL_HEIGHT / 2);
        let jumps = self.graph.jumps.iter().zip(0..);
        let drawn = jumps.map(|(jump, lane)| {
            let from = at_card(jump.from);
            let to = match jump.to {
                JumpTarget::Node(id) => at_card(id),
                JumpTarget::Done => end(1),
                JumpTarget::Cancelled => end(2),
            };
            // Its part for which there is room.
            let label = wrapped(&jump.label, SMALL, JUMP_LABEL, 1).concat();
            let way = around("wf-line", MARGIN + lane * LANE, from, to);
            titled(&jump.label, &(way + &quiet(label_x, from.1 - 3, &label)))
        });
        drawn.collect()
    }
}
