//! What changes on a page, as events that a browser follows. The store is looked at only while one does.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use super::failure::Failure;
use super::{Board, SharedBoard, View, blocking};
use crate::files::hash;
use crate::store::AnswerRight;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(200);
/// The same at a server, where each look is a connection.
const INTERVAL_AT_SERVER: Duration = Duration::from_secs(2);
/// The most pages that are followed at once.
const MOST: usize = 64;

/// What a look at the store found: a text that changes with it, or why it cannot be read.
type Pulse = Result<String, String>;

/// The newest look at the store, and those who follow it.
#[derive(Default)]
pub(super) struct Pulses {
    newest: watch::Sender<Option<Pulse>>,
    is_followed: Notify,
}

/// A page that is followed.
struct Follower {
    board: Arc<Board>,
    view: Arc<View>,
    pulses: watch::Receiver<Option<Pulse>>,
    /// The hash of what was sent last; empty before that.
    sent: String,
}

/// Looks at the store while somebody follows it.
pub(super) async fn follow(board: Arc<Board>) {
    loop {
        let pulses = &board.pulses;
        if pulses.newest.receiver_count() == 0 {
            pulses.is_followed.notified().await;
        }
        let looked = blocking(&board, |board| {
            let right = board.requests.answer_right();
            Ok((right, board.requests.store().pulse()?))
        });
        let (interval, pulse) = match looked.await {
            Ok((AnswerRight::NeedsProof, pulse)) => (INTERVAL, Ok(pulse)),
            Ok((_, pulse)) => (INTERVAL_AT_SERVER, Ok(pulse)),
            Err(failure) => (INTERVAL_AT_SERVER, Err(failure.message)),
        };
        let newest = &pulses.newest;
        newest.send_if_modified(|known| known.replace(pulse.clone()) != Some(pulse));
        sleep(interval).await;
    }
}

/// The changes of a page. The first event is the whole part that changes.
pub(super) async fn events(
    State(board): SharedBoard,
    Query(view): Query<View>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let pulses = &board.pulses;
    if pulses.newest.receiver_count() >= MOST {
        let message = "Too many pages follow the runs: close one.";
        return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, message));
    }
    let follower = Follower {
        pulses: pulses.newest.subscribe(),
        view: Arc::new(view),
        sent: String::new(),
        board: Arc::clone(&board),
    };
    pulses.is_followed.notify_one();
    let events = unfold(follower, |mut follower| async {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

impl Follower {
    /// Waits until something has changed: the part of the page after its title, or why it cannot be shown.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if !self.sent.is_empty() {
                self.pulses.changed().await.ok()?;
            }
            let view = Arc::clone(&self.view);
            let shown = blocking(&self.board, move |board| view.show(board)).await;
            let (name, text) = match shown {
                Ok(shown) => ("page", format!("{}\n{}", shown.title, shown.html)),
                Err(failure) => ("problem", failure.message),
            };
            let now = hash(&text);
            if std::mem::replace(&mut self.sent, now.clone()) != now {
                return Some(Event::default().event(name).data(text));
            }
        }
    }
}
