//! Connections of a webhook that have not shown the token yet.
//!
//! Owns that they cannot keep others out: there is room for a certain number, and a new one takes the place of the oldest.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Connections without the token at the same time.
const MOST: usize = 64;
/// Time in which a connection is not closed for another one: enough to send a head. Meanwhile others wait to be accepted.
const PROTECTED: Duration = Duration::from_millis(100);

/// The connections without the token, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Strangers(Arc<Mutex<Places>>);

#[derive(Debug, Default)]
struct Places {
    taken: VecDeque<Stranger>,
    /// The number of places that were ever taken.
    count: u64,
}

#[derive(Debug)]
struct Stranger {
    number: u64,
    since: Instant,
    closed: CancellationToken,
}

/// The place of a connection among the strangers, until it shows the token or this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    strangers: Strangers,
    number: u64,
    /// Cancelled when another connection takes the place.
    pub(super) closed: CancellationToken,
}

impl Strangers {
    /// Waits for a place, and closes the oldest connection if there is none.
    pub(super) async fn enter(&self) -> Place {
        loop {
            let wait = {
                let mut places = self.0.lock();
                match places.taken.front() {
                    Some(oldest) if places.taken.len() >= MOST => {
                        let left = PROTECTED.saturating_sub(oldest.since.elapsed());
                        if left.is_zero()
                            && let Some(oldest) = places.taken.pop_front()
                        {
                            oldest.closed.cancel();
                        }
                        left
                    }
                    _ => return self.place(&mut places),
                }
            };
            sleep(wait).await;
        }
    }

    fn place(&self, places: &mut Places) -> Place {
        let closed = CancellationToken::new();
        places.count += 1;
        places.taken.push_back(Stranger {
            number: places.count,
            since: Instant::now(),
            closed: closed.clone(),
        });
        Place {
            strangers: self.clone(),
            number: places.count,
            closed,
        }
    }
}

impl Place {
    /// Gives the place to others, because the connection has shown the token: it is not closed for another one any more.
    pub(super) fn leave(&self) {
        let mut places = self.strangers.0.lock();
        places.taken.retain(|place| place.number != self.number);
    }

    /// Returns `true` if the connection has shown the token.
    pub(super) fn has_left(&self) -> bool {
        let places = self.strangers.0.lock();
        !places.taken.iter().any(|place| place.number == self.number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}
