//! The store: sessions of hook hosts, tickets, the index of all runs, requests for approval and trust, in one place for all
//! processes.
//!
//! A hook host starts a process for each event, and several at once. [`Store::save`] succeeds only if the session is as it
//! was loaded; a process that comes too late loads it again. A queue for each session saves that work.
//!
//! ```text
//! store (what a caller asks for, in SQL for both databases) ── database (what it needs of one)
//!                                       sqlite · postgres (the databases)
//! marker, queue, machine (files beside the database)      types
//! ```
//!
//! Must not know what is in a session, a request or an answer.

mod counts;
mod database;
mod figures;
#[cfg(feature = "postgres")]
mod machine;
mod marker;
#[cfg(feature = "postgres")]
mod postgres;
mod private_directory;
mod queue;
mod sqlite;
mod store;
mod types;

use std::path::PathBuf;

pub use self::counts::{Counts, DAY};
use self::database::Database;
pub use self::figures::Figure;
pub use self::marker::{MARKER, MARKERS, OF_ALL, has_active_runs};
pub use self::private_directory::create_private_dir;
pub use self::queue::QueueTurn;
use self::sqlite::Sqlite;
pub use self::store::Store;
pub use self::types::{
    AnswerRight, IndexedRun, Run, RunNote, RunQuery, SHOWN_ONLY, Saved, SessionChange, SessionKey,
    StoreError, StoredEntry, StoredOrder, StoredRequest, StoredSession, Ticket, TrustRequest,
};

/// The tables, roles and grants of a store on a `PostgreSQL` server.
pub const POSTGRES_SCHEMA: &str = concat!(
    include_str!("postgres/schema.sql"),
    "\n",
    include_str!("postgres/from_3.sql")
);
/// What a store there needs that has format 3.
pub const POSTGRES_FROM_3: &str = include_str!("postgres/from_3.sql");

/// Returns the store with a directory of this machine: on the server with this address, or else in a database there. It is
/// created with the first change.
pub fn open(directory: PathBuf, server: Option<&str>) -> Result<Store, StoreError> {
    let database: Box<dyn Database> = match server {
        None => Box::new(Sqlite::new(directory.clone())),
        #[cfg(feature = "postgres")]
        Some(url) => Box::new(postgres::Postgres::new(url, &directory)?),
        #[cfg(not(feature = "postgres"))]
        Some(_) => {
            return Err(StoreError::new(
                "the setting `store` names a PostgreSQL server, and this workflow-sidecar was built without the feature `postgres`: build it with `--features postgres`, or with scripts/build",
            ));
        }
    };
    Ok(Store {
        database,
        directory,
    })
}
