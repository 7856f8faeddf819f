//! The rows of the definition language, and what is made of them: schemas that say what the loader says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agreement;
mod generated;
mod schema;
