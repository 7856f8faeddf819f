//! The clock of the sessions.

use std::time::{Duration, Instant};

use crate::time::{millis, wall_time};
use workflow_core::types::Millis;

/// The source of time.
#[derive(Debug)]
pub(super) enum Clock {
    /// The system's clock: its time when it was last read, and the time that has passed since.
    ///
    /// A monotonic clock measures what has passed, so that a change of the system's time neither fires a countdown nor
    /// stalls one.
    System { wall: Millis, since: Instant },
    /// The system's clock, which is read only when it is sampled: events that belong together have one time, which a
    /// recording can state. It never goes back.
    Sampled {
        wall: Millis,
        since: Instant,
        now: Millis,
    },
    /// A clock that the host advances.
    Virtual { now: Millis },
}

impl Clock {
    pub(super) fn system() -> Self {
        Self::System {
            wall: wall_time(),
            since: Instant::now(),
        }
    }

    pub(super) fn sampled() -> Self {
        let now = wall_time();
        Self::Sampled {
            wall: now,
            since: Instant::now(),
            now,
        }
    }

    pub(super) fn now(&self) -> Millis {
        match self {
            Self::System { wall, since } => passed(*wall, *since),
            Self::Sampled { now, .. } | Self::Virtual { now } => *now,
        }
    }

    /// The duration until a time; `None` on a virtual clock, which does not move by itself.
    pub(super) fn until(&self, time: Millis) -> Option<Duration> {
        let now = match self {
            Self::System { wall, since } | Self::Sampled { wall, since, .. } => {
                passed(*wall, *since)
            }
            Self::Virtual { .. } => return None,
        };
        Some(Duration::from_millis(time.saturating_sub(now)))
    }

    /// Samples the system's clock, and adopts its time if nothing is counting down.
    pub(super) fn sample(&mut self, is_idle: bool) {
        let Self::Sampled { wall, since, now } = self else {
            return;
        };
        if is_idle {
            (*wall, *since) = (wall_time(), Instant::now());
        }
        let sampled = passed(*wall, *since);
        if sampled < *now {
            (*wall, *since) = (*now, Instant::now());
        }
        *now = sampled.max(*now);
    }

    /// Advances a sampled clock by a millisecond, the smallest step.
    pub(super) fn step(&mut self) {
        if let Self::Sampled { now, .. } = self {
            *now += 1;
        }
    }

    /// Adopts the system's time, which is right only while nothing is counting down.
    pub(super) fn synchronize(&mut self) {
        if let Self::System { .. } = self {
            *self = Self::system();
        }
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
        clock.synchronize();
        assert_eq!(clock.now(), 7);
    }

    #[test]
    fn a_sampled_clock_moves_when_it_is_sampled_and_never_back() {
        let mut clock = Clock::sampled();
        let Clock::Sampled { wall, now, .. } = &mut clock else {
            panic!("not sampled");
        };
        *wall -= 10;
        let before = *now;
        assert_eq!(clock.now(), before);
        clock.sample(false);
        assert!(clock.now() >= before);
        let ahead = Clock::sampled().now() + 3_600_000;
        clock = Clock::Sampled {
            wall: 0,
            since: Instant::now(),
            now: ahead,
        };
        clock.sample(true);
        assert_eq!(clock.now(), ahead);
        // A deadline is reached in its time nevertheless.
        assert!(clock.until(ahead + 1000).unwrap() <= Duration::from_secs(1));
        clock.step();
        assert_eq!(clock.now(), ahead + 1);
    }
}
