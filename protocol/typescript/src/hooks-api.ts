/**
 * The extension for hosts with pi's first hook API (0.16 to 0.18), which has no tools, commands or custom entries.
 *
 * A hook file in `~/.pi/agent/hooks` is enough: `export { default } from "workflow-sidecar/hooks-api";`
 *
 * Entries go to a file next to the session's. A tool of the manifest is a bash command: `workflow_step next` is not
 * run, its answer is the block reason of the call. Context for the agent is added to the first tool result of a run.
 * A command comes from the variable WORKFLOW_COMMAND when pi starts. Otherwise this interprets the manifest like the
 * extension, without workflow logic.
 */
import { isInAgentShell, TYPED_BY_AGENT } from "./agent-shell.ts";
import { sidecarBinary } from "./binary.ts";
import { type BranchEntry, isActive, newestOf } from "./branch.ts";
import { Client, type Request } from "./client.ts";
import { EntryStore } from "./entry-store.ts";
import { messageOf, SidecarError } from "./error.ts";
import { type HookEvent, toHandlerResult, select } from "./events.ts";
import { bounded, inDirectory, withEnv } from "./exec.ts";
import { GuardStatus } from "./guard-status.ts";
import { ACTIVE, type OfflineCommand, type OfflineManifest, undecidedReason, withheldText, withOffline } from "./offline.ts";
import { manifest } from "./pi/manifest.ts";
import type { Action, Manifest, Methods, ToolDeclaration } from "./types.ts";

// The types of that API, as its documentation describes them.

export interface HookUi {
  select(title: string, options: string[]): Promise<string | null>;
  input(title: string, placeholder?: string): Promise<string | null>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
}

export interface HookContext {
  ui: HookUi;
  hasUI: boolean;
  cwd: string;
  sessionFile: string | null;
  exec(command: string, args: string[]): Promise<{ stdout: string; stderr: string; code: number }>;
}

interface HookEvents {
  session_start: { event: object; result: void };
  session_switch: { event: { newSessionFile: string; previousSessionFile: string; reason: "branch" | "switch" }; result: void };
  branch: { event: { targetTurnIndex: number; entries: unknown[] }; result: { skipConversationRestore?: boolean } | undefined };
  agent_start: { event: object; result: void };
  agent_end: { event: { messages: unknown[] }; result: void };
  turn_start: { event: { turnIndex: number; timestamp: number }; result: void };
  turn_end: { event: { turnIndex: number; message: unknown; toolResults: unknown[] }; result: void };
  tool_call: { event: { toolName: string; toolCallId: string; input: Record<string, unknown> }; result: { block?: boolean; reason?: string } | undefined };
  tool_result: {
    event: { toolName: string; toolCallId: string; input: Record<string, unknown>; result: string; isError: boolean };
    result: { result?: string; isError?: boolean } | undefined;
  };
}

export interface HookAPI {
  on<E extends keyof HookEvents>(event: E, handler: (event: HookEvents[E]["event"], ctx: HookContext) => Promise<HookEvents[E]["result"]>): void;
  send(text: string, attachments?: unknown[]): void;
}

/** How pi runs: with its own dialogs, with those of a program that drives it, or for one prompt. */
export type HookMode = "interactive" | "rpc" | "print";

export interface HookOptions {
  /** By default it is read from pi's command line: this API's `hasUI` is false both in RPC mode, which has dialogs, and in print mode. */
  mode?: HookMode;
  /** Offers `host/exec`, so that commands of gates run where `ctx.exec` runs them: for a pi whose workspace is elsewhere. */
  exec?: boolean;
  manifest?: Manifest;
  command?: string | (() => string);
  args?: readonly string[];
  deadlineMs?: number;
  env?: NodeJS.ProcessEnv;
}

/** The environment variable with a command of the manifest that is run when pi starts: `/workflow bugfix the export is empty`. */
export const COMMAND_VARIABLE = "WORKFLOW_COMMAND";

const DEADLINE_MS = 5_000;

/** Creates the hook that pi loads. */
export const workflowHook = (options: HookOptions = {}) => (pi: HookAPI) => void new Hook(pi, options);

export default workflowHook();

/** The event by which a sidecar is restored. */
interface SessionEvent {
  hook: "session_start" | "session_switch";
  reason: string;
}

class Hook {
  readonly #pi: HookAPI;
  readonly #options: HookOptions;
  readonly #client: Client;
  #manifest: OfflineManifest;
  #ctx: HookContext | undefined;
  #sessionFile: string | null = null;
  #store = new EntryStore(null);
  #sessionEvent: SessionEvent = { hook: "session_start", reason: "startup" };
  #running = false;
  #errorReported = false;
  /** The state of rules that apply without an active workflow. */
  readonly #guardStatus = new GuardStatus();
  /** Context for the agent that has not been sent. */
  #pendingContext = "";

  constructor(pi: HookAPI, options: HookOptions) {
    this.#pi = pi;
    this.#options = options;
    this.#manifest = withOffline(options.manifest ?? manifest);
    this.#client = this.#newClient();
    pi.on("session_start", async (_, ctx) => {
      await this.#begin({ hook: "session_start", reason: "startup" }, ctx, ctx.sessionFile);
      await this.#runNamedCommand(ctx);
    });
    pi.on("session_switch", async ({ newSessionFile, previousSessionFile, reason }, ctx) => {
      if (reason === "branch") EntryStore.copy(entriesFile(previousSessionFile), entriesFile(newSessionFile));
      await this.#begin({ hook: "session_switch", reason }, ctx, newSessionFile);
    });
    pi.on("branch", async (event, ctx) => this.#forward("branch", { ...event }, ctx));
    pi.on("agent_start", async (event, ctx) => {
      this.#running = true;
      await this.#loadContext(ctx);
      await this.#forward("agent_start", { ...event }, ctx);
    });
    pi.on("agent_end", async (event, ctx) => {
      this.#running = false;
      await this.#forward("agent_end", { ...event }, ctx);
    });
    pi.on("turn_start", async (event, ctx) => void (await this.#forward("turn_start", { ...event }, ctx)));
    pi.on("turn_end", async (event, ctx) => void (await this.#forward("turn_end", { ...event }, ctx)));
    pi.on("tool_call", async (event, ctx) => (await this.#runAsTool(event, ctx)) ?? this.#decide(event, ctx));
    pi.on("tool_result", (event, ctx) => this.#result(event, ctx));
  }

  /** The reason to block tools without a decision; `undefined` if there is none. */
  get #blockReason(): string | undefined {
    return this.#active ? ACTIVE : this.#guardStatus.blockReason;
  }

  get #active(): boolean {
    return isActive(this.#entries(), this.#manifest.entryTypes);
  }

  #entries(): BranchEntry[] {
    return newestOf(this.#store.newestFirst(), this.#manifest.entryTypes);
  }

  /** Whether somebody can be asked and shown something. */
  #hasPerson(ctx: HookContext): boolean {
    return ctx.hasUI || (this.#options.mode ?? modeOf(process.argv)) !== "print";
  }

  /** Notifies the user; without one, the log. */
  #notify(ctx: HookContext, message: string, level: "info" | "warning" | "error"): void {
    if (this.#hasPerson(ctx)) ctx.ui.notify(message, level);
    else console.error(message);
  }

  // Hooks.

  async #begin(opening: SessionEvent, ctx: HookContext, file: string | null): Promise<void> {
    this.#ctx = ctx;
    this.#sessionEvent = opening;
    this.#sessionFile = file;
    this.#store = new EntryStore(file === null ? null : entriesFile(file));
    this.#pendingContext = "";
    this.#guardStatus.reset({ cwd: ctx.cwd, env: this.#options.env });
    try {
      await this.#client.resync();
      this.#manifest = withOffline(this.#client.manifest as Manifest);
    } catch (error) {
      this.#guardStatus.onError(error);
      this.#reportError(error);
    }
  }

  async #restore(request: Request): Promise<void> {
    const { hook, reason } = this.#sessionEvent;
    const hasUI = this.#ctx !== undefined && this.#hasPerson(this.#ctx);
    const context = { cwd: this.#ctx?.cwd ?? null, hasUI, sessionFile: this.#sessionFile, branch: this.#entries() };
    this.#guardStatus.onRestored(await request(`hook/${hook}`, { event: { reason }, context }));
  }

  async #forward(name: string, event: HookEvent, ctx: HookContext): Promise<object | undefined> {
    this.#ctx = ctx;
    const hook = this.#manifest.hooks.find((hook) => hook.name === name);
    if (!hook) return undefined;
    const params = { event: select(event, hook.event) } as Methods["hook/tool_call"]["params"];
    try {
      return toHandlerResult(await this.#ask(`hook/${name}` as "hook/tool_call", params), event);
    } catch (error) {
      if (name === "tool_call" || name === "tool_result") throw error;
      return undefined;
    }
  }

  /** Loads the context of a run. This API cannot add a message before a run, so it waits for the first tool result. */
  async #loadContext(ctx: HookContext): Promise<void> {
    const context = (await this.#forward("before_agent_start", {}, ctx)) as { message?: { content: string } } | undefined;
    const usage = this.#manifest.tools.map(({ name, parameters }) => `${name} is no tool here: call bash with \`${name} ${required(parameters).map((word) => `<${word}>`).join(" ")}\`.`);
    this.#pendingContext = context?.message ? [context.message.content, ...usage].join("\n") : "";
  }

  async #decide(event: HookEvents["tool_call"]["event"], ctx: HookContext): Promise<HookEvents["tool_call"]["result"]> {
    try {
      const decided = (await this.#forward("tool_call", { ...event }, ctx)) as { reason: string } | undefined;
      return decided && { block: true, reason: this.#withPendingContext(decided.reason) };
    } catch (error) {
      const [condition, hint] = [this.#blockReason, this.#active ? this.#offlineHint() : ""];
      return condition === undefined ? undefined : { block: true, reason: undecidedReason(event.toolName, condition, messageOf(error), hint) };
    }
  }

  async #result(event: HookEvents["tool_result"]["event"], ctx: HookContext): Promise<HookEvents["tool_result"]["result"]> {
    const { result, ...rest } = event;
    const parts = [{ type: "text", text: result }];
    const answer = await this.#forward("tool_result", { ...rest, content: parts }, ctx).catch((error) => {
      return this.#blockReason && { content: [{ type: "text", text: withheldText(event.toolName, this.#blockReason, messageOf(error)) }] };
    });
    const { content, isError } = (answer ?? {}) as { content?: { text?: string }[]; isError?: boolean };
    const text = this.#withPendingContext(Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : result);
    if (text === result && isError === undefined) return undefined;
    return { result: text, ...(isError !== undefined && { isError }) };
  }

  #withPendingContext(text: string): string {
    const context = this.#pendingContext;
    this.#pendingContext = "";
    return context === "" ? text : `${text}\n\n${context}`;
  }

  // Tools and commands.

  /** Runs a tool of the manifest that is called as a bash command: its answer is the reason of the blocked call. */
  async #runAsTool({ toolName, toolCallId, input }: HookEvents["tool_call"]["event"], ctx: HookContext): Promise<HookEvents["tool_call"]["result"]> {
    if (toolName !== "bash" || typeof input.command !== "string") return undefined;
    const [name, ...rest] = input.command.trim().split(/\s+/);
    const tool = this.#manifest.tools.find((tool) => tool.name === name);
    if (!tool) return undefined;
    this.#ctx = ctx;
    try {
      const { content } = await this.#ask("tool/execute", { name: tool.name, toolCallId, arguments: argumentsOf(tool, rest) }, true);
      return { block: true, reason: this.#withPendingContext(content.map(({ text }) => text).join("\n")) };
    } catch (error) {
      return { block: true, reason: `${tool.name} failed: ${messageOf(error)}. ${this.#active ? this.#offlineHint() : ""}`.trim() };
    }
  }

  async #runNamedCommand(ctx: HookContext): Promise<void> {
    const env = this.#options.env ?? process.env;
    const line = env[COMMAND_VARIABLE]?.trim().replace(/^\//, "");
    const isFromAgent = isInAgentShell(env);
    if (!line) return;
    if (isFromAgent) return this.#notify(ctx, TYPED_BY_AGENT, "error");
    const name = line.split(/\s/, 1)[0] as string;
    const command = this.#manifest.commands.find((command) => command.name === name);
    if (!command) return this.#notify(ctx, `${COMMAND_VARIABLE}: there is no command ${name}`, "error");
    try {
      await this.#ask("command/run", { name, arguments: line.slice(name.length).trim() }, true);
    } catch {
      if (command.offline) this.#runOffline(command.offline, ctx);
    }
  }

  #runOffline({ customType, change, done, nothing }: OfflineCommand, ctx: HookContext): void {
    const newest = this.#entries().find((entry) => entry.customType === customType);
    if (!newest || !isActive([newest], this.#manifest.entryTypes)) return this.#notify(ctx, nothing, "info");
    this.#appendEntry(customType, { ...(newest.data as object), ...change }, ctx);
    this.#notify(ctx, done, "info");
  }

  // The sidecar.

  async #ask<M extends keyof Methods>(method: M, params: Methods[M]["params"], patient = false): Promise<Methods[M]["result"]> {
    try {
      const result = await this.#client.request(method, params, { patient });
      this.#guardStatus.onAnswer(result ?? {});
      this.#errorReported = false;
      return result;
    } catch (error) {
      this.#guardStatus.onError(error);
      this.#reportError(error);
      throw error;
    }
  }

  #newClient(): Client {
    const { command = sidecarBinary, args, deadlineMs = DEADLINE_MS, env } = this.#options;
    const ctx = () => {
      if (!this.#ctx) throw new SidecarError("closed", "no session has started");
      return this.#ctx;
    };
    return new Client({
      command,
      ...(args && { args }),
      ...(env && { env }),
      deadlineMs,
      initialize: () => ({
        protocolVersion: 1,
        host: { name: "pi, by its hook API", version: "1" },
        cwd: ctx().cwd,
        capabilities: { dialogs: this.#hasPerson(ctx()), widgets: false, settle: false, exec: this.#options.exec ?? false },
      }),
      restore: (request) => this.#restore(request),
      apply: (actions, { timed }) => this.#apply(actions, timed),
      handlers: {
        // No comes first: a hasty Enter agrees to nothing.
        "ui/confirm": async ({ title, message }) => (await ctx().ui.select(`${title}\n\n${message}`, ["No", "Yes"])) === "Yes",
        "ui/select": ({ title, options }) => ctx().ui.select(title, options),
        "ui/input": ({ title, placeholder }) => ctx().ui.input(title, placeholder),
        "host/exec": async (params) => bounded(await ctx().exec(...inDirectory(withEnv(params), params.cwd)), params),
      },
      onStderr: () => {},
    });
  }

  #apply(actions: readonly Action[], timed: boolean): void {
    const ctx = this.#ctx;
    if (!ctx) return;
    for (const action of actions) {
      if (action.type === "appendEntry") this.#appendEntry(action.customType, action.data, ctx);
      else if (action.type === "sendMessage" && action.options.triggerTurn) this.#pi.send(action.message.content);
      else if (action.type === "sendMessage" && action.message.display) this.#notify(ctx, action.message.content, "info");
      else if (action.type === "sendUserMessage" && !(timed && this.#running)) this.#pi.send(action.content);
      else if (action.type === "notify") this.#notify(ctx, action.message, action.level);
    }
  }

  #appendEntry(customType: string, data: unknown, ctx: HookContext): void {
    try {
      this.#store.append(customType, data);
    } catch (error) {
      this.#notify(ctx, `Workflows: where the run stands could not be stored: ${messageOf(error)}`, "error");
    }
  }

  /** Notifies the user why there is no sidecar, once until there is one again. */
  #reportError(error: unknown): void {
    if (this.#errorReported || !this.#ctx) return;
    this.#errorReported = true;
    this.#notify(this.#ctx, `Workflows: ${messageOf(error)}.${this.#blockedNote()}`, "error");
  }

  #blockedNote(): string {
    if (!this.#blockReason) return "";
    return ` Tools are blocked, because ${this.#blockReason}. ${this.#active ? this.#offlineHint() : ""}`.trimEnd();
  }

  #offlineHint(): string {
    const offline = this.#manifest.commands.find((command) => command.offline);
    return offline ? `The user can end it by starting pi again with ${COMMAND_VARIABLE}=/${offline.name}, which works without the sidecar.` : "";
  }
}

const entriesFile = (session: string): string => `${session}.workflow`;

const required = (parameters: ToolDeclaration["parameters"]): string[] => (Array.isArray(parameters.required) ? parameters.required.map(String) : []);

/**
 * Converts words to arguments: the required ones in order, `name=value` for the optional ones, and the rest as the last
 * optional text. Objects are written as JSON without white space.
 */
function argumentsOf({ parameters }: ToolDeclaration, words: string[]): Record<string, unknown> {
  const names = required(parameters);
  const properties = (parameters.properties ?? {}) as Record<string, { type?: string }>;
  const optional = Object.keys(properties).filter((name) => !names.includes(name));
  const given: Record<string, unknown> = {};
  for (const [index, name] of names.entries()) if (words[index] !== undefined) given[name] = words[index];
  const rest = words.slice(names.length).filter((word) => {
    const [name = "", value] = word.split(/=(.*)/s, 2);
    if (value === undefined || !optional.includes(name)) return true;
    given[name] = properties[name]?.type === "object" ? parsed(value) : value;
    return false;
  });
  const text = optional.findLast((name) => properties[name]?.type === "string");
  if (rest.length > 0 && text !== undefined) given[text] = rest.join(" ");
  return given;
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value; // the sidecar says what is wrong with it
  }
}

/** Pi's mode without its own interface, by the arguments that it was started with. */
export function modeOf(argv: readonly string[]): HookMode {
  const isRpc = argv.some((word, at) => word === "--mode=rpc" || (word === "--mode" && argv[at + 1] === "rpc"));
  return isRpc ? "rpc" : "print";
}
