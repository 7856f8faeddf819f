/**
 * The plugin for opencode: its hooks, in terms of the protocol.
 *
 * It registers the tool and the commands of the manifest, reports what happens in sessions, and blocks tools while the
 * sidecar cannot be reached. It contains no workflow logic.
 */
import { SHELL_MARK } from "../agent-shell.ts";
import { messageOf, SidecarError } from "../error.ts";
import { undecidedReason, withheldText } from "../offline.ts";
import { Commands } from "./commands.ts";
import type { Block } from "../types.ts";
import type { HostEvent, Hooks, Message, MessageInfo, Part, PluginInput, SessionInfo, ToolCallId, ToolContext, ToolOutput } from "./host.ts";
import { isRunMode, Screen } from "./screen.ts";
import type { Session } from "./session.ts";
import { type Settings, Sidecar } from "./sidecar.ts";
import { engineCalls, engineName } from "./tools.ts";

const NOT_FOR_SUBAGENTS = "[workflow] Only the main agent moves the workflow. Finish your task and report to it.";
/** The number of messages in which the end of the agent's work is found. */
const LAST_MESSAGES = 4;

export interface PluginOptions extends Settings {
  /** The arguments of opencode's own process. */
  argv?: readonly string[];
  env?: NodeJS.ProcessEnv;
}

/** Creates the hooks for one project directory of an opencode process. */
export async function plugin(input: PluginInput, options: PluginOptions = {}): Promise<Hooks> {
  return new Plugin(input, options).hooks();
}

class Plugin {
  readonly #host: PluginInput;
  readonly #sidecar: Sidecar;
  readonly #screen: Screen;
  readonly #commands: Commands;

  constructor(host: PluginInput, { argv = process.argv, env = process.env, ...settings }: PluginOptions) {
    this.#host = host;
    this.#screen = new Screen(host.client, !isRunMode(argv));
    this.#sidecar = new Sidecar(host, this.#screen, settings, env[SHELL_MARK]);
    this.#commands = new Commands(this.#sidecar, this.#screen, env);
  }

  hooks(): Hooks {
    const { tools } = this.#sidecar.manifest;
    return {
      dispose: () => this.#sidecar.close(),
      config: async (config) => {
        config.command ??= {};
        for (const { name, description } of this.#commands.declarations) config.command[name] ??= { template: "$ARGUMENTS", description };
      },
      event: ({ event }) => this.#onEvent(event),
      tool: Object.fromEntries(
        tools.map(({ name, description, promptGuidelines = [] }) => [
          name,
          { description: [description, ...promptGuidelines].join("\n"), args: {}, execute: (args, context) => this.#execute(name, args, context) },
        ]),
      ),
      "tool.definition": async ({ toolID }, output) => {
        const tool = tools.find(({ name }) => name === toolID);
        if (tool) output.jsonSchema = tool.parameters;
      },
      "chat.message": ({ sessionID }, { message, parts }) => this.#onMessage(sessionID, message, parts),
      "command.execute.before": ({ command, sessionID, arguments: words }, output) => this.#onCommand(command, words, sessionID, output.parts),
      "tool.execute.before": (call, { args }) => this.#decide(call, args),
      "tool.execute.after": (call, output) => this.#rewrite(call, output),
      "shell.env": async ({ sessionID }, { env }) => void (env[SHELL_MARK] = sessionID ? (await this.#sidecar.open(sessionID)).id : "1"),
      "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
        const session = this.#sidecar.known(sessionID);
        if (session?.isShortened && session.isActive) system.push(session.instructions);
      },
    };
  }

  // Messages of a person, and those in their name.

  async #onCommand(name: string, words: string, id: string, parts: Part[]): Promise<void> {
    const session = await this.#sidecar.open(id);
    const command = session.id === id ? await this.#commands.parseTyped(name, words, session) : undefined;
    if (!command) return;
    await this.#sidecar.refresh(session);
    const text = `/${name} ${words}`.trim();
    session.ownMessages.set(text, await this.#commands.run(command, session));
    session.questions.noteMessage();
    parts.splice(0, parts.length, { type: "text", text }); // opencode reads this array
  }

  async #onMessage(id: string, message: MessageInfo, parts: Part[]): Promise<void> {
    const session = await this.#sidecar.open(id);
    // A sub-agent is started and stopped by the main agent.
    if (session.id !== id) return;
    await this.#sidecar.refresh(session);
    session.messages += 1;
    session.noteUser(message);
    const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map(({ text }) => text ?? "").join("\n");
    const isOwn = session.ownMessages.has(prompt);
    let addition = session.ownMessages.get(prompt);
    session.ownMessages.delete(prompt);
    if (!isOwn) {
      const command = await this.#commands.parse(prompt, session);
      if (command) addition = await this.#commands.run(command, session);
      session.questions.noteMessage();
    }
    if (addition) add(addition.text, parts);
    // The answer to a command is no message to the agent.
    if (addition && !addition.isWork) return;
    await this.#sidecar.report("hook/input", session, { event: { source: isOwn || addition ? "extension" : "interactive" } });
    // A message to a busy agent joins its work, so no other work begins.
    if (session.isBusy) return;
    const answer = await this.#sidecar.report("hook/before_agent_start", session, { event: { prompt: addition?.text ?? prompt } });
    if (!answer?.inject) return;
    session.noteInstructions(answer.inject.content);
    add(answer.inject.content, parts);
  }

  // Events.

  async #onEvent({ type, properties = {} }: HostEvent): Promise<void> {
    const { sidecar, info } = { sidecar: this.#sidecar, info: properties.info as Partial<SessionInfo> | undefined };
    if (type.startsWith("session.") && info?.id !== undefined) sidecar.noteTitle(info.id, info.title);
    if (type === "session.created" && info?.id !== undefined) return sidecar.noteParent(info.id, info.parentID);
    if (type === "session.deleted" && info?.id !== undefined) return sidecar.end(info.id);
    const message = type === "message.updated" ? (properties.info as MessageInfo | undefined) : undefined;
    const session = sidecar.known(message?.sessionID ?? properties.sessionID);
    if (!session) return;
    const status = (properties.status as { type?: string } | undefined)?.type;
    if (message?.role === "assistant") await this.#onResponse(message, session);
    else if (type === "session.status" && status === "busy") await this.#onBusy(session);
    else if (type === "session.idle") await this.#onIdle(session);
    else if (type === "session.error") session.error = (properties.error as { name?: string } | undefined)?.name ?? "Error";
    else if (type === "session.compacted") {
      session.isShortened = true;
      session.expectsInstructions = true;
      await sidecar.report("hook/session_compact", session, {});
    }
  }

  async #onBusy(session: Session): Promise<void> {
    if (session.isBusy) return;
    session.isBusy = true;
    session.error = undefined;
    await this.#sidecar.report("hook/agent_start", session, {});
  }

  /** Counts a response of the model once it is complete. */
  async #onResponse(message: MessageInfo, session: Session): Promise<void> {
    if (message.time?.completed === undefined || session.counted === message.id) return;
    session.counted = message.id;
    await this.#beginTurn(message.id, session);
    session.turn = undefined;
    const { total, input = 0, output = 0, reasoning = 0, cache = {} } = message.tokens ?? {};
    const tokens = total ?? input + output + reasoning + (cache.read ?? 0) + (cache.write ?? 0);
    await this.#sidecar.report("hook/turn_end", session, { event: { tokens, microUsd: Math.round((message.cost ?? 0) * 1e6) } });
  }

  async #beginTurn(message: string, session: Session): Promise<void> {
    if (session.turn === message) return;
    session.turn = message;
    await this.#sidecar.report("hook/turn_start", session, {});
  }

  async #onIdle(session: Session): Promise<void> {
    if (!session.isBusy) return;
    session.isBusy = false;
    const { messages } = session;
    const last = await this.#lastResponse(session);
    if (session.messages !== messages) return; // the person went on meanwhile
    await this.#sidecar.report("hook/agent_end", session, { event: { messages: [last] } });
  }

  /** How the agent's work ended. */
  async #lastResponse(session: Session): Promise<object> {
    const answer = await this.#host.client.session.messages({ path: { id: session.id }, query: { limit: LAST_MESSAGES } }).catch(() => undefined);
    const last = answer?.data?.findLast(({ info }) => info.role === "assistant");
    const error = session.error ?? last?.info.error?.name;
    return { role: "assistant", stopReason: stopReason(error, last), content: contentOf(last) };
  }

  // Tools.

  async #execute(name: string, args: Record<string, unknown>, { sessionID, messageID, callID, abort }: ToolContext): Promise<string> {
    const session = await this.#sidecar.open(sessionID);
    if (session.id !== sessionID) throw new Error(NOT_FOR_SUBAGENTS);
    await this.#beginTurn(messageID, session);
    const toolCallId = callID ?? `${messageID} ${name}`;
    try {
      const { content, isError } = await this.#sidecar.ask("tool/execute", session, { name, toolCallId, arguments: args }, {
        signal: abort,
        patient: true,
        cancel: (request) => request("tool/cancel", { sessionId: session.id, toolCallId }),
      });
      const text = content.map((part) => part.text).join("\n");
      const last = text.trimEnd().split("\n").at(-1) ?? "";
      if (last.startsWith("✗ Gate failed")) this.#screen.showBlocked(last, session.questions);
      if (isError) throw new Error(text);
      if (session.expectsInstructions) session.noteInstructions(text);
      return text;
    } catch (error) {
      if (!(error instanceof SidecarError)) throw error;
      if (error.kind === "aborted") throw new Error(`${name} was stopped together with the agent.`, { cause: error });
      throw new Error(`${name} failed: ${messageOf(error)}. ${this.#sidecar.offlineHint(session)}`.trim(), { cause: error });
    }
  }

  /** Decides about a tool call. A throw blocks it, and the model reads its message. */
  async #decide({ tool, sessionID, callID }: ToolCallId, args: unknown): Promise<void> {
    const session = await this.#sidecar.open(sessionID);
    const isOwn = this.#sidecar.isOwnTool(tool);
    if (isOwn && session.id !== sessionID) throw new Error(NOT_FOR_SUBAGENTS);
    for (const call of engineCalls(tool, args)) {
      const block = await this.#blockOf({ ...call, toolCallId: callID }, session, isOwn);
      if (!block) continue;
      // A person who declined knows why.
      if (block.kind !== "user") this.#screen.showBlocked(block.reason, session.questions);
      throw new Error(block.reason);
    }
  }

  async #blockOf(event: { toolName: string; toolCallId: string; input: unknown }, session: Session, isOwn: boolean): Promise<Block | undefined> {
    try {
      return (await this.#sidecar.ask("hook/tool_call", session, { event })).block;
    } catch (error) {
      const condition = this.#sidecar.blockReason(session);
      if (condition === undefined || isOwn) return undefined; // the workflow tool fails by itself, with the reason
      const reason = undecidedReason(event.toolName, condition, messageOf(error), this.#sidecar.offlineHint(session));
      return { reason, kind: "failure" };
    }
  }

  /** Changes the result of a tool before the model reads it. */
  async #rewrite({ tool, sessionID, callID, args }: ToolCallId & { args?: unknown }, output: ToolOutput): Promise<void> {
    if (this.#sidecar.isOwnTool(tool)) return;
    const session = await this.#sidecar.open(sessionID);
    const isParts = Array.isArray(output.content);
    const content = isParts ? output.content : [{ type: "text", text: output.output ?? "" }];
    const event = { toolName: engineName(tool), toolCallId: callID, input: args, content };
    let changed: unknown;
    try {
      changed = (await this.#sidecar.ask("hook/tool_result", session, { event })).mutation?.content;
    } catch (error) {
      const reason = this.#sidecar.blockReason(session);
      if (reason !== undefined) changed = [{ type: "text", text: withheldText(tool, reason, messageOf(error)) }];
    }
    if (!Array.isArray(changed)) return;
    if (isParts) return void (output.content = changed);
    const before = output.output;
    output.output = changed.map((part) => part?.text ?? "").join("\n");
    // opencode shows and stores the text of a shell command a second time.
    for (const [name, value] of Object.entries(output.metadata ?? {})) {
      if (output.metadata && typeof value === "string" && (name === "output" || value === before)) output.metadata[name] = output.output;
    }
  }
}

/** Adds a text for the model to a message. */
function add(text: string, parts: Part[]): void {
  const last = parts.at(-1);
  // Parts are ordered by their ids.
  const ids = last && { ...(last.id && { id: `${last.id}0` }), ...(last.messageID && { messageID: last.messageID }), ...(last.sessionID && { sessionID: last.sessionID }) };
  parts.push({ ...ids, type: "text", text, synthetic: true });
}

function stopReason(error: string | undefined, last: Message | undefined): string {
  if (error !== undefined) return error === "MessageAbortedError" ? "aborted" : "error";
  if (!last) return "aborted";
  return last.info.finish === "length" ? "length" : "stop";
}

const contentOf = (message: Message | undefined): object[] =>
  (message?.parts ?? []).flatMap((part) => {
    if (part.type === "tool") return [{ type: "toolCall" }];
    return part.type === "text" ? [{ type: "text", text: part.text ?? "" }] : [];
  });
