//! The commands of the manifest.

use std::borrow::Cow;

use workflow_core::definition::QUICK;
use workflow_core::session::{self, Control};
use workflow_protocol::method::{CommandComplete, CommandRun};
use workflow_protocol::{CommandCompleteResult, Completion, Error, Kind};

use super::super::manifest::{CANCEL_COMMAND, QUICK_COMMAND, START_COMMAND};
use super::super::requests::RequestKind;

handler!(CommandRun, |server, params| {
    let name = &*params.name;
    let arguments: Cow<'_, str> = match name {
        QUICK_COMMAND => format!("{QUICK} {}", params.arguments).into(),
        _ => (&*params.arguments).into(),
    };
    let loaded = match name {
        START_COMMAND | QUICK_COMMAND => {
            Some(server.definitions(&params.session_id, &params.context)?)
        }
        _ => None,
    };
    let control = Control::of_command(name);
    if loaded.is_none() && control.is_none() && name != CANCEL_COMMAND {
        return Err(unknown_command(name));
    }
    let kind = RequestKind::Command;
    server.handle_request(&params, kind, |session, request| match (loaded, control) {
        (Some(loaded), _) => session.handle_workflow_command(request, &arguments, loaded),
        (None, Some(control)) => session.handle_control(request, control, &arguments),
        (None, None) => session.handle_cancel_command(Some(request)),
    })
});

handler!(CommandComplete, |server, params| {
    match &*params.name {
        START_COMMAND => {
            let loaded = server.recent_definitions(&params.session_id, &params.context)?;
            let proposals = session::complete(&loaded.catalog, &params.prefix);
            Ok(Some(proposed(proposals)))
        }
        CANCEL_COMMAND | QUICK_COMMAND => Ok(Some(CommandCompleteResult::default())),
        name => {
            let control = Control::of_command(name).ok_or_else(|| unknown_command(name))?;
            let open = server.sessions.get(&*params.session_id);
            let proposals = open.map_or_else(Vec::new, |open| {
                let session = &open.driver.session;
                session.complete_control(control, &params.prefix)
            });
            Ok(Some(proposed(proposals)))
        }
    }
});

/// The completions, each with its description; null if nothing fits.
fn proposed(proposals: Vec<(String, String)>) -> CommandCompleteResult {
    let items = proposals
        .into_iter()
        .map(|(value, description)| Completion {
            label: value.clone(),
            value,
            description: Some(description),
        });
    CommandCompleteResult {
        items: Some(items.collect()).filter(|items: &Vec<Completion>| !items.is_empty()),
        ..CommandCompleteResult::default()
    }
}

fn unknown_command(name: &str) -> Error {
    Error::new(
        Kind::UnknownCommand,
        format!("there is no command {name:?}"),
    )
}
