//! The methods of the server: its description, the list of tools, and calls with progress and cancellation.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;
use workflow_core::policy::STEP_TOOL;

use super::step::{StepRequest, StepRunner};
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
        let step = StepRequest {
            arguments: request.arguments.unwrap_or_default(),
            meta: JsonObject::clone(&context.meta),
            cancelled: context.ct.clone(),
        };
        let steps = Arc::clone(&self.0);
        let (progress, texts) = unbounded_channel();
        let call = spawn_blocking(move || {
            steps.run(&step, &|text| {
                // Without a receiver the host wants no progress.
                let _ = progress.send(text.to_owned());
            })
        });
        match context.meta.get_progress_token() {
            Some(token) => report(&context.peer, token, texts).await,
            None => drop(texts),
        }
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

/// Passes the progress of a call on until it ends.
async fn report(
    host: &Peer<RoleServer>,
    token: ProgressToken,
    mut texts: UnboundedReceiver<String>,
) {
    let mut count = 0.0;
    while let Some(text) = texts.recv().await {
        count += 1.0;
        let progress = ProgressNotificationParam::new(token.clone(), count).with_message(text);
        if let Err(error) = host.notify_progress(progress).await {
            tracing::debug!("progress cannot be reported: {error}");
        }
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
