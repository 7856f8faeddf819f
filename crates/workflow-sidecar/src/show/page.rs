//! A run as one page: what its HTML and its Markdown show, cut to what a page can hold.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use workflow_core::definition::Settings;
use workflow_core::diagnostic::{shown, visible_lines};
use workflow_core::session::RunCondition;
use workflow_core::without_secrets;

use super::described::{Below, Described, Tone, duration, is_cut};
use super::run::TimelineRun;
use super::timeline::{TimedEvent, TimelineEvent};
use super::{SessionTimeline, Timelines};
use crate::graph::{Graph, MarkKind, NodeMark};
use crate::present::{Moment, count};

/// The depth to which subworkflows are drawn, and to which they are if that is too much.
const DEPTHS: [usize; 3] = [8, 1, 0];

/// What a page holds at most: characters of a text and of an output, and events of a run.
#[derive(Debug, Clone, Copy)]
struct Limits {
    text: usize,
    output: usize,
    events: usize,
    has_graph: bool,
}

/// From everything to little, until the page is short enough.
#[rustfmt::skip] // A row a line.
const LIMITS: [Limits; 6] = [
    Limits { text: usize::MAX, output: usize::MAX, events: usize::MAX, has_graph: true },
    Limits { text: 4_000, output: 2_000, events: usize::MAX, has_graph: true },
    Limits { text: 1_000, output: 500, events: 1_000, has_graph: true },
    Limits { text: 500, output: 200, events: 300, has_graph: false },
    Limits { text: 200, output: 0, events: 100, has_graph: false },
    Limits { text: 80, output: 0, events: 10, has_graph: false },
];

/// A run on a page. Its texts have no control characters and no secrets that are known by their shape.
#[derive(Debug)]
pub(super) struct RunPage {
    pub(super) workflow: String,
    pub(super) tone: Tone,
    /// How it ended, or where it is.
    pub(super) state: String,
    pub(super) task: String,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) phases: Vec<PhaseRow>,
    pub(super) graph: Option<Graph>,
    /// Inputs and outputs.
    pub(super) values: Vec<(String, String)>,
    pub(super) events: Vec<PageEvent>,
    /// What is left out, in sentences.
    pub(super) left_out: Vec<String>,
}

/// A phase of a run, in all its visits.
#[derive(Debug, Default)]
pub(super) struct PhaseRow {
    pub(super) name: String,
    path: Vec<String>,
    pub(super) visits: usize,
    lasted: Option<i64>,
    /// How often its gate did not pass.
    pub(super) failures: usize,
    /// Blocked calls.
    pub(super) denials: usize,
    pub(super) is_present: bool,
}

impl PhaseRow {
    /// The time in all visits that have ended, if it is known.
    pub(super) fn lasted(&self) -> String {
        self.lasted.map(duration).unwrap_or_default()
    }
}

/// An event with its time, as words.
#[derive(Debug)]
pub(super) struct PageEvent {
    /// The time since the first event.
    pub(super) since: String,
    pub(super) at: String,
    pub(super) what: Described,
}

impl Timelines {
    /// Replaces the texts of people, models and tools, as recordings do; names, times and numbers stay.
    pub(crate) fn redact(&mut self) {
        self.change_texts(&|text| {
            if !text.is_empty() {
                workflow_core::REDACTED.clone_into(text);
            }
        });
    }

    fn change_texts(&mut self, change: &dyn Fn(&mut String)) {
        for session in &mut self.sessions {
            for event in &mut session.events {
                event.what.change_texts(change);
            }
            for run in &mut session.runs {
                change(&mut run.state.task_description);
                let outputs = run.values.outputs.values_mut();
                for value in outputs
                    .chain([&mut run.values.inputs])
                    .flat_map(BTreeMap::values_mut)
                {
                    let mut text = value_text(value);
                    change(&mut text);
                    *value = text.into();
                }
            }
        }
    }

    /// Renders the runs as a page that is not longer than this, in bytes.
    pub(super) fn fitted(
        mut self,
        longest: usize,
        render: impl Fn(&[RunPage]) -> anyhow::Result<String>,
    ) -> anyhow::Result<String> {
        // Before a line shows only the beginning of a text, by which its secrets are not known.
        self.change_texts(&|text| {
            if let Cow::Owned(without) = without_secrets(text) {
                *text = without;
            }
        });
        let mut page = String::new();
        for limits in LIMITS {
            page = render(&self.pages(limits))?;
            if page.len() <= longest {
                break;
            }
        }
        anyhow::ensure!(
            page.len() <= longest,
            "what happened is too long for a page: name a run instead of its file, or use `--format human`"
        );
        Ok(page)
    }

    fn pages(&self, limits: Limits) -> Vec<RunPage> {
        let of_session = |session: &SessionTimeline| -> Vec<RunPage> {
            let next = session.runs.iter().skip(1).map(|run| Some(run.first_event));
            let runs = session.runs.iter().zip(next.chain([None]));
            runs.map(|(run, next)| {
                let end = next.unwrap_or(session.events.len());
                let events = session.events.get(run.first_event..end);
                let is_there = next.is_none() && run.state.active;
                RunPage::of(
                    run,
                    is_there,
                    events.unwrap_or_default(),
                    self.cwd.as_deref(),
                    limits,
                )
            })
            .collect()
        };
        self.sessions.iter().flat_map(of_session).collect()
    }
}

impl RunPage {
    /// The page of a run with these events; `is_there` is true if the session is still at its current phase.
    fn of(
        run: &TimelineRun,
        is_there: bool,
        events: &[TimedEvent],
        cwd: Option<&str>,
        limits: Limits,
    ) -> Self {
        let mut phases = phases(events, is_there);
        let (tone, state) = state(run, &phases);
        let mut cut = Cut {
            limits,
            texts: 0,
            left_out: Vec::new(),
        };
        let graph = limits.has_graph.then(|| graph(run, &phases)).flatten();
        if graph.is_none() && run.catalog.is_some() {
            let key = shown(&clean(&run.state.workflow_key));
            let graph = format!("`workflow-sidecar graph {key}` draws it");
            cut.left_out
                .push(format!("The picture is left out: {graph}."));
        }
        let start = events.iter().find_map(|event| event.at);
        let half = limits.events / 2;
        let hidden = events.len().saturating_sub(limits.events);
        let kept = events.iter().enumerate();
        let kept = kept.filter(|(at, _)| hidden == 0 || *at < half || *at >= half + hidden);
        let kept: Vec<PageEvent> = kept
            .map(|(_, event)| PageEvent {
                since: event.since(start),
                at: event.at.map(moment).unwrap_or_default(),
                what: cut.event(&event.what),
            })
            .collect();
        if hidden > 0 {
            let events = count(hidden, "event");
            cut.left_out
                .push(format!("{events} in the middle are left out."));
        }
        let mut values = values(run, &mut cut);
        cut.first(&mut values, "value");
        cut.first(&mut phases, "phase");
        Self {
            workflow: clean(run.workflow()),
            tone,
            state,
            task: cut.text(&run.state.task_description),
            facts: facts(run, events, cwd),
            values,
            events: kept,
            left_out: cut.sentences(),
            phases,
            graph,
        }
    }
}

/// Cuts texts, and knows how many.
struct Cut {
    limits: Limits,
    texts: usize,
    left_out: Vec<String>,
}

impl Cut {
    fn text(&mut self, text: &str) -> String {
        self.cut(text, self.limits.text)
    }

    fn cut(&mut self, text: &str, longest: usize) -> String {
        let text = clean(text);
        match text.char_indices().nth(longest) {
            None => text,
            Some((at, _)) => {
                self.texts += 1;
                format!("{}…", &text[..at])
            }
        }
    }

    /// Keeps the first ones.
    fn first<T>(&mut self, all: &mut Vec<T>, noun: &str) {
        let hidden = all.len().saturating_sub(self.limits.events);
        if hidden > 0 {
            all.truncate(self.limits.events);
            let more = count(hidden, &format!("more {noun}"));
            self.left_out.push(format!("{more} left out."));
        }
    }

    /// An event in words, with what its line is too short for below it.
    fn event(&mut self, event: &TimelineEvent) -> Described {
        let mut described = Described::of(event);
        for text in described.line() {
            *text = clean(text);
        }
        let whole = event.line_text().filter(|text| is_cut(text));
        let whole = whole.map(|text| Below::Text(text.to_owned()));
        described.below.splice(0..0, whole);
        for below in &mut described.below {
            match below {
                Below::Text(text) => *text = self.text(text),
                Below::Note(_, _, text) => *text = clean(text),
                Below::Check(check) => {
                    check.what = clean(&check.what);
                    check.source = clean(&check.source);
                    check.output = self.cut(&check.output, self.limits.output);
                }
            }
        }
        described
    }

    fn sentences(mut self) -> Vec<String> {
        if self.texts > 0 {
            let texts = count(self.texts, "text");
            self.left_out
                .push(format!("{texts} cut short, with an ellipsis."));
        }
        self.left_out
    }
}

/// A text without secrets that are known by their shape, and with its hidden characters as escapes.
fn clean(text: &str) -> String {
    visible_lines(&without_secrets(text)).into_owned()
}

/// The phases in the order in which they were entered first.
fn phases(events: &[TimedEvent], is_there: bool) -> Vec<PhaseRow> {
    let mut rows: Vec<PhaseRow> = Vec::new();
    let (mut current, mut is_resumed) = (None, false);
    for event in events {
        let row = current.and_then(|at: usize| rows.get_mut(at));
        match (&event.what, row) {
            (TimelineEvent::Resumed { .. }, _) => is_resumed = true,
            (
                TimelineEvent::Entered {
                    phase,
                    path,
                    lasted,
                    ..
                },
                _,
            ) => {
                let known = rows
                    .iter()
                    .position(|row| row.name == *phase && row.path == *path);
                let at = known.unwrap_or_else(|| {
                    rows.push(PhaseRow {
                        name: phase.clone(),
                        path: path.clone(),
                        ..PhaseRow::default()
                    });
                    rows.len() - 1
                });
                current = Some(at);
                // Taking up a run is no visit, unless the file begins with it.
                rows[at].visits += usize::from(!is_resumed || rows[at].visits == 0);
                is_resumed = false;
                let times = rows[at].lasted.into_iter().chain(*lasted);
                rows[at].lasted = times.reduce(i64::saturating_add);
            }
            (gate, Some(row)) if gate.is_failed_gate() => row.failures += 1,
            (TimelineEvent::Denied { .. }, Some(row)) => row.denials += 1,
            _ => {}
        }
    }
    if let Some(row) = current.and_then(|at| rows.get_mut(at)) {
        row.is_present = is_there;
    }
    for row in &mut rows {
        row.name = clean(&row.name);
    }
    rows
}

/// How the run ended, or where it is.
fn state(run: &TimelineRun, phases: &[PhaseRow]) -> (Tone, String) {
    let (state, counters) = (&run.state, &run.stored.counters);
    let present = phases.iter().find(|phase| phase.is_present);
    let phase = present.map(|phase| format!("in {}", phase.name));
    let phase = phase.unwrap_or_else(|| "left before its end".to_owned());
    match counters.paused {
        _ if state.cancelled => (Tone::Bad, "cancelled".to_owned()),
        _ if !state.active => (Tone::Good, "complete".to_owned()),
        Some(why) => {
            let why = RunCondition::Paused(why).words();
            (Tone::Notable, format!("{phase}, {why}"))
        }
        None => (Tone::Plain, phase),
    }
}

/// The graph of the workflow, with what the run did in each phase.
fn graph(run: &TimelineRun, phases: &[PhaseRow]) -> Option<Graph> {
    let catalog = run.catalog.as_ref()?;
    let workflow = catalog.get(&run.state.workflow_key)?;
    let mut depths = DEPTHS.into_iter();
    let mut graph =
        depths.find_map(|depth| Graph::of(catalog, &Settings::default(), workflow, depth).ok())?;
    let visited = phases.iter().map(|phase| {
        let visits = [count(phase.visits, "visit"), phase.lasted()];
        let visits = visits.into_iter().filter(|part| !part.is_empty());
        let visits = visits.collect::<Vec<_>>().join(", ");
        (&*phase.path, NodeMark::new(MarkKind::Visited, visits))
    });
    let present = phases.iter().filter(|phase| phase.is_present);
    let present = present.map(|phase| {
        let mark = NodeMark::new(MarkKind::Present, "the run is here");
        (&*phase.path, mark)
    });
    graph.mark(visited.chain(present));
    graph.change_texts(&|text| *text = clean(text));
    Some(graph)
}

/// Numbers and names.
fn facts(
    run: &TimelineRun,
    events: &[TimedEvent],
    cwd: Option<&str>,
) -> Vec<(&'static str, String)> {
    let times = || events.iter().filter_map(|event| event.at);
    let (start, end) = (times().next(), times().next_back());
    let both = start.zip(end);
    let lasted = both.map(|(start, end)| duration(end.saturating_sub(start)));
    let number = |is: fn(&TimelineEvent) -> bool| {
        let number = events.iter().filter(|event| is(&event.what)).count();
        (number > 0).then(|| number.to_string())
    };
    let blocked = number(|event| matches!(event, TimelineEvent::Denied { .. }));
    let reminders = number(|event| matches!(event, TimelineEvent::Reminded { .. }));
    let passed_over = number(
        |event| matches!(event, TimelineEvent::Entered { flow, .. } | TimelineEvent::Completed { flow, .. } if !flow.overrode.is_empty()),
    );
    let last = if run.state.active {
        "Last event"
    } else {
        "Ended"
    };
    let all = [
        ("Run", Some(run.state.task_id.clone())),
        ("Project", cwd.map(str::to_owned)),
        ("Started", start.map(moment)),
        (last, end.map(moment)),
        ("Took", lasted),
        ("Gates not passed", number(TimelineEvent::is_failed_gate)),
        ("Blocked calls", blocked),
        ("Reminders", reminders),
        ("Passed over by the user", passed_over),
    ];
    let known = all.into_iter();
    let known = known.filter_map(|(name, value)| Some((name, clean(&value?))));
    known.collect()
}

/// A time for people.
fn moment(at: i64) -> String {
    Moment(at).with_seconds()
}

/// Inputs, then the outputs of each phase.
fn values(run: &TimelineRun, cut: &mut Cut) -> Vec<(String, String)> {
    let inputs = run.values.inputs.iter();
    let inputs = inputs.map(|(name, value)| (format!("input {name}"), value));
    let outputs = run.values.outputs.iter().flat_map(|(phase, values)| {
        let phase = phase.rsplit('/').next().unwrap_or(phase);
        values
            .iter()
            .map(move |(name, value)| (format!("{phase}: {name}"), value))
    });
    let all = inputs.chain(outputs);
    all.map(|(name, value)| (clean(&name), cut.text(&value_text(value))))
        .collect()
}

/// A value as a text: a list has a line for each item.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(value_text).collect::<Vec<_>>().join("\n"),
        value => value.to_string(),
    }
}
