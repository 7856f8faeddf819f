/**
 * A mock of pi for extensions, of either generation, as strict about stale contexts as pi.
 *
 * `old` is 0.74: `agent_end` is the last event, handlers cannot be removed, no mode, no project trust.
 */
import type { TreeEntry } from "../src/branch.ts";
import type { HookEvent } from "../src/events.ts";
import type { PiApi, PiCommand, PiCommandContext, PiCompletion, PiComponent, PiContext, PiTool } from "../src/pi/host.ts";

type Handler = (event: HookEvent, ctx: PiContext) => unknown;

export const generations = ["old", "new"] as const;
export type Generation = (typeof generations)[number];

export const theme = { fg: (color: string, text: string) => `<${color}>${text}</>`, bold: (text: string) => `*${text}*` };

/** pi's text component: one line for each line of text. */
export class Text implements PiComponent {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  render(): string[] {
    return this.text.split("\n");
  }
  invalidate(): void {}
}

export class MockPi {
  readonly tools = new Map<string, PiTool>();
  readonly commands = new Map<string, PiCommand>();
  readonly renderers = new Map<string, (message: { content: unknown }, options: unknown, theme: any) => PiComponent | undefined>();
  /** The flags of the command line. */
  readonly flags = new Map<string, boolean | string | undefined>();
  /** The effects of the extension, in order: `status workflow=…`, `notify error …`, … */
  readonly done: string[] = [];
  readonly entries = new Map<string, TreeEntry & { id: string }>();
  leaf: string | null = null;
  looks = 0;
  idle = true;
  hasUI = true;
  mode = "tui";
  cwd = "/project";
  trusted = true;
  stale = false;
  abort: AbortController | undefined;
  models = [
    { provider: "p", id: "small" },
    { provider: "p", id: "big" },
  ];
  model = this.models[0];
  thinking = "low";
  activeTools = ["read", "edit", "bash", "workflow_step"];
  /** The text in the editor. */
  editorText = "";
  readonly keyHandlers = new Set<(data: string) => { consume: boolean } | undefined>();
  /** The completion of the editor, as extensions have wrapped it. */
  completion: PiCompletion | undefined;
  /** The answers to dialogs. */
  answers: unknown[] = [];

  readonly #generation: Generation;
  readonly #handlers = new Map<string, Handler[]>();
  #whenIdle: (() => void)[] = [];

  constructor(generation: Generation) {
    this.#generation = generation;
  }

  get api(): PiApi {
    const alive = () => {
      if (this.stale) throw new Error("This extension ctx is stale after session replacement or reload.");
    };
    const act = (what: string) => {
      alive();
      this.done.push(what);
    };
    return {
      on: (event, handler) => {
        const handlers = this.#handlers.get(event) ?? [];
        this.#handlers.set(event, [...handlers, handler]);
        return this.#generation === "new" ? () => this.#handlers.set(event, handlers) : undefined;
      },
      registerTool: (tool) => void this.tools.set(tool.name, tool),
      registerCommand: (name, command) => void this.commands.set(name, command),
      registerFlag: (name) => void this.flags.set(name, this.flags.get(name)),
      getFlag: (name) => this.flags.get(name),
      registerMessageRenderer: (type, renderer) => void this.renderers.set(type, renderer),
      sendMessage: ({ customType, content }) => act(`message ${customType} ${content}`),
      sendUserMessage: (content, options) => act(`say ${options?.deliverAs ?? "now"} ${content}`),
      appendEntry: (customType, data) => {
        act(`entry ${customType}`);
        this.append({ type: "custom", customType, data });
      },
      setSessionName: (name) => act(`name ${name}`),
      setModel: async (model) => {
        act(`model ${model.provider}/${model.id}`);
        this.model = model;
        return true;
      },
      getThinkingLevel: () => this.thinking,
      setThinkingLevel: (level) => {
        act(`thinking ${level}`);
        this.thinking = level;
      },
      getActiveTools: () => this.activeTools,
      setActiveTools: (names) => {
        act(`tools ${names.join(" ")}`);
        this.activeTools = names;
      },
      exec: async (command, args, options) => {
        act(`exec ${command} ${args.join(" ")} in ${options?.cwd}`);
        return { stdout: "out", stderr: "", code: 0 };
      },
    };
  }

  get ctx(): PiCommandContext {
    const guard = <T>(value: T): T => {
      if (this.stale) throw new Error("This extension ctx is stale after session replacement or reload.");
      return value;
    };
    const mock = this;
    const dialog = async (what: string, { signal }: { signal?: AbortSignal } = {}) => {
      mock.done.push(what);
      const dismissed = new Promise((resolve) => signal?.addEventListener("abort", () => resolve(undefined)));
      return Promise.race([mock.answers.shift(), dismissed]);
    };
    const ui: PiContext["ui"] = {
      theme,
      addAutocompleteProvider: (wrap) => (mock.completion = mock.completion && wrap(mock.completion)),
      confirm: async (title, message, more) => (await dialog(`confirm ${title}: ${message}`, more)) === true,
      select: async (title, options, more) => (await dialog(`select ${title}: ${options.join("|")}`, more)) as string | undefined,
      input: async (title, placeholder, more) => (await dialog(`input ${title}: ${placeholder ?? ""}`, more)) as string | undefined,
      notify: (message, type = "info") => mock.done.push(`notify ${type} ${message}`),
      getEditorText: () => mock.editorText,
      onTerminalInput: (handler) => {
        mock.keyHandlers.add(handler);
        return () => void mock.keyHandlers.delete(handler);
      },
      setStatus: (key, text) => mock.done.push(`status ${key}=${text ?? ""}`),
      setWidget: (key, lines) => mock.done.push(`widget ${key}=${lines?.join("/") ?? ""}`),
    };
    return {
      get ui() {
        return guard(ui);
      },
      get hasUI() {
        return guard(mock.hasUI);
      },
      get cwd() {
        return guard(mock.cwd);
      },
      get sessionManager() {
        return guard({
          getLeafId: () => mock.leaf,
          getEntry: (id: string) => {
            mock.looks += 1;
            return mock.entries.get(id);
          },
          getSessionFile: () => "/sessions/one.jsonl",
        });
      },
      get signal() {
        return guard(mock.abort?.signal);
      },
      get model() {
        return guard(mock.model);
      },
      get modelRegistry() {
        return guard({ getAvailable: () => mock.models });
      },
      isIdle: () => guard(mock.idle),
      waitForIdle: async () => {
        guard(undefined);
        if (!mock.idle) await new Promise<void>((resolve) => mock.#whenIdle.push(resolve));
      },
      ...(this.#generation === "new" && { mode: this.mode, isProjectTrusted: () => guard(mock.trusted) }),
    };
  }

  /** Appends an entry to the session and makes it the leaf. */
  append(entry: Omit<TreeEntry, "parentId">): string {
    const id = `e${this.entries.size + 1}`;
    this.entries.set(id, { ...entry, id, parentId: this.leaf });
    this.leaf = id;
    return id;
  }

  becomeIdle(): void {
    this.idle = true;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Emits an event as pi does: handlers in order, each awaited; the last result counts. */
  async emit(type: string, event: HookEvent = {}): Promise<any> {
    let result: unknown;
    for (const handler of this.#handlers.get(type) ?? []) result = (await handler({ type, ...event }, this.ctx)) ?? result;
    return result;
  }

  /** Emits the events at the end of a run. */
  async endRun(stopReason = "stop", text = "Done."): Promise<void> {
    const messages = [{ role: "user", content: "x" }, { role: "assistant", stopReason, content: [{ type: "thinking", thinking: "hm" }, { type: "text", text }] }, { role: "toolResult" }];
    await this.emit("agent_end", { messages });
    this.becomeIdle();
    if (this.#generation === "new") await this.emit("agent_settled", { aborted: stopReason === "aborted" });
  }

  /** The person presses a key. Returns true if it reaches what pi draws. */
  press(data: string): boolean {
    return [...this.keyHandlers].map((handler) => handler(data)?.consume).every((consumed) => !consumed);
  }

  run(command: string, args = ""): Promise<void> {
    return (this.commands.get(command) as PiCommand).handler(args, this.ctx);
  }
}
