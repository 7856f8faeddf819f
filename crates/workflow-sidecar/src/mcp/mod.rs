//! An MCP server on standard input and output with one tool, `workflow_step`, for hosts that start hooks.
//!
//! ```text
//! server (methods, over rmcp) ── step (one call: ticket, session, gate) ── dialogs (questions to the user)
//!   └── lines (messages on the pipes)
//! ```
//!
//! The server owns no state of a run: hosts start several, restart them, and use one for several sessions. Every call says
//! by its ticket which session it is of, see [`step`]. Gates run here, because a hook has no time for them.

mod dialogs;
mod lines;
mod server;
mod step;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use rmcp::service::serve_directly;
use tokio::runtime;

use self::lines::Lines;
use self::server::StepServer;
use self::step::StepRunner;
use crate::platform::disk::user_agent_dir;
use crate::platform::installation::installation_warnings;
use crate::store::{self, state_directory};

const PIPE_FAILED: &str = "the pipe to the host failed";

/// Serves a host until its input ends.
pub(crate) fn serve(state: Option<&Path>) -> anyhow::Result<()> {
    // For the log alone: the host of these calls has its own hooks.
    installation_warnings();
    let store = store::open(state_directory(state)?, &user_agent_dir(None))?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .context(PIPE_FAILED)?;
    let steps = Arc::new(StepRunner::new(store));
    let server = StepServer(Arc::clone(&steps));
    let ended = runtime.block_on(async {
        // Without rmcp's own handshake, which ends the server at a message that it does not expect before `initialize`.
        // The handler answers `initialize` like every other request.
        let lines = Lines::open().context(PIPE_FAILED)?;
        let end = serve_directly(server, lines, None).waiting().await;
        end.context("the server failed")
    });
    steps.finish();
    ended.map(drop)
}
