/**
 * The part of pi's extension API that the extension uses, common to pi 0.74 and later.
 *
 * Members that only some versions have are optional and are detected, never derived from a version. A check compiles
 * these types against the declarations of both hosts.
 */
import type { Tree } from "../branch.ts";

export interface PiUi {
  confirm(title: string, message: string, options?: { signal?: AbortSignal }): Promise<boolean>;
  select(title: string, options: string[], more?: { signal?: AbortSignal }): Promise<string | undefined>;
  input(title: string, placeholder?: string, options?: { signal?: AbortSignal }): Promise<string | undefined>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
  setStatus(key: string, text: string | undefined): void;
  /** The text in the editor; empty where there is no editor. */
  getEditorText?(): string;
  /** Calls a handler with the data of every key, and returns a function that removes it; does nothing where there is no terminal. */
  onTerminalInput?(handler: (data: string) => { consume: boolean } | undefined): (() => void) | undefined;
  /** Wraps what completes the text in the editor; does nothing where there is no editor. */
  addAutocompleteProvider?(wrap: (current: PiCompletion) => PiCompletion): void;
  readonly theme: PiTheme;
  setWidget(key: string, lines: string[] | undefined, options?: { placement?: "aboveEditor" | "belowEditor" }): void;
}

export interface PiSession extends Tree {
  getSessionFile(): string | undefined;
}

/** An item of a list of completions. */
export interface PiCompletionItem {
  value: string;
  label: string;
  description?: string;
}

/** The text in the editor after a completion. */
export interface PiCompletedText {
  lines: string[];
  cursorLine: number;
  cursorCol: number;
}

/** What completes the text in the editor: items for the text before the cursor, and their application. */
export interface PiCompletion {
  getSuggestions(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    options: { signal: AbortSignal; force?: boolean },
  ): Promise<{ items: PiCompletionItem[]; prefix: string } | null>;
  applyCompletion(lines: string[], cursorLine: number, cursorCol: number, item: PiCompletionItem, prefix: string): PiCompletedText;
  shouldTriggerFileCompletion?(lines: string[], cursorLine: number, cursorCol: number): boolean;
}

/** A model; pi's own has more. */
export interface PiModel {
  provider: string;
  id: string;
}

/** Its members throw once the session was replaced or the extension reloaded. */
export interface PiContext {
  readonly ui: PiUi;
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: PiSession;
  readonly signal: AbortSignal | undefined;
  /** From 0.78: `tui`, `rpc`, `json` or `print`. */
  readonly mode?: string;
  /** The model in use. */
  readonly model: PiModel | undefined;
  /** The models for which there is a key. */
  readonly modelRegistry: { getAvailable(): PiModel[] };
  isIdle(): boolean;
  /** From 0.79: true if the user trusts the project's files. */
  isProjectTrusted?(): boolean;
}

export interface PiCommandContext extends PiContext {
  waitForIdle(): Promise<void>;
}

/** A component of pi's interface. */
export interface PiComponent {
  render(width: number): string[];
  invalidate(): void;
}

export interface PiTheme {
  fg(color: string, text: string): string;
  bold(text: string): string;
}

export interface PiTool {
  name: string;
  label: string;
  description: string;
  parameters: Record<string, unknown>;
  promptSnippet?: string;
  promptGuidelines?: string[];
  executionMode?: "sequential" | "parallel";
  execute(id: string, params: unknown, signal: AbortSignal | undefined, onUpdate: unknown, ctx: PiContext): Promise<PiToolResult>;
  renderCall?(args: unknown, theme: PiTheme): PiComponent;
  renderResult?(result: unknown, options: { expanded?: boolean }, theme: PiTheme): PiComponent;
}

export interface PiToolResult {
  content: { type: "text"; text: string }[];
  details: unknown;
}

/** The proposals for an argument; `null` if there are none. */
export type Completions = PiCompletionItem[] | null;

export interface PiCommand {
  description: string;
  getArgumentCompletions?(prefix: string): Completions | Promise<Completions>;
  handler(args: string, ctx: PiCommandContext): Promise<void>;
}

export interface PiMessage {
  customType: string;
  content: string;
  display: boolean;
  details?: unknown;
}

export interface PiApi {
  /** Returns a function that removes the handler, from 0.86. pi declares an event type for each name; the names come from the manifest. */
  on(event: string, handler: (event: any, ctx: any) => unknown): unknown;
  registerTool(tool: PiTool): void;
  registerCommand(name: string, command: PiCommand): void;
  registerFlag(name: string, options: { description: string; type: "boolean" | "string" }): void;
  /** The value on the command line; not available while the factory runs. */
  getFlag(name: string): boolean | string | undefined;
  registerMessageRenderer(customType: string, renderer: (message: { content: unknown }, options: unknown, theme: PiTheme) => PiComponent | undefined): void;
  sendMessage(message: PiMessage, options?: { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn" }): void;
  sendUserMessage(content: string, options?: { deliverAs?: "steer" | "followUp" }): void;
  appendEntry(customType: string, data?: unknown): void;
  setSessionName(name: string): void;
  /** Returns false if there is no key for the model. pi declares all of a model, and gets one of its own. */
  setModel(model: any): Promise<boolean>;
  getThinkingLevel(): string;
  /** pi declares the levels, which the protocol has as well. */
  setThinkingLevel(level: any): void;
  getActiveTools(): string[];
  setActiveTools(names: string[]): void;
  exec(command: string, args: string[], options?: { cwd?: string; timeout?: number; signal?: AbortSignal }): Promise<{ stdout: string; stderr: string; code: number; killed?: boolean }>;
}
