//! The page of all runs: what waits for a person first.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::Deserialize;
use workflow_core::diagnostic::visible;
use workflow_core::session::Needed;

use super::failure::Failure;
use super::{Board, Shown};
use crate::files::hash;
use crate::present::Moment;
use crate::store::{AnswerRight, IndexedRun, RunQuery};

/// The most runs of each kind on a page.
const MOST: u32 = 50;
/// The most runs of each kind in which words are looked for.
const MOST_READ: u32 = 1000;

/// Which runs are shown; an empty text is about all.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Filter {
    state: String,
    host: String,
    workflow: String,
    project: String,
    q: String,
}

/// A run on a page.
pub(super) struct RunLine {
    pub(super) run: IndexedRun,
    /// Its state, or the answer that was not used yet.
    pub(super) state: String,
    /// True if an answer to its question can be given.
    pub(super) is_asked: bool,
}

/// What a part of the filter can be, and what is chosen.
struct Choices<'f> {
    label: &'static str,
    chosen: &'f str,
    all: BTreeSet<String>,
}

#[derive(Template)]
#[template(path = "board/runs.html")]
struct Runs<'r> {
    choices: [Choices<'r>; 4],
    q: &'r str,
    /// How many wait.
    waits: usize,
    waiting: Vec<RunLine>,
    others: Vec<RunLine>,
    is_cut: bool,
}

impl RunLine {
    /// A run with the answer to its question, if it has a question.
    pub(super) fn of(run: IndexedRun, question: Option<&Option<String>>) -> Self {
        let answered = question.and_then(Option::as_ref);
        let answered = answered.map(|choice| format!("answered: {}", visible(choice)));
        let is_waiting = Needed::by(&run.run.state) != Needed::Nothing;
        Self {
            is_asked: question.is_some() && answered.is_none() && is_waiting,
            state: answered.unwrap_or_else(|| visible(run.run.words())),
            run,
        }
    }

    /// Tells it from others with the same id, which a fork has.
    pub(super) fn key(&self) -> String {
        hash(format!("{:?}{}", self.run.key, self.run.run.task_id))
    }

    pub(super) fn since(&self) -> Moment {
        self.run.since.into()
    }
}

impl Filter {
    fn passes(&self, IndexedRun { run, .. }: &IndexedRun) -> bool {
        let texts = [&*run.task_id, &run.task, &run.phase, &run.workflow];
        let words = texts.join("\n").to_lowercase();
        words.contains(&self.q.to_lowercase())
    }

    /// What each part can be, from the runs that were read.
    fn choices(&self, runs: &[IndexedRun]) -> [Choices<'_>; 4] {
        let choices = |label, chosen, of: fn(&IndexedRun) -> &str| {
            let all = runs.iter().map(|run| visible(of(run)));
            let all = all.chain([visible(chosen)]);
            let all = all.filter(|text| !text.is_empty()).collect();
            Choices { label, chosen, all }
        };
        [
            choices("State", &self.state, |it| &it.run.state),
            choices("Host", &self.host, |it| &it.key.host),
            choices("Workflow", &self.workflow, |it| &it.run.workflow),
            choices("Project", &self.project, |it| {
                it.cwd.to_str().unwrap_or_default()
            }),
        ]
    }
}

/// The runs that pass a filter.
pub(super) fn show(board: &Board, filter: &Filter) -> Result<Shown, Failure> {
    let store = board.requests.store();
    let some = |text| Some(text).filter(|text: &&str| !text.is_empty());
    let read = |state, only_active| {
        let most = if filter.q.is_empty() {
            2 * MOST
        } else {
            MOST_READ
        };
        store.runs(&RunQuery {
            host: some(&filter.host),
            workflow: some(&filter.workflow),
            project: some(&filter.project),
            state: some(state),
            only_active,
            limit: Some(most),
            ..RunQuery::default()
        })
    };
    let mut runs = Vec::new();
    for state in ["waits", "paused", "stopped"] {
        if filter.state.is_empty() || filter.state == state {
            runs.extend(read(state, true)?);
        }
    }
    let mut recent = read(&filter.state, false)?;
    let newest = store.runs(&RunQuery {
        limit: Some(2 * MOST),
        ..RunQuery::default()
    })?;
    let choices = filter.choices(&[&*runs, &*recent, &*newest].concat());
    let may_answer = board.requests.answer_right() != AnswerRight::MayRead;
    let questions = board.requests.all()?.into_iter();
    let questions: BTreeMap<String, Option<String>> = questions
        .map(|(request, decision)| (request.task_id, decision.map(|decision| decision.choice)))
        .collect();
    let question = |run: &IndexedRun| questions.get(&run.run.task_id);
    let waits = |run: &IndexedRun| {
        let is_answered = question(run).is_some_and(Option::is_some);
        run.run.is_active && Needed::by(&run.run.state) != Needed::Nothing && !is_answered
    };
    runs.retain(|run| waits(run) && filter.passes(run));
    // The one that waits longest comes first.
    runs.sort_by_key(|run| run.since);
    recent.retain(|run| !waits(run) && filter.passes(run));
    let most = MOST as usize;
    let lines = |runs: &[IndexedRun]| -> Vec<RunLine> {
        let lines = runs.iter().take(most).cloned();
        let lines = lines.map(|run| {
            let question = question(&run).filter(|_| may_answer);
            RunLine::of(run, question)
        });
        lines.collect()
    };
    let page = Runs {
        choices,
        q: &filter.q,
        waits: runs.len(),
        waiting: lines(&runs),
        others: lines(&recent),
        is_cut: runs.len().max(recent.len()) > most,
    };
    let title = match runs.len() {
        0 => "Runs".to_owned(),
        waiting => format!("({waiting}) Runs"),
    };
    let html = page.render()?;
    Ok(Shown { title, html })
}
