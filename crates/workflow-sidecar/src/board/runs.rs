//! The page of all runs: what waits for a person first.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::Deserialize;
use workflow_core::diagnostic::visible;
use workflow_core::session::Needed;

use super::failure::Failure;
use super::{Board, Shown};
use crate::files::hash;
use crate::platform::answers::trust_store::trust_requests;
use crate::present::Moment;
use crate::store::{AnswerRight, IndexedRun, RunQuery, Store, StoreError};

/// The most runs of each kind on a page.
const MOST: u32 = 50;
/// The most runs that are read of those that wait.
const MOST_WAITING: u32 = 1000;
/// The most runs among which words are looked for.
const MOST_READ: u32 = 5000;

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
    /// True if an approver is asked to trust commands.
    wants_trust: bool,
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
    fn passes(&self, run: &IndexedRun) -> bool {
        let IndexedRun { run, .. } = run;
        let texts = [&*run.task_id, &run.task, &run.phase, &run.workflow];
        let words = texts.join("\n").to_lowercase();
        words.contains(&self.q.to_lowercase())
    }

    /// Reads the runs that wait, or all.
    fn read(&self, store: &Store, waits: bool, limit: u32) -> Result<Vec<IndexedRun>, StoreError> {
        let given = |text| Some(text).filter(|text: &&String| !text.is_empty());
        let state = [&*self.state];
        let states: &[&str] = match given(&self.state) {
            None if waits => &Needed::STATES,
            None => &[],
            Some(state) if waits && Needed::by(state) == Needed::Nothing => return Ok(Vec::new()),
            Some(_) => &state,
        };
        let mut runs = store.runs(&RunQuery {
            only_active: waits,
            is_oldest_first: waits,
            states,
            host: given(&self.host).map(String::as_str),
            workflow: given(&self.workflow).map(String::as_str),
            project: given(&self.project).map(String::as_str),
            limit: Some(limit),
            ..RunQuery::default()
        })?;
        runs.retain(|run| self.passes(run));
        Ok(runs)
    }

    /// What each part can be, from the runs that were read.
    fn choices(&self, runs: [&[IndexedRun]; 2]) -> [Choices<'_>; 4] {
        let choices = |label, chosen, of: fn(&IndexedRun) -> &str| {
            let all = runs.into_iter().flatten().map(|run| of(run).to_owned());
            let all = all.chain([str::to_owned(chosen)]);
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
    let mut runs = filter.read(store, true, MOST_WAITING)?;
    let limit = if filter.q.is_empty() {
        // Among them are those that wait.
        MOST + 1 + u32::try_from(runs.len()).unwrap_or(MOST_READ)
    } else {
        MOST_READ
    };
    let mut recent = filter.read(store, false, limit)?;
    let choices = filter.choices([&runs, &recent]);
    let right = board.requests.answer_right();
    let wants_trust = right == AnswerRight::MayAnswer
        && trust_requests(store).is_ok_and(|wanted| !wanted.is_empty());
    let questions = board.requests.all()?.into_iter();
    let questions: BTreeMap<String, Option<String>> = questions
        .map(|(request, decision)| (request.task_id, decision.map(|decision| decision.choice)))
        .collect();
    let question = |run: &IndexedRun| questions.get(&run.run.task_id);
    let waits = |run: &IndexedRun| {
        let is_answered = question(run).is_some_and(Option::is_some);
        run.run.is_active && Needed::by(&run.run.state) != Needed::Nothing && !is_answered
    };
    runs.retain(waits);
    recent.retain(|run| !waits(run));
    let most = MOST as usize;
    let lines = |runs: &[IndexedRun]| -> Vec<RunLine> {
        let lines = runs.iter().take(most).cloned();
        let lines = lines.map(|run| {
            let question = question(&run).filter(|_| right != AnswerRight::MayRead);
            RunLine::of(run, question)
        });
        lines.collect()
    };
    let page = Runs {
        choices,
        q: &filter.q,
        wants_trust,
        waits: runs.len(),
        waiting: lines(&runs),
        others: lines(&recent),
        is_cut: runs.len().max(recent.len()) > most,
    };
    let title = match runs.len() {
        0 => "Runs".to_owned(),
        waiting => format!("({waiting}) Runs"),
    };
    Shown::new(title, &page)
}
