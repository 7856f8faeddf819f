//! The methods of the server: its description, the list of tools, and calls with progress and cancellation.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock,
    CustomRequest, CustomResult, ElicitRequest, ErrorCode, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ServerCapabilities, ServerConfig,
    ServerRequest, Tool, ToolAnnotations,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{spawn, spawn_blocking};
use workflow_core::policy::STEP_TOOL;

use super::dialogs::{CallHost, OpenDialog, ToHost};
use super::step::StepRunner;
use crate::server::step_tool;

/// The description of the server for the model. Some hosts show it nothing else until it searches for the tool.
const INSTRUCTIONS: &str = "Moves the workflow that the user started in this session. Call the tool `workflow_step` of this server (its \
    full name may be `mcp__workflow__workflow_step`) with action=\"next\" once everything the current phase asks for is done, and not \
    before; call it by itself and wait for its answer. action=\"status\" says which phase is active. The checks of a phase run inside the \
    call and may take minutes.";

/// The methods whose parameters rmcp could not read, if it passes them on as methods that it does not know.
const KNOWN_METHODS: [&str; 4] = ["initialize", "ping", "tools/list", "tools/call"];

/// The server of one host.
pub(super) struct StepServer(pub(super) Arc<StepRunner>);

impl ServerHandler for StepServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("workflow", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // Answers take the form of the version that was agreed on, not of the one that the host asked for.
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    /// From the next version on, a server may not send requests, and so could not ask.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tool()]))
    }

    /// Calls the tool on a thread of its own: a gate may take minutes, and the host may cancel it.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != STEP_TOOL {
            let message = format!("there is no tool {:?}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let meta = JsonObject::clone(&context.meta);
        let steps = Arc::clone(&self.0);
        let (sender, messages) = unbounded_channel();
        let host = CallHost {
            messages: sender,
            has_dialogs: has_dialogs(&context.peer),
            cancelled: context.ct.clone(),
        };
        let call = spawn_blocking(move || steps.run(&arguments, &meta, &host));
        let token = context.meta.get_progress_token();
        pass_on(&context.peer, token.as_ref(), messages).await;
        match call.await {
            Ok(Ok(text)) => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
            Ok(Err(text)) => Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into()),
            Err(error) => {
                tracing::error!("a call failed: {error}");
                Err(ErrorData::internal_error("the call failed", None))
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = &request.method;
        Err(if KNOWN_METHODS.contains(&method.as_str()) {
            let message = format!("the parameters of {method:?} do not have its form");
            ErrorData::invalid_params(message, None)
        } else {
            let message = format!("there is no method {method:?}");
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
        })
    }
}

/// Returns true if the host says that it asks its user by a form.
fn has_dialogs(host: &Peer<RoleServer>) -> bool {
    let info = host.peer_info();
    let dialogs = info
        .as_ref()
        .and_then(|info| info.capabilities.elicitation.as_ref());
    // Of earlier versions of the protocol, forms are the only mode.
    dialogs.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Passes on what a call sends to the host, until it ends.
async fn pass_on(
    host: &Peer<RoleServer>,
    token: Option<&ProgressToken>,
    mut messages: UnboundedReceiver<ToHost>,
) {
    let mut count = 0.0;
    while let Some(message) = messages.recv().await {
        match (message, token) {
            (ToHost::Progress(text), Some(token)) => {
                count += 1.0;
                let progress =
                    ProgressNotificationParam::new(token.clone(), count).with_message(text);
                if let Err(error) = host.notify_progress(progress).await {
                    tracing::debug!("progress cannot be reported: {error}");
                }
            }
            // The host wants no progress.
            (ToHost::Progress(_), None) => {}
            (ToHost::Open(dialog), _) => drop(spawn(ask(host.clone(), dialog))),
        }
    }
}

/// Has the host ask its user.
async fn ask(host: Peer<RoleServer>, dialog: OpenDialog) {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(dialog.form));
    let options = PeerRequestOptions::no_options();
    match host.send_cancellable_request(request, options).await {
        Ok(mut open) => match dialog.withdrawn.run_until_cancelled(&mut open.rx).await {
            // A call that went on needs no answer.
            Some(Ok(Ok(ClientResult::ElicitResult(result)))) => drop(dialog.ended.send(result)),
            Some(other) => tracing::debug!("the host did not ask: {other:?}"),
            None => {
                let reason = "the user has answered elsewhere".to_owned();
                drop(open.cancel(Some(reason)).await);
            }
        },
        Err(error) => tracing::debug!("the host cannot be asked: {error}"),
    }
}

/// The tool as hosts list it. The annotations keep hosts from asking before each call.
fn tool() -> Tool {
    let tool = step_tool();
    let parameters: JsonObject =
        serde_json::from_str(tool.parameters.get()).expect("the schema of a tool is an object");
    let annotations = ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .open_world(false);
    Tool::new(tool.name, tool.description, parameters)
        .with_title(tool.label)
        .with_annotations(annotations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_has_the_annotations_without_which_a_host_refuses_it() {
        let tool = serde_json::to_value(tool()).unwrap();
        assert_eq!(tool["name"], STEP_TOOL);
        assert_eq!(tool["annotations"]["destructiveHint"], false);
        assert_eq!(tool["inputSchema"]["type"], "object");
        // The ticket is no argument of the model, and must be let through.
        assert!(tool["inputSchema"].get("additionalProperties").is_none());
        assert!(INSTRUCTIONS.contains(STEP_TOOL));
    }
}
