/**
 * One session of opencode with a run: its entries, and what has to be known of it between two events.
 */
import { join } from "node:path";
import { isActive, newestOf } from "../branch.ts";
import { EntryStore } from "../entry-store.ts";
import { GuardStatus } from "../guard-status.ts";
import type { OfflineManifest } from "../offline.ts";
import type { Context } from "../types.ts";
import type { MessageInfo, ModelId } from "./host.ts";
import type { Questions } from "./questions.ts";

/** What a command of a person produced. */
export interface CommandOutput {
  /** Texts for the person. */
  notices: string[];
  /** Texts for the agent. */
  messages: string[];
}

/** The part of a command's message that only the model reads. */
export interface Addition {
  text: string;
  /** True if the model has work to do, and false if it only repeats an answer. */
  isWork: boolean;
}

export class Session {
  readonly id: string;
  readonly cwd: string;
  readonly file: string;
  readonly store: EntryStore;
  readonly guardStatus = new GuardStatus();
  readonly questions: Questions;
  /** Resolves when the sidecar knows the session, or cannot be reached. */
  ready: Promise<void> = Promise.resolve();
  isBusy = false;
  /** The number of messages so far: an end that was fetched before a newer message does not count. */
  messages = 0;
  /** The name of the error that ended the agent's work. */
  error: string | undefined;
  /** The assistant's message that the sidecar counts as the turn. */
  turn: string | undefined;
  /** The last message whose use of tokens was reported. */
  counted: string | undefined;
  /** The agent and the model that the person uses. */
  agent: string | undefined;
  model: ModelId | undefined;
  /** The command that is being carried out. */
  command: CommandOutput | undefined;
  /** Texts of messages that are not a person's prompts, with what is added to those that are commands. */
  readonly ownMessages = new Map<string, Addition | undefined>();
  /** The instructions of the phase as the model got them last. */
  instructions = "";
  /** True if the conversation lost the instructions, because it was shortened. */
  isShortened = false;
  /** True if the next context has the instructions. */
  expectsInstructions = true;
  #manifest: () => OfflineManifest;

  constructor(id: string, cwd: string, directory: string, questions: Questions, manifest: () => OfflineManifest) {
    this.id = id;
    this.cwd = cwd;
    this.questions = questions;
    this.file = join(directory, `${id.replace(/[^\w-]/g, "_")}.jsonl`);
    this.store = new EntryStore(this.file);
    this.#manifest = manifest;
  }

  get entries() {
    return newestOf(this.store.newestFirst(), this.#manifest().entryTypes);
  }

  get isActive(): boolean {
    return isActive(this.entries, this.#manifest().entryTypes);
  }

  context(hasUI: boolean): Context {
    return { cwd: this.cwd, hasUI, sessionFile: this.file, branch: this.entries };
  }

  append(customType: string, data: unknown): void {
    if (customType === "workflow:state") {
      this.expectsInstructions = true;
      this.isShortened = false;
    }
    this.store.append(customType, data);
  }

  /** Remembers what the model has read about the phase. */
  noteInstructions(text: string): void {
    if (this.expectsInstructions) this.instructions = text;
    this.expectsInstructions = false;
    this.isShortened = false;
  }

  /** Remembers the agent and the model of a person's message, for reminders. */
  noteUser({ agent, model }: MessageInfo): void {
    this.agent = agent ?? this.agent;
    this.model = model ?? this.model;
  }
}
