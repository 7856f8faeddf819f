/**
 * The sidecar of an opencode process: one for all sessions of a project directory.
 *
 * Responsible for restoring sessions from their entries, applying actions, asking a person, and the reasons for blocking
 * while the sidecar cannot be reached.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { sidecarBinary } from "../binary.ts";
import { type CallOptions, Client, type Request } from "../client.ts";
import type { HostHandlers } from "../connection.ts";
import { messageOf, SidecarError } from "../error.ts";
import { ACTIVE, type OfflineManifest, offlineCommands, withOffline } from "../offline.ts";
import { manifest } from "../pi/manifest.ts";
import type { Action, Methods } from "../types.ts";
import type { PluginInput } from "./host.ts";
import type { Question } from "./questions.ts";
import type { Screen } from "./screen.ts";
import { Session } from "./session.ts";

/** The options in opencode's configuration, behind the name of the plugin. */
export interface Settings {
  /** The sidecar's binary; by default that of the package, of the environment or of the PATH. */
  binary?: string;
  /** The directory of the sessions' entries. */
  state?: string;
  /** The time for an answer, in milliseconds. */
  deadlineMs?: number;
  args?: readonly string[];
}

const DEADLINE_MS = 5_000;
/** The factor on the deadline of a session's start, which reads the definitions. */
const RESTORE_PATIENCE = 3;
/** The sessions that are kept in the sidecar; idle ones without a run end first. */
const MOST_SESSIONS = 32;
/** No comes first: a hasty answer agrees to nothing. */
const NO_OR_YES = ["no", "yes"];

export class Sidecar {
  readonly #host: PluginInput;
  readonly #screen: Screen;
  readonly #settings: Settings;
  /** The session whose agent started this opencode in its shell. */
  readonly #above: string | undefined;
  readonly #client: Client;
  readonly #sessions = new Map<string, Session>();
  /** The session that started a session's agent, or itself. */
  readonly #roots = new Map<string, string>();
  readonly #titles = new Map<string, string>();
  #manifest = withOffline(manifest);
  #isErrorReported = false;
  #stderr = "";

  constructor(host: PluginInput, screen: Screen, settings: Settings, above: string | undefined) {
    this.#host = host;
    this.#screen = screen;
    this.#settings = settings;
    this.#above = above;
    this.#client = this.#newClient();
  }

  get manifest(): OfflineManifest {
    return this.#manifest;
  }

  isOwnTool(name: string): boolean {
    return this.#manifest.tools.some((tool) => tool.name === name);
  }

  // Sessions.

  noteParent(id: string, parent: string | undefined): void {
    this.#roots.set(id, parent === undefined ? id : (this.#roots.get(parent) ?? parent));
  }

  noteTitle(id: string, title: string | undefined): void {
    if (title !== undefined) this.#titles.set(id, title);
  }

  /** The title of a session, if more than one has a run. */
  #titleAmongRuns(id: string): string | undefined {
    const running = [...this.#sessions.values()].filter((session) => session.isActive);
    return running.length > 1 ? this.#titles.get(id) : undefined;
  }

  /** The session of an id that was used already: not that of a sub-agent. */
  known(id: unknown): Session | undefined {
    return typeof id === "string" ? this.#sessions.get(id) : undefined;
  }

  /** The session whose run an id belongs to. A sub-agent works under the rules of the session that started it, and so does an opencode. */
  async open(id: string): Promise<Session> {
    const above = this.#above === undefined ? undefined : this.#newSession(this.#above);
    const isBelow = above?.isActive === true;
    const root = isBelow ? above.id : await this.#rootOf(id);
    let session = this.#sessions.get(root);
    if (session && isBelow) await this.refresh(session);
    if (!session) {
      session = this.#newSession(root);
      session.store.compact(this.#manifest.entryTypes);
      this.#sessions.set(root, session);
      session.ready = this.#begin(session);
      this.#endOthers();
    }
    await session.ready;
    return session;
  }

  #newSession(id: string): Session {
    const directory = this.#settings.state ?? join(homedir(), ".local/state/workflow-sidecar/opencode");
    return new Session(id, this.#host.directory, directory, this.#screen.questions(() => this.#titleAmongRuns(id)), () => this.#manifest);
  }

  /** Restores a session whose entries another opencode has changed. */
  async refresh(session: Session): Promise<void> {
    if (!session.store.isOutdated) return;
    session.store.reload();
    session.ready = this.#begin(session);
    await session.ready;
  }

  async end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    this.#roots.delete(id);
    this.#titles.delete(id);
    if (session && this.#client.pid !== undefined) await this.ask("hook/session_shutdown", session, {}).catch(() => {});
    session?.store.remove();
  }

  async close(): Promise<void> {
    this.#sessions.clear();
    await this.#client.close();
  }

  async #rootOf(id: string): Promise<string> {
    for (let [at, depth] = [id, 0]; depth < 16; depth += 1) {
      const known = this.#roots.get(at);
      if (known !== undefined) {
        this.#roots.set(id, known);
        return known;
      }
      const { data, error } = await this.#host.client.session.get({ path: { id: at } });
      if (!data) throw new Error(`opencode does not know the session ${at}: ${messageOf(error)}`);
      this.noteTitle(at, data.title);
      if (data.parentID === undefined) this.#roots.set(at, at);
      else at = data.parentID;
    }
    throw new Error(`the sub-agents of session ${id} are nested too deeply`);
  }

  async #begin(session: Session): Promise<void> {
    session.guardStatus.reset({ cwd: session.cwd });
    session.expectsInstructions = true;
    try {
      // A start restores all sessions; one more is restored alone, since restoring stops countdowns.
      if (this.#client.pid === undefined) await this.#client.start();
      else await this.#restore((method, params, options) => this.#client.request(method, params, options), session);
      if (this.#client.manifest) this.#manifest = withOffline(this.#client.manifest);
      this.#isErrorReported = false;
    } catch (error) {
      session.guardStatus.onError(error);
      this.#reportError(error, session);
    }
  }

  async #restore(request: Request, session: Session): Promise<void> {
    const params = { sessionId: session.id, event: { reason: "resume" }, context: session.context(this.#screen.hasPerson) };
    session.guardStatus.onRestored(await request("hook/session_start", params, { deadlineMs: RESTORE_PATIENCE * this.#deadlineMs }));
  }

  #endOthers(): void {
    const idle = [...this.#sessions.values()].filter((session) => !session.isBusy && !session.isActive).slice(0, -1);
    for (const session of idle.slice(0, Math.max(0, this.#sessions.size - MOST_SESSIONS))) {
      this.#sessions.delete(session.id);
      void this.ask("hook/session_shutdown", session, {}).catch(() => {});
    }
  }

  // Calls.

  async ask<M extends keyof Methods>(method: M, session: Session, params: Methods[M]["params"], options: Partial<CallOptions> = {}): Promise<Methods[M]["result"]> {
    try {
      const result = await this.#client.request(method, { ...params, sessionId: session.id }, options);
      session.guardStatus.onAnswer(result ?? {});
      this.#isErrorReported = false;
      return result;
    } catch (error) {
      if (error instanceof SidecarError && error.kind !== "aborted" && error.kind !== "closed") {
        session.guardStatus.onError(error);
        this.#reportError(error, session);
      }
      throw error;
    }
  }

  /** Reports an event whose answer is not waited for by anything. */
  async report<M extends keyof Methods>(method: M, session: Session, params: Methods[M]["params"]): Promise<Methods[M]["result"] | undefined> {
    try {
      return await this.ask(method, session, params);
    } catch (error) {
      if (error instanceof SidecarError) return undefined; // reported
      throw error;
    }
  }

  /** The reason to block tools without a decision; `undefined` if there is none. */
  blockReason(session: Session): string | undefined {
    return session.isActive ? ACTIVE : session.guardStatus.blockReason;
  }

  /** How the person ends a run without the sidecar. */
  offlineHint(session: Session): string {
    const commands = session.isActive ? offlineCommands(this.#manifest) : [];
    return commands.length === 0 ? "" : `The user can end it with ${commands.join(" or ")}, which works without the sidecar.`;
  }

  resync(): void {
    this.#client.resync().catch(() => {});
  }

  get #deadlineMs(): number {
    return this.#settings.deadlineMs ?? DEADLINE_MS;
  }

  #newClient(): Client {
    const { binary, args } = this.#settings;
    const { hasPerson } = this.#screen;
    return new Client({
      command: binary ?? sidecarBinary,
      ...(args && { args }),
      deadlineMs: this.#deadlineMs,
      initialize: () => ({
        protocolVersion: 1,
        host: { name: "opencode", version: manifest.server.version },
        cwd: this.#host.directory,
        capabilities: { dialogs: hasPerson, dismiss: hasPerson, widgets: false, settle: true, hints: false, exec: false },
      }),
      restore: async (request) => {
        for (const session of this.#sessions.values()) await this.#restore(request, session);
      },
      apply: (actions, { sessionId, timed }) => this.#apply(actions, this.#sessions.get(sessionId), timed),
      handlers: this.#handlers(),
      onLost: (error) => this.#screen.show(`The workflow sidecar was lost: ${error.message}. It is started again with the next call.`, "warning"),
      onStderr: (text) => {
        this.#stderr = (this.#stderr + text).slice(-400);
        // The code with which a person answers in a terminal is in the log where nothing else can be shown.
        if (!hasPerson) process.stderr.write(text);
      },
      onNoise: () => {}, // opencode draws on the standard error
    });
  }

  #handlers(): HostHandlers {
    const ask = async (sessionId: string | undefined, question: Question, signal: AbortSignal): Promise<string | null> =>
      (await this.#sessions.get(sessionId ?? "")?.questions.ask(question, signal)) ?? null;
    return {
      "ui/confirm": async ({ sessionId, title, message }, signal) => (await ask(sessionId, { title, message, options: NO_OR_YES }, signal)) === NO_OR_YES[1],
      "ui/select": ({ sessionId, title, options }, signal) => ask(sessionId, { title, options }, signal),
      "ui/input": ({ sessionId, title, placeholder }, signal) => ask(sessionId, { title, message: placeholder }, signal),
    };
  }

  // Actions.

  #apply(actions: readonly Action[], session: Session | undefined, timed: boolean): void {
    if (!session) return;
    for (const action of actions) this.#perform(action, session, timed);
  }

  #perform(action: Action, session: Session, timed: boolean): void {
    const command = timed ? undefined : session.command;
    switch (action.type) {
      case "appendEntry":
        return this.#append(action.customType, action.data, session);
      case "sendMessage":
        if (action.options.triggerTurn) return this.send(session, action.message.content);
        // What is typed counts once it is sent.
        if (action.message.display) this.#tell(action.message.content.replace("(type anything", "(send anything"), "info", session, command);
        return;
      case "sendUserMessage":
        if (command) command.messages.push(action.content);
        // A reminder must not interrupt a busy agent.
        else if (!timed || !session.isBusy || action.deliverAs !== undefined) this.send(session, action.content);
        return;
      case "setSessionName":
        return void this.#host.client.session.update({ path: { id: session.id }, body: { title: action.name } }).catch(() => {});
      case "setStatus":
        return this.#screen.showStatus(action.text, session.questions);
      case "notify":
        // The answer to a command is for the model to repeat.
        return this.#tell(action.message, action.level, session, action.secret ? undefined : command);
      case "setWidget":
      case "setHints":
        return;
    }
  }

  #tell(text: string, variant: "info" | "warning" | "error", session: Session, command: Session["command"]): void {
    command?.notices.push(text);
    this.#screen.showBeside(session.questions, text, variant);
  }

  #append(customType: string, data: unknown, session: Session): void {
    try {
      session.append(customType, data);
    } catch (error) {
      this.#screen.show(`Workflows: the state of the run could not be stored: ${messageOf(error)}`, "error", session.questions);
    }
  }

  /** Sends a message that is not the person's, with the agent and the model that they use. */
  send(session: Session, text: string): void {
    session.ownMessages.set(text, undefined);
    const { agent, model } = session;
    const body = { ...(agent && { agent }), ...(model && { model }), parts: [{ type: "text", text }] };
    const failed = (error: unknown) => this.#screen.show(`Workflows: a message could not be sent: ${messageOf(error)}`, "error", session.questions);
    this.#host.client.session.promptAsync({ path: { id: session.id }, body }).then(({ error }) => error && failed(error), failed);
  }

  /** Says why there is no sidecar, once until there is one again. */
  #reportError(error: unknown, session: Session): void {
    if (this.#isErrorReported) return;
    this.#isErrorReported = true;
    const reason = this.blockReason(session);
    const blocked = reason ? ` Tools are blocked, because ${reason}. ${this.offlineHint(session)}`.trimEnd() : "";
    const stderr = this.#stderr.trim();
    this.#stderr = "";
    this.#screen.show(`Workflows: ${messageOf(error)}.${blocked}${stderr === "" ? "" : `\nIt said: ${stderr}`}`, "error");
  }
}
