//! An MCP server on standard input and output with one tool, `workflow_step`, for hosts that start hooks.
//!
//! ```text
//! server (methods, over rmcp) ── step (one call: ticket, session, gate)
//!   └── lines (messages on the pipes)
//! ```
//!
//! The server owns no state of a run: hosts start several, restart them, and use one for several sessions. Every call says
//! by its ticket which session it is of, see [`step`]. Gates run here, because a hook has no time for them.

mod lines;
mod server;
mod step;

use std::io;
use std::path::Path;
use std::sync::Arc;

use rmcp::service::serve_directly;
use tokio::runtime;
use tokio::task::JoinError;

use self::lines::Lines;
use self::server::StepServer;
use self::step::StepRunner;
use crate::platform::disk::user_agent_dir;
use crate::store::{self, StoreError, state_directory};

/// Serves a host until its input ends.
pub(crate) fn serve(state: Option<&Path>) -> Result<(), ServeError> {
    let store = store::open(state_directory(state)?, &user_agent_dir(None))?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let steps = Arc::new(StepRunner::new(store));
    let server = StepServer(Arc::clone(&steps));
    let ended = runtime.block_on(async {
        // Without rmcp's own handshake, which ends the server at a message that it does not expect before `initialize`.
        // The handler answers `initialize` like every other request.
        serve_directly(server, Lines::open()?, None)
            .waiting()
            .await
            .map_err(ServeError::from)
    });
    steps.finish();
    ended.map(drop)
}

/// The server could not continue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the pipe to the host failed: {0}")]
    Pipe(#[from] io::Error),
    #[error("the server failed: {0}")]
    Failed(#[from] JoinError),
}
