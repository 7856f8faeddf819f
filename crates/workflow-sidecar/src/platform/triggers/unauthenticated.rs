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
pub(super) struct UnauthenticatedConnections(Arc<Mutex<VecDeque<Arc<Connection>>>>);

#[derive(Debug)]
struct Connection {
    since: Instant,
    /// Cancelled when another connection takes the slot.
    closed: CancellationToken,
}

/// The slot of a connection, until it shows the token or this is dropped.
pub(super) struct UnauthenticatedSlot {
    connections: UnauthenticatedConnections,
    connection: Arc<Connection>,
}

impl UnauthenticatedConnections {
    /// Waits for a free slot, and closes the oldest connection if all are taken.
    pub(super) async fn enter(&self) -> UnauthenticatedSlot {
        loop {
            let wait = {
                let mut taken = self.0.lock();
                match taken.front() {
                    Some(oldest) if taken.len() >= MAX_CONNECTIONS => {
                        let left = PROTECTED_TIME.saturating_sub(oldest.since.elapsed());
                        if left.is_zero()
                            && let Some(oldest) = taken.pop_front()
                        {
                            oldest.closed.cancel();
                        }
                        left
                    }
                    _ => {
                        let connection = Arc::new(Connection {
                            since: Instant::now(),
                            closed: CancellationToken::new(),
                        });
                        taken.push_back(Arc::clone(&connection));
                        let connections = self.clone();
                        return UnauthenticatedSlot {
                            connections,
                            connection,
                        };
                    }
                }
            };
            sleep(wait).await;
        }
    }
}

impl UnauthenticatedSlot {
    /// Returns what is cancelled when another connection takes the slot.
    pub(super) fn closed(&self) -> CancellationToken {
        self.connection.closed.clone()
    }

    /// Frees the slot, because the connection has shown the token: it is no longer closed for another one.
    pub(super) fn authenticate(&self) {
        let mut taken = self.connections.0.lock();
        taken.retain(|other| !Arc::ptr_eq(other, &self.connection));
    }

    /// Returns `true` if the connection has shown the token.
    pub(super) fn is_authenticated(&self) -> bool {
        let taken = self.connections.0.lock();
        let mut taken = taken.iter();
        let has_slot = taken.any(|other| Arc::ptr_eq(other, &self.connection));
        !has_slot && !self.connection.closed.is_cancelled()
    }
}

impl Drop for UnauthenticatedSlot {
    fn drop(&mut self) {
        self.authenticate();
    }
}
