//! The life of the process: `initialize`, `clock/advance` and `shutdown`.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use workflow_core::session::Abilities;
use workflow_protocol::method::{ClockAdvance, Initialize, Shutdown};
use workflow_protocol::{self as protocol, ClockAdvanceResult, Error, Kind, Manifest};

use super::super::clock::Clock;
use super::super::host::ConnectedHost;
use super::super::manifest::manifest;
use super::super::state::Server;
use crate::definitions::Definitions;
use crate::files::is_pipe;
use crate::platform::answers::notifier::notifier;
use crate::platform::disk::user_agent_dir;
use crate::platform::installation::installation_warnings;

const NO_DIALOGS: &str = "This host has no dialogs, and your settings have no `notify` command: an approval is answered with a code, which \
     you see only if the host shows its notices.";
const PIPE: &str = "The host talks to the sidecar over a pipe: every process of this user can open the host's end and answer in your place. \
     A pair of sockets has no such end.";

handler!(Initialize, |server, params| {
    if server.host.is_some() {
        return Err(Error::new(
            Kind::AlreadyInitialized,
            "initialize comes once",
        ));
    }
    let seed = match params.clock {
        protocol::Clock::System => {
            let random = || RandomState::new().hash_one(&params.cwd);
            server.config.seed.unwrap_or_else(random)
        }
        protocol::Clock::Virtual { now, seed } => {
            server.clock = Clock::Virtual { now };
            seed
        }
    };
    tracing::info!(
        name = &*params.host.name,
        version = &*params.host.version,
        "a host"
    );
    server.host = Some(ConnectedHost {
        name: params.host.name.to_string(),
        abilities: Abilities {
            dialogs: params.capabilities.dialogs,
            dismissal: params.capabilities.dismiss,
            widgets: params.capabilities.widgets,
            hints: params.capabilities.hints,
            ..Abilities::default()
        },
        runs_commands: params.capabilities.exec,
        definitions: Definitions::new(
            Arc::clone(&server.config.loader),
            params.agent_dir.as_deref(),
            &params.cwd,
        ),
        seed,
    });
    Ok(Some(Manifest {
        warnings: server.warnings(params.capabilities.dialogs, params.agent_dir.as_deref()),
        ..manifest()
    }))
});

impl Server {
    /// What a host and its surroundings lack.
    fn warnings(&self, has_dialogs: bool, agent_dir: Option<&str>) -> Vec<String> {
        if !self.config.has_surroundings {
            return Vec::new();
        }
        let has_notifier = || notifier(&user_agent_dir(agent_dir)).is_some();
        let no_dialogs = (!has_dialogs && !has_notifier()).then_some(NO_DIALOGS);
        let pipe = is_pipe(std::io::stdin()).then_some(PIPE);
        let warnings = [no_dialogs, pipe].into_iter().flatten().map(str::to_owned);
        warnings.chain(installation_warnings()).collect()
    }
}

handler!(ClockAdvance, |server, params| {
    if !server.clock.advance(params.ms) {
        return Err(Error::new(
            Kind::ClockIsNotVirtual,
            "the clock is the system's: ask for a virtual one in initialize",
        ));
    }
    let actions = server.tick(Some(&params.session_id));
    Ok(Some(ClockAdvanceResult {
        actions,
        ..ClockAdvanceResult::default()
    }))
});

handler!(Shutdown, |server, _| {
    server.close_all();
    server.is_over = true;
    Ok(Some(()))
});
