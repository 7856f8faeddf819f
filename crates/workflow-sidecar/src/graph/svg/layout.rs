//! Where everything is: boxes below each other on one axis, scopes around them, `loop` in a lane on the right.
//!
//! Two passes: how far each box reaches to the left and right of the axis, then where it stands. All lengths
//! are whole pixels.

use unicode_width::UnicodeWidthStr;

use super::super::model::{Entry, Graph, Mark, Scope, Step};
use super::measure::{width, wrapped};

/// Font sizes.
pub(super) const TITLE: u32 = 15;
pub(super) const NAME: u32 = 15;
pub(super) const SMALL: u32 = 12;
/// How far a line is from the next.
pub(super) const LINE: u32 = 19;
pub(super) const SMALL_LINE: u32 = 17;
/// The room an emoji, and the sign of a mark, has in front of its text.
pub(super) const EMOJI: u32 = 30;
pub(super) const SIGN: u32 = 18;
/// Between a box's edge and its text.
pub(super) const INSET: u32 = 14;

pub(super) const MARGIN: u32 = 24;
/// Between boxes, where an arrow is.
const GAP: u32 = 28;
/// Between a scope's edge and what is inside.
const PAD: u32 = 16;
/// From what is inside a scope to the lane of its `loop`.
const TO_LANE: u32 = 18;
const NARROWEST: u32 = 150;
const WIDEST: u32 = 290;
/// Lines of a name or of a mark.
const LINES: usize = 2;

/// A picture whose boxes have places.
#[derive(Debug)]
pub(super) struct Layout<'g> {
    pub(super) graph: &'g Graph,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) axis: u32,
    /// From the outside in.
    pub(super) frames: Vec<Frame<'g>>,
    pub(super) cards: Vec<Card<'g>>,
    /// From one box to the next: where an arrow starts and where it ends on the axis.
    pub(super) arrows: Vec<(u32, u32)>,
    pub(super) loops: Vec<Lane<'g>>,
    /// What a person types, and the end.
    pub(super) pills: [Pill; 2],
    /// What the signs mean, and the height at which each is explained.
    pub(super) legend: Vec<(Sign, &'static str, u32)>,
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
    pub(super) scope: &'g Scope,
    pub(super) area: Area,
    pub(super) title: Vec<String>,
    /// How many scopes are around it.
    pub(super) level: usize,
}

/// A phase, or a subworkflow that is not opened.
#[derive(Debug)]
pub(super) struct Card<'g> {
    pub(super) step: &'g Step,
    pub(super) area: Area,
    pub(super) text: CardText<'g>,
}

/// What stands in a card, in lines.
#[derive(Debug)]
pub(super) struct CardText<'g> {
    /// What stands in front, if it is as short as an emoji.
    pub(super) emoji: Option<&'g str>,
    pub(super) name: Vec<String>,
    pub(super) marks: Vec<(Sign, Vec<String>)>,
}

/// A small drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Lock,
    Check,
    Person,
    Pause,
    Plus,
    Loop,
}

/// Where `loop` runs back.
#[derive(Debug)]
pub(super) struct Lane<'g> {
    pub(super) scope: &'g Scope,
    pub(super) x: u32,
    /// Where the phases of the scope are that may call it, from the first to the last.
    pub(super) from: Vec<(u32, u32)>,
    pub(super) to: (u32, u32),
}

/// Where a run starts or ends.
#[derive(Debug)]
pub(super) struct Pill {
    pub(super) area: Area,
    pub(super) text: String,
}

/// The room a sign has in the legend.
pub(super) const LEGEND_SIGN: u32 = 26;
const LEGEND_LINE: u32 = 20;
const PILL_HEIGHT: u32 = 28;

impl<'g> Layout<'g> {
    pub(super) fn of(graph: &'g Graph) -> Self {
        let texts = Texts::of(graph);
        let start = graph.command.as_deref().unwrap_or("as a part of others");
        let start = wrapped(start, SMALL, WIDEST, 1).concat();
        let pill_width = |text: &str| width(text, SMALL) + 2 * INSET;
        let half_pill = pill_width(&start).div_ceil(2);
        let explained = explained(graph);
        let texts_of_legend = explained.iter().map(|(_, text)| width(text, SMALL));
        let legend_width = LEGEND_SIGN + texts_of_legend.max().unwrap_or(0);
        let reach = texts.reach(&graph.root).at_least(half_pill, legend_width);
        let axis = MARGIN + reach.left;
        let mut placing = Placing {
            texts: &texts,
            axis,
            y: MARGIN,
            frames: Vec::new(),
            cards: Vec::new(),
            arrows: Vec::new(),
            loops: Vec::new(),
        };
        let start = placing.pill(start);
        placing.arrow();
        placing.scope(&graph.root, 0);
        placing.arrow();
        let end = placing.pill("done".to_owned());
        let mut y = placing.y + MARGIN;
        let mut legend = Vec::new();
        for (sign, text) in explained {
            legend.push((sign, text, y));
            y += LEGEND_LINE;
        }
        Self {
            graph,
            width: axis + reach.right + MARGIN,
            height: if legend.is_empty() { y } else { y + MARGIN / 2 },
            axis,
            frames: placing.frames,
            cards: placing.cards,
            arrows: placing.arrows,
            loops: placing.loops,
            pills: [start, end],
            legend,
        }
    }
}

/// What the legend explains: only what is there.
fn explained(graph: &Graph) -> Vec<(Sign, &'static str)> {
    let steps = graph.root.steps();
    let marked = |sign: Sign| {
        let mut marks = steps.iter().flat_map(|step| &step.marks);
        marks.any(|mark| Sign::of(mark) == sign)
    };
    let has_rules = steps
        .iter()
        .flat_map(|step| &step.marks)
        .any(|mark| matches!(mark, Mark::Rules(_)));
    let loops = graph.root.scopes().iter().any(|scope| scope.back.is_some());
    let lines = [
        (
            marked(Sign::Lock),
            Sign::Lock,
            if has_rules {
                "tools that are blocked, or the only ones allowed, and rules on calls"
            } else {
                "tools that are blocked, or the only ones allowed"
            },
        ),
        (
            marked(Sign::Check),
            Sign::Check,
            "checked before the phase can be left",
        ),
        (
            marked(Sign::Person),
            Sign::Person,
            "you are asked before the phase is left",
        ),
        (
            marked(Sign::Pause),
            Sign::Pause,
            "an agent that stops here is not sent on",
        ),
        (marked(Sign::Plus), Sign::Plus, "a subworkflow, closed"),
        (
            loops,
            Sign::Loop,
            "loop starts over, from any phase on the line",
        ),
    ];
    let shown = lines.into_iter().filter(|(shown, ..)| *shown);
    shown.map(|(_, sign, text)| (sign, text)).collect()
}

impl Sign {
    /// What stands in front of a mark.
    fn of(mark: &Mark) -> Self {
        match mark {
            Mark::Only(_) | Mark::Without(_) | Mark::Rules(_) => Self::Lock,
            Mark::Gate(_) => Self::Check,
            Mark::Approval(_) => Self::Person,
            Mark::Waits => Self::Pause,
            Mark::Closed(_) => Self::Plus,
        }
    }
}

/// How far a box reaches from the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reach {
    left: u32,
    right: u32,
}

impl Reach {
    /// The same, wide enough for so much on both sides of the axis, and in all.
    fn at_least(self, side: u32, whole: u32) -> Self {
        let (left, right) = (self.left.max(side), self.right.max(side));
        let missing = whole.saturating_sub(left + right);
        Self {
            left: left + missing / 2,
            right: right + missing.div_ceil(2),
        }
    }
}

/// How wide cards are: all alike.
struct Texts {
    card: u32,
}

impl Texts {
    fn of(graph: &Graph) -> Self {
        let natural = graph.root.steps().into_iter().map(|step| {
            let (emoji, name) = label(step);
            let indent = if emoji.is_some() { EMOJI } else { 0 };
            let marks = step
                .marks
                .iter()
                .map(|mark| SIGN + width(&mark.words(), SMALL));
            indent + marks.max().unwrap_or(0).max(width(&name, NAME))
        });
        let text = natural.max().unwrap_or(0).clamp(NARROWEST, WIDEST);
        // Even, so that its middle is a whole pixel.
        Self {
            card: (text + 2 * INSET).next_multiple_of(2),
        }
    }

    fn reach(&self, scope: &Scope) -> Reach {
        let inside = self.inside(scope);
        let lane = if scope.back.is_some() { TO_LANE } else { 0 };
        Reach {
            left: inside.left + PAD,
            right: inside.right + lane + PAD,
        }
    }

    /// How far what is in a scope reaches.
    fn inside(&self, scope: &Scope) -> Reach {
        let half = self.card / 2;
        let reaches = scope.entries.iter().map(|entry| match entry {
            Entry::Step(_) => Reach {
                left: half,
                right: half,
            },
            Entry::Scope(inner) => self.reach(inner),
        });
        let none = Reach { left: 0, right: 0 };
        reaches.fold(none, |all, one| Reach {
            left: all.left.max(one.left),
            right: all.right.max(one.right),
        })
    }

    fn text<'g>(&self, step: &'g Step) -> CardText<'g> {
        let (emoji, name) = label(step);
        let room = self.card - 2 * INSET - if emoji.is_some() { EMOJI } else { 0 };
        let marks = step.marks.iter().map(|mark| {
            (
                Sign::of(mark),
                wrapped(&mark.words(), SMALL, room - SIGN, LINES),
            )
        });
        CardText {
            emoji,
            name: wrapped(&name, NAME, room, LINES),
            marks: marks.collect(),
        }
    }
}

/// What stands in front of a step's name, and the name; what is longer than an emoji is a part of the name.
fn label(step: &Step) -> (Option<&str>, String) {
    let emoji = &*step.emoji;
    // One sign may be many characters, joined.
    let sign = !emoji.is_ascii() && emoji.width() <= 2 && emoji.chars().count() < 12;
    if emoji.is_empty() {
        (None, step.name.clone())
    } else if sign || width(emoji, 100) <= 140 {
        (Some(emoji), step.name.clone())
    } else {
        (None, format!("{emoji} {}", step.name))
    }
}

impl CardText<'_> {
    fn height(&self) -> u32 {
        let lines = |lines: &[String]| u32::try_from(lines.len()).unwrap_or_default();
        let marks: u32 = self.marks.iter().map(|(_, mark)| lines(mark)).sum();
        let between = if marks > 0 { 3 } else { 0 };
        2 * 10 + lines(&self.name).max(1) * LINE + between + marks * SMALL_LINE
    }
}

/// The second pass: what is placed already, and how far down it reaches.
struct Placing<'t, 'g> {
    texts: &'t Texts,
    axis: u32,
    y: u32,
    frames: Vec<Frame<'g>>,
    cards: Vec<Card<'g>>,
    arrows: Vec<(u32, u32)>,
    loops: Vec<Lane<'g>>,
}

impl<'g> Placing<'_, 'g> {
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
        self.arrows.push((self.y, self.y + GAP));
        self.y += GAP;
    }

    /// Places a scope, and all inside.
    fn scope(&mut self, scope: &'g Scope, level: usize) -> Area {
        let reach = self.texts.reach(scope);
        let (x, y, width) = (self.axis - reach.left, self.y, reach.left + reach.right);
        let title = wrapped(&scope.name, TITLE, width - 2 * INSET, LINES);
        let at = self.frames.len();
        let area = Area {
            x,
            y,
            width,
            height: 0,
        };
        self.frames.push(Frame {
            scope,
            area,
            title,
            level,
        });
        let lines = u32::try_from(self.frames[at].title.len()).unwrap_or_default();
        self.y += 12 + lines.max(1) * LINE + 8;
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

    fn entries(&mut self, scope: &'g Scope, level: usize) -> Vec<Area> {
        let mut areas = Vec::new();
        for entry in &scope.entries {
            if !areas.is_empty() {
                self.arrow();
            }
            areas.push(match entry {
                Entry::Step(step) => self.card(step),
                Entry::Scope(inner) => self.scope(inner, level + 1),
            });
        }
        areas
    }

    fn card(&mut self, step: &'g Step) -> Area {
        let text = self.texts.text(step);
        let area = Area {
            x: self.axis - self.texts.card / 2,
            y: self.y,
            width: self.texts.card,
            height: text.height(),
        };
        self.y += area.height;
        self.cards.push(Card { step, area, text });
        area
    }

    fn lane(&mut self, scope: &'g Scope, areas: &[Area]) {
        let (Some(back), Some(first)) = (scope.back, areas.first()) else {
            return;
        };
        let middle = |area: &Area| (area.x + area.width, area.y + area.height / 2);
        // A subworkflow is entered at its title.
        let mut to = match &scope.entries[0] {
            Entry::Step(_) => middle(first),
            Entry::Scope(_) => (first.x + first.width, first.y + 20),
        };
        let callers = scope.entries.iter().zip(areas).filter(|(entry, _)| {
            matches!(entry, Entry::Step(step) if step.id <= back.from && !step.is_closed())
        });
        let mut from: Vec<(u32, u32)> = callers.map(|(_, area)| middle(area)).collect();
        // The first phase has its arrow's end there already, unless it is the only one.
        if from.len() > 1 {
            from.retain(|from| *from != to);
        } else if from.first() == Some(&to) {
            to.1 -= 9;
            from[0].1 += 9;
        }
        self.loops.push(Lane {
            scope,
            x: self.axis + self.texts.inside(scope).right + TO_LANE,
            from,
            to,
        });
    }
}
