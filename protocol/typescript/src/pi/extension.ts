/**
 * The extension for pi: an interpreter of the manifest and of actions.
 *
 * It registers the tools and commands of the manifest, forwards the hooks of the manifest, applies the actions of the
 * answers, and blocks tools while the sidecar cannot be reached. It contains no workflow logic. pi calls the factory
 * once per session, reload included, and all state is in that call's `Shim`: pi does not always reload the module.
 */
import { isInAgentShell, TYPED_BY_AGENT } from "../agent-shell.ts";
import { sidecarBinary } from "../binary.ts";
import { fromLeaf, isActive, newestOf, upFrom } from "../branch.ts";
import { type CallOptions, Client, type Request } from "../client.ts";
import type { HostHandlers } from "../connection.ts";
import { messageOf, SidecarError } from "../error.ts";
import { type HookEvent, toHandlerResult, select } from "../events.ts";
import { bounded, withEnv } from "../exec.ts";
import { GuardStatus } from "../guard-status.ts";
import { ACTIVE, type OfflineCommand, type OfflineManifest, undecidedReason, offlineCommands, withheldText, withOffline } from "../offline.ts";
import type { Action, CommandDeclaration, Completion, Context, InitializeParams, Manifest, Methods, ToolDeclaration } from "../types.ts";
import { PhaseHints } from "./hints.ts";
import { DrawnElements, isAboutProgress, perform, notify } from "./actions.ts";
import { BRANCH_EVENTS, newLeaf } from "./branch-leaf.ts";
import { carry, takeCarried } from "./carried-notices.ts";
import { whereProposed } from "./completion.ts";
import type { PiApi, PiCommandContext, PiContext, PiToolResult } from "./host.ts";
import { renderCall, renderMessage, renderResult, type TextComponent } from "./render.ts";
import { SettleDetector } from "./settle-detector.ts";
import { choose, confirm, dialogTitle, hasText, isTerminal, readsPipe, untilSent } from "./terminal.ts";

export interface ShimOptions {
  Text: TextComponent;
  /** The manifest of this package's sidecar: it is registered before a sidecar runs. */
  manifest: Manifest;
  version: string;
  command?: string | (() => string);
  args?: readonly string[];
  deadlineMs?: number;
  /** Offers `host/exec`, so that commands of gates run where pi's `exec` runs them. The sidecar itself has stricter limits. */
  exec?: boolean;
  retryMs?: readonly number[];
  env?: NodeJS.ProcessEnv;
}

/** The flags of pi's command line for recording sessions; the sidecar also reads an environment variable. */
const RECORD_FLAG = "workflow-record";
const REDACT_FLAG = "workflow-record-redact";

const DEADLINE_MS = 5_000;
/** The time after which pi has drawn a session that was just begun. */
const REDRAWN_MS = 300;
/** The factor on the deadline of a session's start, which reads the definitions: there may be many, on a slow disk. */
const RESTORE_PATIENCE = 3;

const PIPE =
  "pi reads commands from a pipe: every process of this user can write into it, and answer in your place. Start pi with a pair of sockets as its input.";

/** Creates the factory that pi calls. */
export const extension = (options: ShimOptions) => (pi: PiApi) => void new Shim(pi, options);

class Shim {
  readonly #pi: PiApi;
  readonly #options: ShimOptions;
  readonly #settleDetector: SettleDetector;
  readonly #drawn = new DrawnElements();
  readonly #registered = new Map<string, string>();
  /** The proposals for each command's argument, for any prefix. */
  readonly #proposals = new Map<string, readonly Completion[]>();
  /** True once pi's completion is wrapped, which lasts as long as this session. */
  #isCompletionWrapped = false;
  /** Ends the listening to keys. */
  #stopListening: (() => void) | undefined;
  /** True once the sidecar knows that the person types, until a widget is drawn or cleared. */
  #isInterrupted = false;
  #manifest!: OfflineManifest;
  #hidden = new Set<string>();
  #client: Client | undefined;
  /** The context of the newest event; undefined before the session starts and after it ended. */
  #ctx: PiContext | undefined;
  #active = false;
  /** True if an entry could not be appended because there was no context. */
  #missedEntry = false;
  /** The state of rules that apply without an active workflow. */
  readonly #guardStatus = new GuardStatus();
  #errorReported = false;
  #stderr = "";
  /** The number of messages sent in the user's name. */
  #userMessages = 0;
  #deferred: Action[] = [];
  /** The number of open lists of choices. */
  #dialogs = 0;
  /** True from the question about going back until the conversation has moved, or goes on. */
  #isGoingBack = false;
  /** The event by which the sidecar is being restored. */
  #restoreEvent: { name: string; event: HookEvent } | undefined;
  readonly #isInAgentShell: boolean;
  readonly #hints: PhaseHints;
  /** Fires when the session ends, to close open dialogs. */
  #sessionEnd = new AbortController();

  constructor(pi: PiApi, options: ShimOptions) {
    this.#pi = pi;
    this.#options = options;
    this.#isInAgentShell = isInAgentShell(options.env ?? process.env);
    this.#hints = new PhaseHints(pi, (name) => this.#manifest.tools.some((tool) => tool.name === name));
    pi.on("session_start", (event, ctx) => this.#begin("session_start", event, ctx));
    pi.on("session_shutdown", (event, ctx) => this.#end(event, ctx));
    pi.on("context", (event) => this.#filter(event));
    this.#settleDetector = new SettleDetector(pi, (event, ctx) => this.#forward("agent_end", event, ctx), options.retryMs);
    for (const name of ["session_start", "session_shutdown", "agent_end"]) this.#registered.set(`hook ${name}`, "");
    pi.registerFlag(RECORD_FLAG, { type: "string", description: "Record what the workflow sidecar is told and says, into a file or a directory" });
    pi.registerFlag(REDACT_FLAG, { type: "boolean", description: "Leave what tools, people and models say out of that recording" });
    this.#adopt(options.manifest);
  }

  // The manifest.

  /** Registers the new and changed declarations of a manifest. */
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
    if (name === "branch") for (const before of BRANCH_EVENTS) this.#pi.on(before, (event, ctx) => this.#goBack(event, ctx));
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
      renderResult: (result, options, theme) => renderResult(Text, result, options, theme),
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

  /** Handles the start of a session or a move in it: the run is restored from the entries. */
  async #begin(name: string, event: HookEvent, ctx: PiContext): Promise<void> {
    this.#ctx = ctx;
    this.#missedEntry = false;
    this.#active = isActive(this.#entries(ctx), this.#manifest.entryTypes);
    this.#settleDetector.cancel();
    this.#drawn.clearWidgets(ctx);
    this.#hints.begin(ctx);
    // A session that was cut off in a phase has its settings still; an active run sets them anew.
    if (!this.#active) this.#hints.apply(null, ctx);
    if (!this.#isCompletionWrapped) ctx.ui.addAutocompleteProvider?.(whereProposed);
    this.#isCompletionWrapped = true;
    this.#listenToKeys(ctx);
    if (name === "session_start" && readsPipe(ctx)) notify(ctx, PIPE, "warning");
    this.#restoreEvent = { name, event };
    this.#guardStatus.reset({ cwd: ctx.isProjectTrusted?.() === false ? undefined : ctx.cwd });
    try {
      this.#client ??= this.#newClient();
      await this.#client.resync();
      if (this.#client.manifest) this.#adopt(this.#client.manifest);
      this.#errorReported = false;
      this.#refreshProposals();
    } catch (error) {
      this.#guardStatus.onError(error);
      this.#reportError(error);
    } finally {
      this.#restoreEvent = undefined;
      this.#showCarried();
    }
  }

  /** Shows again what was said about going back, once pi has drawn the conversation as it is now. */
  #showCarried(): void {
    this.#isGoingBack = false;
    const carried = takeCarried();
    if (carried.length === 0) return;
    const timer = setTimeout(() => {
      const ctx = this.#ctx;
      if (ctx) for (const { message, level } of carried) notify(ctx, message, level);
    }, REDRAWN_MS);
    timer.unref();
  }

  /** Restores the session in a sidecar, after its start or when it may be out of date. */
  async #restore(request: Request): Promise<void> {
    const ctx = this.#ctx;
    if (!ctx) return;
    const { name, event } = this.#restoreEvent ?? { name: "session_start", event: { reason: "reload" } };
    const hook = `hook/${name}` as "hook/session_start";
    const context = this.#context(ctx, this.#hook(name)?.context ?? ["cwd", "hasUI", "projectTrusted", "sessionFile", "branch"]);
    this.#guardStatus.onRestored(await request(hook, { event: select(event, ["reason"]), context }, { deadlineMs: RESTORE_PATIENCE * this.#deadlineMs }));
  }

  async #forward(name: string, event: HookEvent, ctx: PiContext): Promise<object | undefined> {
    const hook = this.#hook(name);
    if (!hook) return undefined;
    if (this.#isGoingBack && name !== "session_shutdown") this.#forgetCarried();
    if (this.#client) this.#useContext(ctx);
    const context = hook.context && hook.context.length > 0 ? { context: this.#context(ctx, hook.context) } : {};
    const [decides, edits] = [name === "tool_call", name === "tool_result"];
    // Events are reported even if their run was aborted, and a result is read later; a decision is no longer needed then.
    const signal = edits || (!decides && ctx.signal?.aborted) ? undefined : ctx.signal;
    try {
      const params = { event: select(event, hook.event), ...context } as Methods["hook/tool_call"]["params"];
      return toHandlerResult(await this.#ask(`hook/${name}` as "hook/tool_call", params, { signal }), event);
    } catch (error) {
      if (edits) return this.#withhold(event, error);
      return decides ? this.#decideOffline(event, error) : undefined;
    }
  }

  /** Forgets what was said about going back: the conversation went on instead. */
  #forgetCarried(): void {
    this.#isGoingBack = false;
    takeCarried();
  }

  /** Handles the user going back in the conversation, which waits for the sidecar's question about it. */
  async #goBack(event: HookEvent, ctx: PiContext): Promise<object | undefined> {
    const leaf = newLeaf(event, ctx.sessionManager);
    if (leaf === undefined || !this.#client) return undefined;
    this.#useContext(ctx);
    this.#forgetCarried();
    this.#isGoingBack = true;
    const branch = newestOf(upFrom(ctx.sessionManager, leaf), this.#manifest.entryTypes);
    const signal = event.signal instanceof AbortSignal ? event.signal : ctx.signal;
    try {
      const { mutation } = await this.#ask("hook/branch", { event: {}, context: { branch } }, { signal, patient: true });
      // pi declares `skipConversationRestore` and ignores it: the conversation stays only if the event is cancelled.
      return mutation?.skipConversationRestore ? { ...mutation, cancel: true } : undefined;
    } catch {
      return undefined;
    }
  }

  /** The reason to block tools without a decision; `undefined` if there is none. */
  get #blockReason(): string | undefined {
    return this.#active ? ACTIVE : this.#guardStatus.blockReason;
  }

  #isOwnTool = (event: HookEvent): boolean => this.#manifest.tools.some((tool) => tool.name === event.toolName);

  /** Decides a tool call that the sidecar could not decide: blocked if there is a reason, allowed otherwise. */
  #decideOffline(event: HookEvent, error: unknown): object | undefined {
    // pi 0.74 runs the tool of an aborted run if nothing blocks it.
    if (error instanceof SidecarError && error.kind === "aborted") return { block: true, reason: "Operation aborted" };
    if (!this.#blockReason || this.#isOwnTool(event)) return undefined; // the workflow tool fails by itself, with the reason
    return { block: true, reason: undecidedReason(event.toolName, this.#blockReason, messageOf(error), this.#active ? this.#offlineHint() : "") };
  }

  /** Withholds the text of a result that the sidecar could not check, if there is a reason to block. */
  #withhold(event: HookEvent, error: unknown): object | undefined {
    if (!this.#blockReason || this.#isOwnTool(event)) return undefined;
    const parts = Array.isArray(event.content) ? event.content : [];
    const text = withheldText(event.toolName, this.#blockReason, messageOf(error));
    return { content: [{ type: "text", text }, ...parts.filter((part) => part?.type !== "text")] };
  }

  async #end(event: HookEvent, ctx: PiContext): Promise<void> {
    const client = this.#client;
    if (!client) return;
    // A sidecar that has ended is not started again for this.
    if (client.pid !== undefined) await this.#forward("session_shutdown", event, ctx);
    this.#settleDetector.cancel();
    // The next session begins with the user's own settings.
    this.#hints.apply(null, ctx);
    await this.#hints.inProgress;
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#sessionEnd.abort();
    this.#sessionEnd = new AbortController();
    try {
      for (const action of this.#deferred.splice(0)) perform(action, this.#pi, ctx, false);
    } finally {
      this.#ctx = undefined;
      this.#client = undefined;
      await client.close();
    }
  }

  /** Removes the messages that only the user should see from a request: from all requests, so that the prefix of the conversation is stable. */
  #filter(event: HookEvent): object | undefined {
    const messages = event.messages as { customType?: string }[];
    const kept = messages.filter(({ customType }) => customType === undefined || !this.#hidden.has(customType));
    return kept.length === messages.length ? undefined : { messages: kept };
  }

  // Tools and commands.

  async #execute(name: string, toolCallId: string, params: unknown, signal: AbortSignal | undefined, ctx: PiContext): Promise<PiToolResult> {
    if (this.#client) this.#useContext(ctx);
    try {
      const call = { name, toolCallId, arguments: params as Record<string, unknown> };
      const { actions: _, diagnostics: __, content, details = {}, ...more } = await this.#ask("tool/execute", call, {
        signal,
        patient: true,
        cancel: (request) => request("tool/cancel", { toolCallId }),
      });
      return { content, details, ...more };
    } catch (error) {
      if (error instanceof SidecarError && error.kind === "aborted") throw new Error(`${name} was stopped together with the agent.`, { cause: error });
      throw new Error(`${name} failed: ${messageOf(error)}. ${this.#active ? this.#offlineHint() : ""}`.trim(), { cause: error });
    }
  }

  async #run(name: string, args: string, ctx: PiCommandContext): Promise<void> {
    if (this.#isInAgentShell) return notify(ctx, TYPED_BY_AGENT, "error");
    const { offline, immediate } = this.#manifest.commands.find((command) => command.name === name) ?? {};
    // A command that starts a run must not interrupt the agent.
    if (!offline && !immediate && !ctx.isIdle()) {
      notify(ctx, `/${name} waits until the agent has finished.`, "info");
      await ctx.waitForIdle();
    }
    if (!this.#client) return notify(ctx, `/${name} did nothing: there is no workflow sidecar in this session.`, "error");
    this.#useContext(ctx);
    const sentBefore = this.#userMessages;
    const wasReported = this.#errorReported;
    try {
      await this.#ask("command/run", { name, arguments: args }, { patient: !offline });
      // Without an interface pi exits after its command line, and so ends the run that a command started.
      if (!ctx.hasUI && this.#userMessages > sentBefore) await this.#settleDetector.next(ctx);
    } catch (error) {
      if (offline) return this.#runOffline(offline, ctx);
      this.#reportError(error);
      // A person who gives a command gets an answer, also if the cause is known already.
      if (wasReported) notify(ctx, `/${name} did nothing: ${messageOf(error)}.`, "error");
    }
  }

  #runOffline({ customType, change, done, nothing }: OfflineCommand, ctx: PiContext): void {
    const entries = this.#entries(ctx);
    const newest = entries.find((entry) => entry.customType === customType);
    if (!newest || !isActive([newest], this.#manifest.entryTypes)) return notify(ctx, nothing, "info");
    this.#pi.appendEntry(customType, { ...(newest.data as object), ...change });
    this.#active = false;
    this.#drawn.clear(ctx);
    notify(ctx, done, "info");
    // A restarted sidecar needs the changed entry.
    this.#client?.resync().catch(() => {});
  }

  /** Proposes arguments at once, from what is known, and asks for what is new: a list that comes late is of no use. */
  #complete(name: string, prefix: string): Completion[] | null | Promise<Completion[] | null> {
    const fitting = () => {
      const proposals = (this.#proposals.get(name) ?? []).filter(({ value }) => value.startsWith(prefix));
      // While a list is open, Enter takes an item from it instead of running the command.
      const isComplete = proposals.some(({ value }) => value === prefix);
      return proposals.length === 0 || isComplete ? null : proposals;
    };
    const [word, isOption] = [prefix.split(" ", 1)[0] as string, / -\S*$/.test(prefix)];
    if (isOption) return this.#completeOption(name, word, prefix);
    const refreshed = this.#refresh(name);
    // Just after the start nothing is known, so that the first list comes when it is.
    return this.#proposals.has(name) ? fitting() : refreshed.then(fitting);
  }

  /** Proposes the options behind the first word of an argument, which do not depend on what is between them. */
  #completeOption(name: string, word: string, prefix: string): Completion[] | null | Promise<Completion[] | null> {
    const key = `${name} ${word}`;
    const written = prefix.slice(0, prefix.lastIndexOf(" ") + 1);
    const fitting = () => {
      const options = (this.#proposals.get(key) ?? []).map((item) => ({ ...item, value: written + item.value.slice(word.length + 1) }));
      const found = options.filter(({ value }) => value.startsWith(prefix) && value !== prefix);
      return found.length === 0 ? null : found;
    };
    const refreshed = this.#refresh(name, key, `${word} --`);
    return this.#proposals.has(key) ? fitting() : refreshed.then(fitting);
  }

  async #refresh(name: string, key = name, prefix = ""): Promise<void> {
    try {
      // Not by #ask, which shows errors: nobody has asked for anything yet.
      const answer = await this.#client?.request("command/complete", { name, prefix });
      this.#proposals.set(key, answer?.items ?? []);
    } catch {
      // The earlier proposals stay.
    }
  }

  #refreshProposals(): void {
    for (const { name, completes } of this.#manifest.commands) if (completes) void this.#refresh(name);
  }

  // A person who types.

  /** Listens to keys where there is a terminal: whatever is typed stops a countdown. */
  #listenToKeys(ctx: PiContext): void {
    this.#stopListening?.();
    this.#stopListening = ctx.ui.onTerminalInput?.((data) => {
      if (this.#drawn.showsProgress && isTyped(data)) this.#interrupt();
      // pi's lists take these letters for the arrow keys, so that a text and its Enter would choose.
      return this.#dialogs > 0 && (data === "j" || data === "k") ? { consume: true } : undefined;
    });
  }

  /** Reports that the person types, once until the screen changes. */
  #interrupt(): void {
    const ctx = this.#ctx;
    if (!ctx || this.#isInterrupted) return;
    this.#isInterrupted = true;
    void this.#forward("input", { source: "editor" }, ctx);
  }

  // The sidecar.

  async #ask<M extends keyof Methods>(method: M, params: Methods[M]["params"], options: Partial<CallOptions> = {}): Promise<Methods[M]["result"]> {
    if (!this.#client) throw new SidecarError("closed", "the session is over");
    try {
      const result = await this.#client.request(method, params, options);
      await this.#hints.inProgress;
      this.#guardStatus.onAnswer(result ?? {});
      this.#errorReported = false;
      return result;
    } catch (error) {
      if (error instanceof SidecarError && error.kind !== "aborted") {
        this.#guardStatus.onError(error);
        this.#reportError(error);
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
      onLost: (error) => this.#onLost(error),
      onStderr: (text) => {
        this.#stderr = (this.#stderr + text).slice(-400);
        // Where nothing can be shown, the log is: it has the code with which the user answers once pi has ended.
        if (this.#ctx && !this.#ctx.hasUI) process.stderr.write(text);
      },
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
      // A client of RPC mode is not told that a dialog was closed.
      capabilities: { dialogs: hasUI, dismiss: hasUI && ctx?.mode !== "rpc", widgets: hasUI, settle: this.#settleDetector.isSupported, hints: this.#hints.isSupported, exec: this.#options.exec ?? false },
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
      const ends = [signal, this.#sessionEnd.signal, ctx.signal].filter((signal) => signal !== undefined);
      return ask(ctx, AbortSignal.any(ends));
    };
    const choosing = <T>(ask: (ctx: PiContext, signal: AbortSignal) => Promise<T>) =>
      asking((ctx, signal) => {
        const show = () => {
          this.#dialogs += 1;
          const close = () => void (this.#dialogs -= 1);
          const answer = ask(ctx, signal);
          void answer.then(close, close);
          return answer;
        };
        return isTerminal(ctx) && hasText(ctx) ? untilSent(ctx, signal).then(show) : show();
      });
    return {
      "ui/confirm": ({ title, message }, signal) => choosing((ctx, signal) => confirm(title, message, ctx, signal))(signal),
      "ui/select": ({ title, options }, signal) => choosing((ctx, signal) => choose(title, options, ctx, signal))(signal),
      "ui/input": ({ title, placeholder }, signal) => asking(async (ctx, signal) => (await ctx.ui.input(dialogTitle(title, ctx), placeholder, { signal })) ?? null)(signal),
      "host/exec": (params, signal) =>
        asking(async (ctx, signal) => {
          const { cwd, timeoutMs } = params;
          const options = { cwd: cwd ?? ctx.cwd, signal, ...(timeoutMs !== undefined && { timeout: timeoutMs }) };
          const { stdout, stderr, code, killed } = await this.#pi.exec(...withEnv(params), options);
          return bounded({ stdout, stderr, code, ...(killed && { killed }) }, params);
        })(signal),
    };
  }

  #apply(actions: readonly Action[], timed: boolean): void {
    for (const action of actions) {
      const ctx = this.#ctx;
      if (!ctx) {
        this.#missedEntry ||= action.type === "appendEntry";
        continue;
      }
      try {
        const isReminder = timed && action.type === "sendUserMessage" && action.deliverAs === undefined;
        if (isAboutProgress(action)) this.#isInterrupted = false;
        const isAboutWaiting = isReminder || (isAboutProgress(action) && action.lines !== null);
        if (isAboutWaiting && hasText(ctx)) {
          this.#interrupt();
          if (isReminder) continue;
        }
        const hints = this.#hints.inProgress;
        // What is said now is gone when pi draws the conversation.
        if (action.type === "notify" && this.#restoreEvent && isTerminal(ctx)) carry(action);
        else if (action.type === "setHints") this.#hints.apply(action.hints, ctx);
        else if (action.type === "sendUserMessage" && hints) void hints.then(() => perform(action, this.#pi, ctx, timed)).catch(() => {}); // stale
        else if (this.#isDeferred(action, ctx)) this.#deferred.push(action);
        else perform(action, this.#pi, ctx, timed);
        this.#drawn.record(action);
        if (action.type === "sendUserMessage") this.#userMessages += 1;
        if (action.type === "notify" && this.#isGoingBack) carry(action);
        if (action.type === "appendEntry") this.#updateActive(action.customType, action.data);
      } catch (error) {
        if (isStale(error)) {
          this.#ctx = undefined;
          this.#missedEntry ||= action.type === "appendEntry";
        } else if (action.type === "appendEntry") this.#client?.resync().catch(() => {});
      }
    }
  }

  /** Uses the newest context. If the session missed an entry, the sidecar is ahead of it and is restored. */
  #useContext(ctx: PiContext): void {
    this.#ctx = ctx;
    if (!this.#missedEntry) return;
    this.#missedEntry = false;
    this.#active = isActive(this.#entries(ctx), this.#manifest.entryTypes);
    this.#client?.resync().catch(() => {});
  }

  /** Returns true for messages that are sent when the session ends: print mode prints the last message if it is the assistant's. */
  #isDeferred(action: Action, ctx: PiContext): boolean {
    return action.type === "sendMessage" && !ctx.hasUI && ctx.mode !== "json" && this.#hidden.has(action.message.customType);
  }

  /** Updates the activity from an entry that has the mark. */
  #updateActive(customType: string, data: unknown): void {
    const types = this.#manifest.entryTypes;
    if (!types.some((type) => type.customType === customType && type.mark)) return;
    this.#active = isActive([{ customType, data }], types);
    this.#refreshProposals();
  }

  #onLost(error: SidecarError): void {
    const ctx = this.#ctx;
    if (!ctx) return;
    try {
      this.#drawn.clearWidgets(ctx);
      notify(ctx, `The workflow sidecar was lost: ${error.message}. It is started again with the next call.${this.#takeStderr()}`, "warning");
    } catch {
      this.#ctx = undefined; // stale
    }
  }

  /** Notifies the user why there is no sidecar, once until there is one again. */
  #reportError(error: unknown): void {
    const ctx = this.#ctx;
    if (!ctx || this.#errorReported) return;
    this.#errorReported = true;
    const blocked = this.#blockReason ? ` Tools are blocked, because ${this.#blockReason}. ${this.#active ? this.#offlineHint() : ""}`.trimEnd() : "";
    try {
      notify(ctx, `Workflows: ${messageOf(error)}.${blocked}${this.#takeStderr()}`, "error");
    } catch {
      this.#ctx = undefined; // stale
    }
  }

  #takeStderr(): string {
    const stderr = this.#stderr.trim();
    this.#stderr = "";
    return stderr === "" ? "" : `\nIt said: ${stderr}`;
  }

  #offlineHint(): string {
    const commands = offlineCommands(this.#manifest);
    return commands.length === 0 ? "" : `The user can end it with ${commands.join(" or ")}, which works without the sidecar.`;
  }
}

/** Escape, and any key in the form of kitty's protocol, except when it is released. */
const ESCAPE_OR_KEY = /^\u001b(\[\d[\d:]*(;\d*(:[12])?(;[\d:]*)?)?u)?$/;

/** True for Escape and for text, and false for cursor keys and for what a terminal sends by itself. */
const isTyped = (data: string): boolean => ESCAPE_OR_KEY.test(data) || !data.startsWith("\u001b");

const isStale = (error: unknown): boolean => error instanceof Error && error.message.includes("stale");
