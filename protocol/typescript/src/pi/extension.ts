/**
 * The extension for pi: an interpreter of the manifest and of actions.
 *
 * It registers what the manifest names, forwards what the manifest asks for, does what the answers say, and keeps
 * tools blocked when the sidecar cannot be asked. It knows nothing of workflows. pi calls the factory once for each
 * session, reload included, and everything is in that call's `Shim`: pi does not always load the module anew.
 */
import { sidecarBinary } from "../binary.ts";
import { fromLeaf, isActive, newestOf, upFrom } from "../branch.ts";
import { type CallOptions, Client, type Request } from "../client.ts";
import type { HostHandlers } from "../connection.ts";
import { SidecarError } from "../error.ts";
import { type HookEvent, returned, select } from "../events.ts";
import { Guarded } from "../guarded.ts";
import { ACTIVE, type OfflineCommand, type OfflineManifest, undecided, waysOut, withheld, withOffline } from "../offline.ts";
import type { Action, CommandDeclaration, Context, InitializeParams, Manifest, Methods, ToolDeclaration } from "../types.ts";
import { Painted, perform, tell } from "./actions.ts";
import { GOING_BACK, newLeaf } from "./back.ts";
import type { PiApi, PiCommandContext, PiContext, PiToolResult } from "./host.ts";
import { renderCall, renderMessage, renderResult, type TextComponent } from "./render.ts";
import { Settling } from "./settle.ts";

export interface ShimOptions {
  Text: TextComponent;
  /** What the sidecar of this package says of itself: it is registered before a sidecar can be asked. */
  manifest: Manifest;
  version: string;
  command?: string | (() => string);
  args?: readonly string[];
  deadlineMs?: number;
  retryMs?: readonly number[];
}

/** Where sessions are recorded, on pi's command line; the sidecar also looks at a variable of its own. */
const RECORD_FLAG = "workflow-record";
const REDACT_FLAG = "workflow-record-redact";

const DEADLINE_MS = 5_000;
/** Definitions are read when a session starts: there may be many, on a slow disk. */
const RESTORE_PATIENCE = 3;

/** Makes the factory that pi calls. */
export const extension = (options: ShimOptions) => (pi: PiApi) => void new Shim(pi, options);

class Shim {
  readonly #pi: PiApi;
  readonly #options: ShimOptions;
  readonly #settling: Settling;
  readonly #painted = new Painted();
  readonly #registered = new Map<string, string>();
  #manifest!: OfflineManifest;
  #hidden = new Set<string>();
  #client: Client | undefined;
  /** The context of the newest event; none before the session starts and after it ended. */
  #ctx: PiContext | undefined;
  #active = false;
  /** Whether an entry was to be appended when there was no context to do it with. */
  #missed = false;
  /** Whether rules hold without an active workflow. */
  readonly #guarded = new Guarded();
  #complained = false;
  #lastWords = "";
  /** How many messages were sent in the user's place. */
  #said = 0;
  #kept: Action[] = [];
  /** The event that the sidecar is to be restored by. */
  #restoring: { name: string; event: HookEvent } | undefined;
  /** Fires when the session ends, to take open dialogs away. */
  #over = new AbortController();

  constructor(pi: PiApi, options: ShimOptions) {
    this.#pi = pi;
    this.#options = options;
    pi.on("session_start", (event, ctx) => this.#begin("session_start", event, ctx));
    pi.on("session_shutdown", (event, ctx) => this.#end(event, ctx));
    pi.on("context", (event) => this.#filter(event));
    this.#settling = new Settling(pi, (event, ctx) => this.#forward("agent_end", event, ctx), options.retryMs);
    for (const name of ["session_start", "session_shutdown", "agent_end"]) this.#registered.set(`hook ${name}`, "");
    pi.registerFlag(RECORD_FLAG, { type: "string", description: "Record what the workflow sidecar is told and says, into a file or a directory" });
    pi.registerFlag(REDACT_FLAG, { type: "boolean", description: "Leave what tools are given and give back out of that recording" });
    this.#adopt(options.manifest);
  }

  // The manifest.

  /** Registers what is new in a manifest, or says something else than before. */
  #adopt(manifest: Manifest): void {
    this.#manifest = withOffline(manifest);
    this.#hidden = new Set(manifest.messageTypes.filter((type) => !type.toModel).map((type) => type.customType));
    for (const { name } of manifest.hooks) this.#once(`hook ${name}`, "", () => this.#subscribe(name));
    for (const tool of manifest.tools) this.#once(`tool ${tool.name}`, tool, () => this.#registerTool(tool));
    for (const command of manifest.commands) this.#once(`command ${command.name}`, command, () => this.#registerCommand(command));
    for (const { customType, display } of manifest.messageTypes) {
      this.#once(`message ${customType}`, display, () =>
        this.#pi.registerMessageRenderer(customType, (message, _, theme) => renderMessage(this.#options.Text, display, message, theme)),
      );
    }
  }

  #once(key: string, declaration: unknown, register: () => void): void {
    const text = JSON.stringify(declaration);
    if (this.#registered.get(key) === text) return;
    if (!key.startsWith("hook ") || !this.#registered.has(key)) register();
    this.#registered.set(key, text);
  }

  #subscribe(name: string): void {
    if (name === "branch") for (const before of GOING_BACK) this.#pi.on(before, (event, ctx) => this.#goBack(event, ctx));
    this.#pi.on(name, (event, ctx) => {
      const restores = this.#hook(name)?.context?.includes("branch");
      return restores ? this.#begin(name, event, ctx) : this.#forward(name, event, ctx);
    });
  }

  #registerTool(tool: ToolDeclaration): void {
    const { Text } = this.#options;
    this.#pi.registerTool({
      ...tool,
      execute: (id, params, signal, _, ctx) => this.#execute(tool.name, id, params, signal, ctx),
      renderCall: (args, theme) => renderCall(Text, tool, args, theme),
      renderResult: (result, _, theme) => renderResult(Text, result, theme),
    });
  }

  #registerCommand(command: CommandDeclaration): void {
    const { name, description } = command;
    this.#pi.registerCommand(name, {
      description,
      ...(command.completes && { getArgumentCompletions: (prefix) => this.#complete(name, prefix) }),
      handler: (args, ctx) => this.#run(name, args, ctx),
    });
  }

  #hook(name: string) {
    return this.#manifest.hooks.find((hook) => hook.name === name);
  }

  // Hooks.

  /** The session starts, or stands somewhere else: its entries are the truth. */
  async #begin(name: string, event: HookEvent, ctx: PiContext): Promise<void> {
    this.#ctx = ctx;
    this.#missed = false;
    this.#active = isActive(this.#entries(ctx), this.#manifest.entryTypes);
    this.#settling.cancel();
    this.#painted.clearWidgets(ctx);
    this.#restoring = { name, event };
    this.#guarded.begin({ cwd: ctx.isProjectTrusted?.() === false ? undefined : ctx.cwd });
    try {
      this.#client ??= this.#newClient();
      await this.#client.resync();
      if (this.#client.manifest) this.#adopt(this.#client.manifest);
      this.#complained = false;
    } catch (error) {
      this.#guarded.failed(error);
      this.#complain(error);
    } finally {
      this.#restoring = undefined;
    }
  }

  /** Tells a sidecar where the session stands, after its start or when it may be out of step. */
  async #restore(request: Request): Promise<void> {
    const ctx = this.#ctx;
    if (!ctx) return;
    const { name, event } = this.#restoring ?? { name: "session_start", event: { reason: "reload" } };
    const hook = `hook/${name}` as "hook/session_start";
    const context = this.#context(ctx, this.#hook(name)?.context ?? ["cwd", "hasUI", "projectTrusted", "sessionFile", "branch"]);
    this.#guarded.begun(await request(hook, { event: select(event, ["reason"]), context }, { deadlineMs: RESTORE_PATIENCE * this.#deadlineMs }));
  }

  async #forward(name: string, event: HookEvent, ctx: PiContext): Promise<object | undefined> {
    const hook = this.#hook(name);
    if (!hook) return undefined;
    if (this.#client) this.#goOnWith(ctx);
    const context = hook.context && hook.context.length > 0 ? { context: this.#context(ctx, hook.context) } : {};
    const [decides, edits] = [name === "tool_call", name === "tool_result"];
    // What happened is told even when the run it happened in was aborted, and its result is read later; a decision is not needed any more.
    const signal = edits || (!decides && ctx.signal?.aborted) ? undefined : ctx.signal;
    try {
      const params = { event: select(event, hook.event), ...context } as Methods["hook/tool_call"]["params"];
      return returned(await this.#ask(`hook/${name}` as "hook/tool_call", params, { signal }), event);
    } catch (error) {
      if (edits) return this.#withhold(event, error);
      return decides ? this.#judge(event, error) : undefined;
    }
  }

  /** The user is about to go back in the conversation: that waits for whatever the sidecar has to ask about it. */
  async #goBack(event: HookEvent, ctx: PiContext): Promise<object | undefined> {
    const leaf = newLeaf(event, ctx.sessionManager);
    if (leaf === undefined || !this.#client) return undefined;
    this.#goOnWith(ctx);
    const branch = newestOf(upFrom(ctx.sessionManager, leaf), this.#manifest.entryTypes);
    const signal = event.signal instanceof AbortSignal ? event.signal : ctx.signal;
    try {
      return returned(await this.#ask("hook/branch", { event: {}, context: { branch } }, { signal, patient: true }), event);
    } catch {
      return undefined;
    }
  }

  /** Why nothing may go unasked; `undefined` if it may. */
  get #holds(): string | undefined {
    return this.#active ? ACTIVE : this.#guarded.why;
  }

  #isOurs = (event: HookEvent): boolean => this.#manifest.tools.some((tool) => tool.name === event.toolName);

  /** A tool call that the sidecar could not decide: closed while something holds, open otherwise. */
  #judge(event: HookEvent, error: unknown): object | undefined {
    // pi 0.74 runs the tool of an aborted run if nothing blocks it.
    if (error instanceof SidecarError && error.kind === "aborted") return { block: true, reason: "Operation aborted" };
    if (!this.#holds || this.#isOurs(event)) return undefined; // ours fails by itself, and says why
    return { block: true, reason: undecided(event.toolName, this.#holds, words(error), this.#active ? this.#wayOut() : "") };
  }

  /** A result of which the sidecar could not say what may be read: nothing of it while something holds. */
  #withhold(event: HookEvent, error: unknown): object | undefined {
    if (!this.#holds || this.#isOurs(event)) return undefined;
    const parts = Array.isArray(event.content) ? event.content : [];
    const text = withheld(event.toolName, this.#holds, words(error));
    return { content: [{ type: "text", text }, ...parts.filter((part) => part?.type !== "text")] };
  }

  async #end(event: HookEvent, ctx: PiContext): Promise<void> {
    const client = this.#client;
    if (!client) return;
    // A sidecar that is gone already is not started again to be told.
    if (client.pid !== undefined) await this.#forward("session_shutdown", event, ctx);
    this.#settling.cancel();
    this.#over.abort();
    this.#over = new AbortController();
    try {
      for (const action of this.#kept.splice(0)) perform(action, this.#pi, ctx, false);
    } finally {
      this.#ctx = undefined;
      this.#client = undefined;
      await client.close();
    }
  }

  /** Takes out of a request what only the user should see: from the first one on, so that its beginning stays the same. */
  #filter(event: HookEvent): object | undefined {
    const messages = event.messages as { customType?: string }[];
    const kept = messages.filter(({ customType }) => customType === undefined || !this.#hidden.has(customType));
    return kept.length === messages.length ? undefined : { messages: kept };
  }

  // Tools and commands.

  async #execute(name: string, toolCallId: string, params: unknown, signal: AbortSignal | undefined, ctx: PiContext): Promise<PiToolResult> {
    if (this.#client) this.#goOnWith(ctx);
    try {
      const call = { name, toolCallId, arguments: params as Record<string, unknown> };
      const { actions: _, diagnostics: __, content, details = {}, ...more } = await this.#ask("tool/execute", call, {
        signal,
        patient: true,
        cancel: (request) => request("tool/cancel", { toolCallId }),
      });
      return { content, details, ...more };
    } catch (error) {
      throw new Error(`${name} failed: ${words(error)}. ${this.#active ? this.#wayOut() : ""}`.trim(), { cause: error });
    }
  }

  async #run(name: string, args: string, ctx: PiCommandContext): Promise<void> {
    const offline = this.#manifest.commands.find((command) => command.name === name)?.offline;
    // A way out must not wait; what starts something must not find the agent in the middle of something else.
    if (!offline && !ctx.isIdle()) {
      tell(ctx, `/${name} waits until the agent has finished.`, "info");
      await ctx.waitForIdle();
    }
    if (!this.#client) return;
    this.#goOnWith(ctx);
    const said = this.#said;
    try {
      await this.#ask("command/run", { name, arguments: args }, { patient: !offline });
      // Without an interface pi ends when its command line is done with, and with it the run that a command began.
      if (!ctx.hasUI && this.#said > said) await this.#settling.next(ctx);
    } catch (error) {
      if (offline) this.#runOffline(offline, ctx);
      else this.#complain(error);
    }
  }

  #runOffline({ customType, change, done, nothing }: OfflineCommand, ctx: PiContext): void {
    const entries = this.#entries(ctx);
    const newest = entries.find((entry) => entry.customType === customType);
    if (!newest || !isActive([newest], this.#manifest.entryTypes)) return tell(ctx, nothing, "info");
    this.#pi.appendEntry(customType, { ...(newest.data as object), ...change });
    this.#active = false;
    this.#painted.clear(ctx);
    tell(ctx, done, "info");
    // A sidecar that comes back must hear of it.
    this.#client?.resync().catch(() => {});
  }

  async #complete(name: string, prefix: string) {
    try {
      return (await this.#ask("command/complete", { name, prefix })).items;
    } catch {
      return null;
    }
  }

  // The sidecar.

  async #ask<M extends keyof Methods>(method: M, params: Methods[M]["params"], options: Partial<CallOptions> = {}): Promise<Methods[M]["result"]> {
    if (!this.#client) throw new SidecarError("closed", "the session is over");
    try {
      const result = await this.#client.request(method, params, options);
      this.#guarded.answered(result ?? {});
      this.#complained = false;
      return result;
    } catch (error) {
      if (error instanceof SidecarError && error.kind !== "aborted") {
        this.#guarded.failed(error);
        this.#complain(error);
      }
      throw error;
    }
  }

  #newClient(): Client {
    const { command = sidecarBinary, args = ["serve"] } = this.#options;
    return new Client({
      command,
      args: [...args, ...this.#recording()],
      deadlineMs: this.#deadlineMs,
      initialize: () => this.#initialize(),
      restore: (request) => this.#restore(request),
      apply: (actions, { timed }) => this.#apply(actions, timed),
      handlers: this.#handlers(),
      onLost: (why) => this.#lost(why),
      onStderr: (text) => (this.#lastWords = (this.#lastWords + text).slice(-400)),
    });
  }

  #recording(): string[] {
    const file = this.#pi.getFlag(RECORD_FLAG);
    if (typeof file !== "string" || file === "") return [];
    return ["--record", file, ...(this.#pi.getFlag(REDACT_FLAG) === true ? ["--record-redact"] : [])];
  }

  get #deadlineMs(): number {
    return this.#options.deadlineMs ?? DEADLINE_MS;
  }

  #initialize(): InitializeParams {
    const ctx = this.#ctx;
    const hasUI = ctx?.hasUI ?? false;
    return {
      protocolVersion: 1,
      host: { name: "pi, by the extension of workflow-sidecar", version: this.#options.version },
      cwd: ctx?.cwd ?? process.cwd(),
      capabilities: { dialogs: hasUI, widgets: hasUI, settle: this.#settling.known, exec: true },
    };
  }

  #context(ctx: PiContext, fields: readonly string[]): Context {
    const context: Context = {};
    for (const field of fields) {
      if (field === "cwd") context.cwd = ctx.cwd;
      if (field === "hasUI") context.hasUI = ctx.hasUI;
      if (field === "projectTrusted" && ctx.isProjectTrusted) context.projectTrusted = ctx.isProjectTrusted();
      if (field === "sessionFile") context.sessionFile = ctx.sessionManager.getSessionFile() ?? null;
      if (field === "branch") context.branch = this.#entries(ctx);
    }
    return context;
  }

  #entries(ctx: PiContext) {
    return newestOf(fromLeaf(ctx.sessionManager), this.#manifest.entryTypes);
  }

  #handlers(): HostHandlers {
    const asking = <T>(ask: (ctx: PiContext, signal: AbortSignal) => Promise<T>) => async (signal: AbortSignal): Promise<T> => {
      const ctx = this.#ctx;
      if (!ctx) throw new Error("the session is over");
      const ends = [signal, this.#over.signal, ctx.signal].filter((signal) => signal !== undefined);
      return ask(ctx, AbortSignal.any(ends));
    };
    return {
      "ui/confirm": ({ title, message }, signal) => asking((ctx, signal) => ctx.ui.confirm(title, message, { signal }))(signal),
      "ui/select": ({ title, options }, signal) => asking(async (ctx, signal) => (await ctx.ui.select(title, options, { signal })) ?? null)(signal),
      "ui/input": ({ title, placeholder }, signal) => asking(async (ctx, signal) => (await ctx.ui.input(title, placeholder, { signal })) ?? null)(signal),
      "host/exec": ({ command, args, cwd, timeoutMs }, signal) =>
        asking(async (ctx, signal) => {
          const options = { cwd: cwd ?? ctx.cwd, signal, ...(timeoutMs !== undefined && { timeout: timeoutMs }) };
          const { stdout, stderr, code } = await this.#pi.exec(command, args, options);
          return { stdout, stderr, code };
        })(signal),
    };
  }

  #apply(actions: readonly Action[], timed: boolean): void {
    for (const action of actions) {
      const ctx = this.#ctx;
      if (!ctx) {
        this.#missed ||= action.type === "appendEntry";
        continue;
      }
      try {
        if (this.#keepsBack(action, ctx)) this.#kept.push(action);
        else perform(action, this.#pi, ctx, timed);
        this.#painted.note(action);
        if (action.type === "sendUserMessage") this.#said += 1;
        if (action.type === "appendEntry") this.#note(action.customType, action.data);
      } catch (error) {
        if (isStale(error)) {
          this.#ctx = undefined;
          this.#missed ||= action.type === "appendEntry";
        } else if (action.type === "appendEntry") this.#client?.resync().catch(() => {});
      }
    }
  }

  /** Goes on with the newest context. A sidecar that is ahead of the session, which missed an entry of it, is told where that stands. */
  #goOnWith(ctx: PiContext): void {
    this.#ctx = ctx;
    if (!this.#missed) return;
    this.#missed = false;
    this.#active = isActive(this.#entries(ctx), this.#manifest.entryTypes);
    this.#client?.resync().catch(() => {});
  }

  /** Print mode prints the last message if it is the assistant's: what only a person should see is stored at the end. */
  #keepsBack(action: Action, ctx: PiContext): boolean {
    return action.type === "sendMessage" && !ctx.hasUI && ctx.mode !== "json" && this.#hidden.has(action.message.customType);
  }

  /** What the newest entry says of activity holds until another one says something else. */
  #note(customType: string, data: unknown): void {
    const types = this.#manifest.entryTypes;
    if (types.some((type) => type.customType === customType && type.mark)) this.#active = isActive([{ customType, data }], types);
  }

  #lost(why: SidecarError): void {
    const ctx = this.#ctx;
    if (!ctx) return;
    try {
      this.#painted.clearWidgets(ctx);
      tell(ctx, `The workflow sidecar was lost: ${why.message}. It is started again with the next call.${this.#heard()}`, "warning");
    } catch {
      this.#ctx = undefined; // stale
    }
  }

  /** Tells the user why there is no sidecar, once until there is one again. */
  #complain(error: unknown): void {
    const ctx = this.#ctx;
    if (!ctx || this.#complained) return;
    this.#complained = true;
    const blocked = this.#holds ? ` Tools are blocked, because ${this.#holds}. ${this.#active ? this.#wayOut() : ""}`.trimEnd() : "";
    try {
      tell(ctx, `Workflows: ${words(error)}.${blocked}${this.#heard()}`, "error");
    } catch {
      this.#ctx = undefined; // stale
    }
  }

  #heard(): string {
    const words = this.#lastWords.trim();
    this.#lastWords = "";
    return words === "" ? "" : `\nIt said: ${words}`;
  }

  #wayOut(): string {
    const commands = waysOut(this.#manifest);
    return commands.length === 0 ? "" : `The user can end it with ${commands.join(" or ")}, which works without the sidecar.`;
  }
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isStale = (error: unknown): boolean => error instanceof Error && error.message.includes("stale");
