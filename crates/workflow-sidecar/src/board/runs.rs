//! The page of all runs: what waits for a person first.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::Deserialize;
use workflow_core::diagnostic::visible;
use workflow_core::session::Needed;

use super::failure::Failure;
use super::{Board, Shown};
use crate::files::hash;
use crate::present::{Moment, count};
use crate::store::{AnswerRight, IndexedRun, RunQuery};

/// The most runs of each kind on a page.
const MOST: usize = 50;
/// The most runs that a filter reads.
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

/// A run on a page. Its texts have no control characters.
pub(super) struct RunLine {
    pub(super) id: String,
    /// Tells it from others with the same id, which a fork has.
    pub(super) key: String,
    pub(super) workflow: String,
    pub(super) phase: String,
    pub(super) task: String,
    pub(super) state: String,
    pub(super) since: String,
    pub(super) host: String,
    pub(super) project: String,
    /// True if an answer to its question can be given.
    pub(super) is_asked: bool,
}

/// A choice of a filter.
struct Choices {
    label: &'static str,
    name: &'static str,
    /// Each, and whether it is chosen.
    all: Vec<(String, bool)>,
}

#[derive(Template)]
#[template(path = "board/runs.html")]
struct Runs<'r> {
    choices: Vec<Choices>,
    q: &'r str,
    /// How many wait, in words.
    waits: String,
    waiting: Vec<RunLine>,
    others: Vec<RunLine>,
    /// What is not shown, in words.
    more: String,
}

impl RunLine {
    /// A run with the answer to its question, if it has a question.
    pub(super) fn of(run: &IndexedRun, question: Option<&Option<String>>) -> Self {
        let answered = question.and_then(Option::as_ref);
        let answered = answered.map(|choice| format!("answered: {}", visible(choice)));
        let machine = match &*run.machine {
            "" => String::new(),
            machine => format!(" on {}", visible(machine)),
        };
        let is_waiting = Needed::by(&run.run.state) != Needed::Nothing;
        Self {
            id: run.run.task_id.clone(),
            key: hash(format!("{:?}{}", run.key, run.run.task_id)),
            workflow: visible(&run.run.workflow),
            phase: visible(&run.run.phase),
            task: visible(&run.run.task),
            is_asked: question.is_some() && answered.is_none() && is_waiting,
            state: answered.unwrap_or_else(|| visible(run.run.words())),
            since: Moment::from(run.since).to_string(),
            host: visible(&run.key.host),
            project: visible(&run.cwd.to_string_lossy()) + &machine,
        }
    }
}

impl Filter {
    fn is_empty(&self) -> bool {
        let Self {
            state,
            host,
            workflow,
            project,
            q,
        } = self;
        [state, host, workflow, project, q]
            .iter()
            .all(|text| text.is_empty())
    }

    fn passes(&self, run: &IndexedRun) -> bool {
        let is = |wanted: &str, text: &str| wanted.is_empty() || wanted == visible(text);
        let words = self.q.to_lowercase();
        let mut texts = [
            &run.run.task_id,
            &run.run.task,
            &run.run.phase,
            &run.run.workflow,
        ]
        .into_iter()
        .map(|text| text.to_lowercase());
        is(&self.state, &run.run.state)
            && is(&self.host, &run.key.host)
            && is(&self.workflow, &run.run.workflow)
            && is(&self.project, run.cwd.to_str().unwrap_or_default())
            && texts.any(|text| text.contains(&words))
    }

    /// What each part can be, from the runs that were read.
    fn choices(&self, runs: &[IndexedRun]) -> Vec<Choices> {
        let choices = |label, name, chosen: &str, of: &dyn Fn(&IndexedRun) -> &str| {
            let all = runs.iter().map(|run| visible(of(run)));
            let mut all: BTreeSet<String> = all.chain([visible(chosen)]).collect();
            all.remove("");
            let all = all.into_iter();
            Choices {
                label,
                name,
                all: all
                    .map(|text| {
                        let is_it = text == chosen;
                        (text, is_it)
                    })
                    .collect(),
            }
        };
        vec![
            choices("State", "state", &self.state, &|run| &run.run.state),
            choices("Host", "host", &self.host, &|run| &run.key.host),
            choices("Workflow", "workflow", &self.workflow, &|run| {
                &run.run.workflow
            }),
            choices("Project", "project", &self.project, &|run| {
                run.cwd.to_str().unwrap_or_default()
            }),
        ]
    }
}

/// The runs that pass a filter.
pub(super) fn show(board: &Board, filter: &Filter) -> Result<Shown, Failure> {
    let store = board.requests.store();
    let read = |only_active, limit| {
        store.runs(&RunQuery {
            only_active,
            limit: Some(limit),
            ..RunQuery::default()
        })
    };
    let limit = if filter.is_empty() {
        u32::try_from(MOST + 1).unwrap_or(u32::MAX)
    } else {
        MOST_READ
    };
    let (mut runs, mut recent) = (read(true, MOST_READ)?, read(false, limit)?);
    let choices = filter.choices(&[&*runs, &*recent].concat());
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
    let waiting_in_all = runs.len();
    let is_cut = runs.len() > MOST || recent.len() > MOST;
    runs.truncate(MOST);
    recent.truncate(MOST);
    let lines = |runs: &[IndexedRun]| -> Vec<RunLine> {
        let lines = runs
            .iter()
            .map(|run| RunLine::of(run, question(run).filter(|_| may_answer)));
        lines.collect()
    };
    let page = Runs {
        choices,
        q: &filter.q,
        waits: match waiting_in_all {
            0 => "Nothing waits for a person.".to_owned(),
            1 => "1 run waits for a person.".to_owned(),
            many => format!("{many} runs wait for a person."),
        },
        waiting: lines(&runs),
        others: lines(&recent),
        more: if is_cut {
            let most = count(MOST, "run");
            format!("At most {most} of each kind are shown: a filter finds others.")
        } else {
            String::new()
        },
    };
    let title = match waiting_in_all {
        0 => "Runs".to_owned(),
        waiting => format!("({waiting}) Runs"),
    };
    Ok(Shown {
        title,
        html: page.render()?,
    })
}
