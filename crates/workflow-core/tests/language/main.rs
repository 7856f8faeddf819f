//! The rows of the definition language, and the schemas made of them.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files, and the environment says if it writes them"
)]
mod flow;
mod generated;
