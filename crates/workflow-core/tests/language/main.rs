//! The rows of the definition language, and what is made of them: schemas that say what the loader says.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files, and the environment says if it writes them"
)]

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agreement;
mod generated;
