//! The timer: the sessions' deadlines, and the thread that waits for the first of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use workflow_core::types::Millis;

use super::clock::Clock;

/// The clock, and the deadlines by it.
#[derive(Debug)]
pub(super) struct Timer {
    clock: Clock,
    /// The deadline of each session that has one.
    deadlines: BTreeSet<(Millis, String)>,
    /// Notified when the first deadline changes.
    changed: Arc<Notify>,
}

impl Timer {
    pub(super) fn new(changed: Arc<Notify>) -> Self {
        Self {
            clock: Clock::system(),
            deadlines: BTreeSet::new(),
            changed,
        }
    }

    pub(super) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Replaces the deadline of a session.
    pub(super) fn reschedule(
        &mut self,
        session: &str,
        before: Option<Millis>,
        deadline: Option<Millis>,
    ) {
        if before == deadline {
            return;
        }
        let first = self.first_deadline();
        if let Some(before) = before {
            self.deadlines.remove(&(before, session.to_owned()));
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, session.to_owned()));
        }
        if self.first_deadline() != first {
            self.changed.notify_one();
        }
    }

    /// Takes a session with a deadline that is not after this time.
    pub(super) fn take_due(&mut self, now: Millis) -> Option<String> {
        if self.first_deadline()? > now {
            return None;
        }
        self.deadlines.pop_first().map(|(_, session)| session)
    }

    /// The duration until the first deadline. A virtual clock reaches none by itself.
    pub(super) fn due_in(&self) -> Option<Duration> {
        self.clock.until(self.first_deadline()?)
    }

    /// Samples the clock, and returns true if a deadline is reached before the next event.
    ///
    /// The time of a deadline is later than that of every event before it.
    pub(super) fn sample(&mut self) -> bool {
        let before = self.clock.now();
        self.clock.sample(self.deadlines.is_empty());
        let now = self.clock.now();
        let mut deadlines = self.first_deadline().into_iter();
        let is_due = !self.is_virtual() && deadlines.any(|deadline| deadline <= now);
        if is_due && now == before {
            self.clock.step();
        }
        is_due
    }

    /// Returns true if the clock is a virtual one, with which nothing is random.
    pub(super) fn is_virtual(&self) -> bool {
        matches!(self.clock, Clock::Virtual { .. })
    }

    /// Advances a virtual clock. Returns false if the clock is the system's.
    pub(super) fn advance(&mut self, ms: Millis) -> bool {
        let Clock::Virtual { now } = &mut self.clock else {
            return false;
        };
        *now = now.saturating_add(ms);
        true
    }

    fn first_deadline(&self) -> Option<Millis> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }
}

/// The thread that waits for deadlines. It ends when this is dropped, but never during a call of `ring`.
#[derive(Debug)]
pub(super) struct Alarm {
    end: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Alarm {
    /// Calls `ring` after each duration that `due_in` gives; `changed` interrupts the wait for another duration.
    pub(super) fn start(
        changed: Arc<Notify>,
        due_in: impl Fn() -> Option<Duration> + Send + 'static,
        ring: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let end = CancellationToken::new();
        let ended = end.clone();
        let wait = async move {
            loop {
                let changed = changed.notified();
                let Some(wait) = due_in() else {
                    changed.await;
                    continue;
                };
                if timeout(wait, changed).await.is_err() {
                    ring();
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("alarm".to_owned())
            .spawn(move || {
                runtime.block_on(ended.run_until_cancelled_owned(wait));
            })?;
        Ok(Self {
            end,
            thread: Some(thread),
        })
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.end.cancel();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the timer panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn an_alarm_rings_when_due_and_ends_when_dropped() {
        let (rung, rings) = channel();
        let changed = Arc::new(Notify::new());
        let alarm = Alarm::start(
            changed,
            || Some(Duration::from_millis(1)),
            move || rung.send(()).unwrap_or_default(),
        )
        .unwrap();
        rings.recv_timeout(Duration::from_secs(5)).unwrap();
        drop(alarm);
        while rings.try_recv().is_ok() {}
        assert!(rings.recv().is_err(), "the thread has let go of its end");
    }

    #[test]
    fn an_alarm_asks_again_after_a_notification() {
        let (asked, asks) = channel();
        let changed = Arc::new(Notify::new());
        let _alarm = Alarm::start(
            Arc::clone(&changed),
            move || {
                asked.send(()).unwrap_or_default();
                None
            },
            || panic!("nothing is due"),
        )
        .unwrap();
        asks.recv_timeout(Duration::from_secs(5)).unwrap();
        changed.notify_one();
        asks.recv_timeout(Duration::from_secs(5)).unwrap();
    }
}
