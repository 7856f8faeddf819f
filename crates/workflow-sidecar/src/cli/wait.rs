//! `runs --wait`: waits while a run waits for a person.

use std::thread;
use std::time::{Duration, Instant};

use workflow_core::definition::spelled_duration;
use workflow_core::session::Needed;

use crate::platform::answers::requests::{Requests, interval};
use crate::present::CommandOutcome;
use crate::sessions::one_run;
use crate::store::{IndexedRun, Run, Store, StoreError};

/// Reads a time such as `30m`.
pub(super) fn span(text: &str) -> Result<Duration, &'static str> {
    let seconds = spelled_duration(text).ok_or("a number with `s`, `m` or `h` is expected")?;
    Ok(Duration::from_secs(seconds.into()))
}

/// Waits while a run waits for a person and nobody has answered. Returns the run as it is then. Changes nothing in the store.
pub(super) fn wait(
    store: Store,
    id: &str,
    timeout: Option<Duration>,
) -> anyhow::Result<(IndexedRun, CommandOutcome)> {
    let begun = Instant::now();
    let mut run = one_run(&store, id)?;
    let requests = Requests::of(store);
    let interval = interval(requests.answer_right());
    let mut is_reported = false;
    loop {
        let looked = look(&requests, &run.run.task_id);
        let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
        let is_over = left.is_some_and(|left| left.is_zero());
        match looked {
            Ok(Some(found)) => {
                run = found;
                let outcome = outcome_of(&run.run);
                if is_over || outcome != CommandOutcome::Waits {
                    return Ok((run, outcome));
                }
            }
            Ok(None) => {
                "gone".clone_into(&mut run.run.state);
                run.run.waiting.clear();
                return Ok((run, CommandOutcome::Findings));
            }
            Err(error) if is_over => return Err(error.into()),
            Err(_) if is_reported => {}
            Err(error) => {
                tracing::warn!("{error}: tried again until the time is over");
                is_reported = true;
            }
        }
        thread::sleep(left.unwrap_or(interval).min(interval));
    }
}

/// Finds a run. One whose user has answered can go on, though its session does not know it yet.
fn look(requests: &Requests, task_id: &str) -> Result<Option<IndexedRun>, StoreError> {
    let mut found = requests.run(task_id)?;
    requests.note_answers(found.as_mut_slice())?;
    Ok(found)
}

fn outcome_of(run: &Run) -> CommandOutcome {
    match &*run.state {
        "cancelled" | "ended" | "stale" => CommandOutcome::Findings,
        state => Needed::by(state).into(),
    }
}
