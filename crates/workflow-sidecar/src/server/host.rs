//! The host, as it described itself in `initialize`.

use workflow_core::session::Abilities;
use workflow_protocol::{Error, Kind};

use crate::definitions::Definitions;

/// The host of the process.
pub(super) struct ConnectedHost {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    /// True if it runs commands (`host/exec`).
    pub(super) runs_commands: bool,
    pub(super) definitions: Definitions,
    pub(super) seed: u64,
}

impl ConnectedHost {
    /// The seed of a session, from which its task ids are made. The session without a name has that of the host.
    pub(super) fn seed_of(&self, session: &str) -> u64 {
        const PRIME: u64 = 0x0100_0000_01b3;
        session.bytes().fold(self.seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(PRIME)
        })
    }
}

pub(super) fn not_initialized() -> Error {
    Error::new(Kind::NotInitialized, "send initialize first")
}
