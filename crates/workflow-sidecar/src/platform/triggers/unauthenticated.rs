//! Connections of a webhook that have not shown the token yet.
//!
//! They cannot keep others out: their number is limited, and a new one closes the oldest.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Connections without the token at the same time.
const MAX_CONNECTIONS: usize = 64;
/// Time in which a connection is not closed for another one: enough to send a head. Meanwhile others wait to be accepted.
const PROTECTED_TIME: Duration = Duration::from_millis(100);

/// The connections without the token, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct UnauthenticatedConnections(Arc<Mutex<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    taken: VecDeque<UnauthenticatedConnection>,
    /// The number of connections so far.
    count: u64,
}

#[derive(Debug)]
struct UnauthenticatedConnection {
    number: u64,
    since: Instant,
    closed: CancellationToken,
}

/// The slot of a connection, until it shows the token or this is dropped.
#[derive(Debug)]
pub(super) struct UnauthenticatedSlot {
    connections: UnauthenticatedConnections,
    number: u64,
    /// Cancelled when another connection takes the slot.
    pub(super) closed: CancellationToken,
}

impl UnauthenticatedConnections {
    /// Waits for a free slot, and closes the oldest connection if all are taken.
    pub(super) async fn enter(&self) -> UnauthenticatedSlot {
        loop {
            let wait = {
                let mut slots = self.0.lock();
                match slots.taken.front() {
                    Some(oldest) if slots.taken.len() >= MAX_CONNECTIONS => {
                        let left = PROTECTED_TIME.saturating_sub(oldest.since.elapsed());
                        if left.is_zero()
                            && let Some(oldest) = slots.taken.pop_front()
                        {
                            oldest.closed.cancel();
                        }
                        left
                    }
                    _ => return self.add(&mut slots),
                }
            };
            sleep(wait).await;
        }
    }

    fn add(&self, slots: &mut Slots) -> UnauthenticatedSlot {
        let closed = CancellationToken::new();
        slots.count += 1;
        slots.taken.push_back(UnauthenticatedConnection {
            number: slots.count,
            since: Instant::now(),
            closed: closed.clone(),
        });
        UnauthenticatedSlot {
            connections: self.clone(),
            number: slots.count,
            closed,
        }
    }
}

impl UnauthenticatedSlot {
    /// Frees the slot, because the connection has shown the token: it is no longer closed for another one.
    pub(super) fn authenticate(&self) {
        self.free();
    }

    fn free(&self) {
        let mut slots = self.connections.0.lock();
        slots.taken.retain(|other| other.number != self.number);
    }

    /// Returns `true` if the connection has shown the token.
    pub(super) fn is_authenticated(&self) -> bool {
        let slots = self.connections.0.lock();
        let has_slot = slots.taken.iter().any(|other| other.number == self.number);
        !has_slot && !self.closed.is_cancelled()
    }
}

impl Drop for UnauthenticatedSlot {
    fn drop(&mut self) {
        self.free();
    }
}
