//! The host, as it described itself in `initialize`.

use std::hash::{BuildHasher, RandomState};

use workflow_core::session::Abilities;
use workflow_protocol::{Error, Kind};

use super::definitions::Definitions;

/// The host of the process.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    /// True if it runs commands (`host/exec`).
    pub(super) runs_commands: bool,
    pub(super) definitions: Definitions,
    pub(super) seed: Seed,
}

/// The source of the sessions' seeds, from which their task ids are made.
#[derive(Debug)]
pub(super) enum Seed {
    Fixed(u64),
    Random(RandomState),
}

impl Seed {
    pub(super) fn random() -> Self {
        Self::Random(RandomState::new())
    }

    /// The seed of a session. The session without a name has the fixed seed itself.
    pub(super) fn of(&self, session: &str) -> u64 {
        const PRIME: u64 = 0x0100_0000_01b3;
        match self {
            Self::Fixed(seed) => session.bytes().fold(*seed, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(PRIME)
            }),
            Self::Random(state) => state.hash_one(session),
        }
    }
}

pub(super) fn not_initialized() -> Error {
    Error::new(Kind::NotInitialized, "send initialize first")
}

pub(super) fn unsupported_version(version: u32) -> Error {
    Error::new(
        Kind::UnsupportedVersion,
        format!("version {version} of the protocol is not spoken here"),
    )
}
