//! The clock of the sessions.

use std::time::{Duration, Instant};

use crate::time::{millis, wall_time};
use workflow_core::types::Millis;

/// The source of time.
pub(super) enum Clock {
    /// The system's clock: its time when it was last adopted, and what has passed since. It is read only when it is sampled:
    /// events that belong together have one time, which a recording can state.
    ///
    /// A monotonic clock measures what has passed, so that a change of the system's time neither fires a countdown nor
    /// stalls one.
    System {
        wall: Millis,
        since: Instant,
        now: Millis,
    },
    /// A clock that the host advances.
    Virtual { now: Millis },
}

impl Clock {
    pub(super) fn system() -> Self {
        let now = wall_time();
        Self::System {
            wall: now,
            since: Instant::now(),
            now,
        }
    }

    pub(super) fn now(&self) -> Millis {
        match self {
            Self::System { now, .. } | Self::Virtual { now } => *now,
        }
    }

    /// Returns true if the clock is a virtual one, with which nothing is random.
    pub(super) fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual { .. })
    }

    /// Advances a virtual clock. Returns false if the clock is the system's.
    pub(super) fn advance(&mut self, ms: Millis) -> bool {
        let Self::Virtual { now } = self else {
            return false;
        };
        *now = now.saturating_add(ms);
        true
    }

    /// The duration until a time; `None` on a virtual clock, which does not move by itself.
    pub(super) fn until(&self, time: Millis) -> Option<Duration> {
        match self {
            Self::System { wall, since, .. } => {
                let now = passed(*wall, *since);
                Some(Duration::from_millis(time.saturating_sub(now)))
            }
            Self::Virtual { .. } => None,
        }
    }

    /// Samples the system's clock, and returns true if the first deadline is reached before the next event.
    ///
    /// The clock never goes back, and adopts the system's time if nothing is counting down. The time of a deadline is later
    /// than that of every event before it.
    pub(super) fn sample(&mut self, deadline: Option<Millis>) -> bool {
        let Self::System { wall, since, now } = self else {
            return false;
        };
        let (before, system) = (*now, wall_time());
        if deadline.is_none() && system >= passed(*wall, *since) {
            (*wall, *since) = (system, Instant::now());
        }
        *now = passed(*wall, *since).max(before);
        let is_due = deadline.is_some_and(|deadline| deadline <= *now);
        if is_due && *now == before {
            *now += 1;
        }
        is_due
    }
}

fn passed(wall: Millis, since: Instant) -> Millis {
    wall.saturating_add(millis(since.elapsed()))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

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
    fn a_virtual_clock_does_not_move_by_itself() {
        let mut clock = Clock::Virtual { now: 7 };
        assert!(!clock.sample(Some(7)));
        assert_eq!(clock.now(), 7);
    }

    #[test]
    fn the_clock_moves_when_it_is_sampled_and_never_back() {
        let mut clock = Clock::system();
        let Clock::System { wall, now, .. } = &mut clock else {
            panic!("not the system's");
        };
        *wall += 10;
        let before = *now;
        assert_eq!(clock.now(), before);
        assert!(!clock.sample(Some(Millis::MAX)));
        assert!(clock.now() >= before + 10);
        let ahead = Clock::system().now() + 3_600_000;
        clock = Clock::System {
            wall: ahead,
            since: Instant::now(),
            now: ahead,
        };
        assert!(!clock.sample(None));
        assert!(clock.now() >= ahead);
        // A deadline is reached in its time nevertheless.
        assert!(clock.until(ahead + 1000).unwrap() <= Duration::from_secs(1));
    }

    #[test]
    fn a_deadline_is_later_than_the_events_before_it() {
        let ahead = wall_time() + 3_600_000;
        let mut clock = Clock::System {
            wall: 0,
            since: Instant::now(),
            now: ahead,
        };
        assert!(clock.sample(Some(ahead)));
        assert_eq!(clock.now(), ahead + 1);
    }
}
