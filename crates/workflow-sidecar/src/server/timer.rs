//! What time it is, and being woken when a deadline is due.
//!
//! Owns both clocks and the one thread that waits. Must not know what is due.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use workflow_core::types::Millis;

/// Where time comes from.
#[derive(Debug)]
pub(super) enum Clock {
    /// The system: the wall's time where it was last taken over, and what has passed since.
    ///
    /// Passing time is not the wall's, so that setting the wall's clock neither fires a countdown
    /// nor stalls one.
    System { wall: Millis, since: Instant },
    /// The system's, seen only when it is looked at: what happens together has one time, which a
    /// recording can tell. It never goes back.
    Held {
        wall: Millis,
        since: Instant,
        now: Millis,
    },
    /// Only being advanced moves it.
    Virtual { now: Millis },
}

impl Clock {
    pub(super) fn system() -> Self {
        Self::System {
            wall: wall_time(),
            since: Instant::now(),
        }
    }

    /// The system's, that stands still until it is looked at.
    pub(super) fn held() -> Self {
        let now = wall_time();
        Self::Held {
            wall: now,
            since: Instant::now(),
            now,
        }
    }

    pub(super) fn now(&self) -> Millis {
        match self {
            Self::System { wall, since } => passed(*wall, *since),
            Self::Held { now, .. } | Self::Virtual { now } => *now,
        }
    }

    /// How long it really is to a time; `None` if it comes only by being advanced.
    pub(super) fn until(&self, time: Millis) -> Option<Duration> {
        let now = match self {
            Self::System { wall, since } | Self::Held { wall, since, .. } => passed(*wall, *since),
            Self::Virtual { .. } => return None,
        };
        Some(Duration::from_millis(time.saturating_sub(now)))
    }

    /// Looks at the time, where it is held. While nothing is counting down, the wall's is taken over.
    pub(super) fn look(&mut self, is_idle: bool) {
        let Self::Held { wall, since, now } = self else {
            return;
        };
        if is_idle {
            (*wall, *since) = (wall_time(), Instant::now());
        }
        let seen = passed(*wall, *since);
        if seen < *now {
            (*wall, *since) = (*now, Instant::now());
        }
        *now = seen.max(*now);
    }

    /// Moves a held time on by the least there is.
    pub(super) fn nudge(&mut self) {
        if let Self::Held { now, .. } = self {
            *now += 1;
        }
    }

    /// Takes the wall's time over, which is right only while nothing is counting down.
    pub(super) fn set(&mut self) {
        if let Self::System { .. } = self {
            *self = Self::system();
        }
    }
}

fn passed(wall: Millis, since: Instant) -> Millis {
    wall.saturating_add(millis(since.elapsed()))
}

fn wall_time() -> Millis {
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    wall.map_or(0, millis)
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

/// The thread that waits for deadlines. It ends when this is dropped, never amid what it does.
#[derive(Debug)]
pub(super) struct Alarm {
    end: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Alarm {
    /// Calls `ring` whenever what `due_in` says has passed; `changed` makes it ask anew.
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
        if let Some(thread) = self.thread.take() {
            // It can only have panicked, and has said so.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn the_system_clock_moves_with_the_wall() {
        let clock = Clock::system();
        let wall = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        assert!(clock.now().abs_diff(millis(wall)) < 1000);
    }

    #[test]
    fn a_virtual_clock_stands_still() {
        let mut clock = Clock::Virtual { now: 7 };
        clock.set();
        assert_eq!(clock.now(), 7);
    }

    #[test]
    fn a_held_clock_moves_when_it_is_looked_at_and_never_back() {
        let mut clock = Clock::held();
        let Clock::Held { wall, now, .. } = &mut clock else {
            panic!("not held");
        };
        *wall -= 10;
        let before = *now;
        assert_eq!(clock.now(), before);
        clock.look(false);
        assert!(clock.now() >= before);
        let ahead = Clock::held().now() + 3_600_000;
        clock = Clock::Held {
            wall: 0,
            since: Instant::now(),
            now: ahead,
        };
        clock.look(true);
        assert_eq!(clock.now(), ahead);
        // What is waited for comes in its time all the same.
        assert!(clock.until(ahead + 1000).unwrap() <= Duration::from_secs(1));
        clock.nudge();
        assert_eq!(clock.now(), ahead + 1);
    }

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
    fn an_alarm_asks_anew_when_told() {
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
