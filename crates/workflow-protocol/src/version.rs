//! The version of the protocol.

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: u32 = 1;
