/**
 * The settings that a phase asks for: model, thinking level and visible tools. The user's own come back at the end.
 *
 * The user's values are stored in the session before the first change, so that a session that was cut off restores them
 * when it is opened again. A value that the user changed in the meantime stays as the user wants it.
 */
import { fromLeaf } from "../branch.ts";
import type { HostHints, VisibleTools } from "../types.ts";
import { notify } from "./actions.ts";
import type { PiApi, PiContext, PiModel } from "./host.ts";

const ENTRY = "workflow:host-settings";

/** What a phase can set. */
interface Settings {
  /** `provider/id`. */
  model?: string;
  thinking?: string;
  tools?: string[];
}

/** The user's values of what was changed, and the values that replace them now. */
interface Changed {
  own: Settings;
  set: Settings;
}

export class PhaseHints {
  readonly #pi: PiApi;
  readonly #isOwnTool: (name: string) => boolean;
  #changed: Changed | null = null;
  /** The work in progress: a model is set asynchronously, and the next hints wait for it. */
  #work: Promise<void> | undefined;
  /** The models that were not found, each reported once. */
  readonly #missing = new Set<string>();

  /** @param isOwnTool true for tools that no phase hides */
  constructor(pi: PiApi, isOwnTool: (name: string) => boolean) {
    this.#pi = pi;
    this.#isOwnTool = isOwnTool;
  }

  /** True if this pi can set all of it. */
  get isSupported(): boolean {
    const { setModel, setThinkingLevel, getThinkingLevel, setActiveTools, getActiveTools } = this.#pi;
    return [setModel, setThinkingLevel, getThinkingLevel, setActiveTools, getActiveTools].every((method) => typeof method === "function");
  }

  /** Takes what an earlier process of the session left changed. */
  begin(ctx: PiContext): void {
    for (const entry of fromLeaf(ctx.sessionManager)) {
      if (entry.customType !== ENTRY) continue;
      this.#changed = (entry.data as { changed?: Changed | null } | undefined)?.changed ?? null;
      return;
    }
  }

  /** Applies the hints of a phase; null restores the user's values. */
  apply(hints: HostHints | null, ctx: PiContext): void {
    const work = (this.#work ?? Promise.resolve()).then(() => this.#replace(hints, ctx)).catch(() => {}); // stale
    this.#work = work;
    void work.then(() => {
      if (this.#work === work) this.#work = undefined;
    });
  }

  /** Resolves when the settings are applied; `undefined` if they are. */
  get inProgress(): Promise<void> | undefined {
    return this.#work;
  }

  async #replace(hints: HostHints | null, ctx: PiContext): Promise<void> {
    const wasChanged = this.#changed !== null;
    await this.#restore(ctx);
    if (hints) await this.#set(hints, ctx);
    if (wasChanged && !this.#changed) this.#store();
  }

  /** Stores the user's values, then changes them. */
  async #set({ model, thinking, tools }: HostHints, ctx: PiContext): Promise<void> {
    const own: Settings = {};
    const set: Settings = {};
    const found = model === undefined ? undefined : findModel(model, ctx);
    if (model !== undefined && !found) this.#reportMissing(model, ctx);
    const [ownModel, newModel] = [nameOf(ctx.model), nameOf(found)];
    if (ownModel !== undefined && newModel !== undefined && newModel !== ownModel) [own.model, set.model] = [ownModel, newModel];
    const ownThinking = this.#pi.getThinkingLevel();
    if (thinking !== undefined && thinking !== ownThinking) [own.thinking, set.thinking] = [ownThinking, thinking];
    const active = tools ? this.#pi.getActiveTools() : [];
    const visible = active.filter((name) => this.#isOwnTool(name) || (tools && isVisible(name, tools)));
    if (visible.length < active.length) [own.tools, set.tools] = [active, visible];
    if (Object.keys(set).length === 0) return;
    this.#changed = { own, set };
    this.#store();
    if (set.model !== undefined && !(await this.#pi.setModel(found))) this.#reportMissing(set.model, ctx);
    if (set.thinking !== undefined) this.#pi.setThinkingLevel(set.thinking);
    if (set.tools) this.#pi.setActiveTools(set.tools);
    // A model may support fewer levels, so it can change the level by itself.
    const newThinking = this.#pi.getThinkingLevel();
    if (newThinking === (set.thinking ?? ownThinking)) return;
    this.#changed = { own: { ...own, thinking: ownThinking }, set: { ...set, thinking: newThinking } };
    this.#store();
  }

  #store(): void {
    this.#pi.appendEntry(ENTRY, { version: 1, changed: this.#changed });
  }

  /** Restores what is still as a phase has set it. */
  async #restore(ctx: PiContext): Promise<void> {
    if (!this.#changed) return;
    const { own, set } = this.#changed;
    const thinking = this.#pi.getThinkingLevel();
    if (own.model !== undefined && nameOf(ctx.model) === set.model) {
      const model = findModel(own.model, ctx);
      if (model) await this.#pi.setModel(model);
    }
    if (own.thinking !== undefined && thinking === set.thinking) this.#pi.setThinkingLevel(own.thinking);
    if (own.tools && set.tools && isSame(this.#pi.getActiveTools(), set.tools)) this.#pi.setActiveTools(own.tools);
    this.#changed = null;
  }

  #reportMissing(model: string, ctx: PiContext): void {
    if (this.#missing.has(model)) return;
    this.#missing.add(model);
    notify(ctx, `The phase asks for the model ${model}, which pi does not have or has no key for. The model stays as it is.`, "warning");
  }
}

const isVisible = (name: string, { allowed, blocked }: VisibleTools): boolean => !blocked.includes(name) && (allowed?.includes(name) ?? true);

const isSame = (a: string[], b: string[]): boolean => a.length === b.length && a.every((name) => b.includes(name));

const nameOf = (model: PiModel | undefined): string | undefined => model && `${model.provider}/${model.id}`;

/** Finds a model by `provider/id`, or by its id alone. */
const findModel = (name: string, ctx: PiContext): PiModel | undefined => {
  const models = ctx.modelRegistry.getAvailable();
  return models.find((model) => nameOf(model) === name) ?? models.find(({ id }) => id === name);
};
