/** The shells of agents: a host that is started there takes no commands, because only the user may give them. */

/** The variable that marks the shell of an agent whose host runs this package. */
export const SHELL_MARK = "WORKFLOW_SIDECAR_AGENT_SHELL";
export const TYPED_BY_AGENT = "This command comes from the shell of an agent, and only the user may give it.";

/** The variables that other hosts set for the shell of their agent. */
const OTHER_MARKS = ["WORKFLOW_SIDECAR_PARENT", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "CLAUDECODE"];

/**
 * Returns whether this pi was started in the shell of an agent, and marks what its own agent starts. pi sets `PI_CODING_AGENT`
 * for itself as well, and loads its extensions more than once, so the mark is the id of the outermost process.
 */
export function isInAgentShell(env: NodeJS.ProcessEnv): boolean {
  const mark = (env[SHELL_MARK] ??= String(process.pid));
  return mark !== String(process.pid) || OTHER_MARKS.some((name) => env[name] !== undefined);
}
