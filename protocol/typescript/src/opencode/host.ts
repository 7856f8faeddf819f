/**
 * The part of opencode's plugin API that the plugin uses, as 1.18 has it.
 *
 * Written down here because the plugin must load without a package of opencode. Members that only some versions have are
 * optional.
 */

/** A part of a message; other types have more members. */
export interface Part {
  id?: string;
  sessionID?: string;
  messageID?: string;
  type: string;
  text?: string;
  /** True if the user does not see it. */
  synthetic?: boolean;
}

export interface ModelId {
  providerID: string;
  modelID: string;
}

export interface MessageInfo {
  id: string;
  role: "user" | "assistant";
  sessionID: string;
  agent?: string;
  model?: ModelId;
  /** Of an assistant's message, once it is complete. */
  time?: { completed?: number };
  finish?: string;
  error?: { name?: string };
  tokens?: { total?: number; input?: number; output?: number; reasoning?: number; cache?: { read?: number; write?: number } };
  /** In US dollars. */
  cost?: number;
}

export interface Message {
  info: MessageInfo;
  parts: Part[];
}

export interface SessionInfo {
  id: string;
  directory?: string;
  title?: string;
  /** The session whose agent started this one. */
  parentID?: string;
}

export type ToastVariant = "info" | "success" | "warning" | "error";

interface Answer<T> {
  data?: T | undefined;
  error?: unknown;
}

/** The client of opencode's own server. */
export interface OpencodeClient {
  session: {
    get(options: { path: { id: string } }): Promise<Answer<SessionInfo>>;
    messages(options: { path: { id: string }; query?: { limit?: number } }): Promise<Answer<Message[]>>;
    promptAsync(options: { path: { id: string }; body: { agent?: string; model?: ModelId; parts: Part[] } }): Promise<Answer<unknown>>;
    update(options: { path: { id: string }; body: { title?: string } }): Promise<Answer<unknown>>;
  };
  tui: {
    showToast(options: { body: { title?: string; message: string; variant: ToastVariant; duration?: number } }): Promise<Answer<unknown>>;
  };
}

export interface PluginInput {
  client: OpencodeClient;
  directory: string;
}

export interface HostEvent {
  type: string;
  properties?: Record<string, unknown>;
}

export interface ToolContext {
  sessionID: string;
  messageID: string;
  callID?: string;
  abort: AbortSignal;
}

export interface ToolDefinition {
  description: string;
  args: Record<string, never>;
  execute(args: Record<string, unknown>, context: ToolContext): Promise<string>;
}

/** The result of a tool: a text of opencode's own ones, parts of those of an MCP server. */
export interface ToolOutput {
  output?: string;
  content?: unknown;
  metadata?: Record<string, unknown>;
}

export interface Config {
  command?: Record<string, { template: string; description?: string }>;
}

export interface ToolCallId {
  tool: string;
  sessionID: string;
  callID: string;
}

export interface Hooks {
  dispose(): Promise<void>;
  config(config: Config): Promise<void>;
  event(input: { event: HostEvent }): Promise<void>;
  tool: Record<string, ToolDefinition>;
  "tool.definition"(input: { toolID: string }, output: { description: string; jsonSchema?: unknown }): Promise<void>;
  "chat.message"(input: { sessionID: string }, output: { message: MessageInfo; parts: Part[] }): Promise<void>;
  "command.execute.before"(input: { command: string; sessionID: string; arguments: string }, output: { parts: Part[] }): Promise<void>;
  "tool.execute.before"(input: ToolCallId, output: { args: unknown }): Promise<void>;
  "tool.execute.after"(input: ToolCallId & { args?: unknown }, output: ToolOutput): Promise<void>;
  "shell.env"(input: { sessionID?: string }, output: { env: Record<string, string> }): Promise<void>;
  "experimental.chat.system.transform"(input: { sessionID?: string }, output: { system: string[] }): Promise<void>;
}
