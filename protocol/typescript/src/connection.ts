/**
 * One sidecar process and the lines to and from it.
 *
 * Owns framing, matching of answers to calls, deadlines, and when the process may keep ours alive. It is used
 * up when the process ends: starting another one is the client's business. Knows nothing of workflows.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { answeredError, isObject, SidecarError } from "./error.ts";
import { Lines } from "./lines.ts";
import type { HostMethods, Methods } from "./types.ts";

/** What the sidecar may ask of the host. */
export type HostHandlers = {
  [M in Exclude<keyof HostMethods, "host/apply">]?: (
    params: HostMethods[M]["params"],
    /** Fires when nobody waits for the answer any more. */
    signal: AbortSignal,
  ) => HostMethods[M]["result"] | Promise<HostMethods[M]["result"]>;
};

export interface ConnectionOptions {
  command: string;
  args: readonly string[];
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  handlers: HostHandlers;
  /** Called with each result, in the order in which the answers came and before its call resolves. */
  onResult?: ((result: unknown, sessionId: string) => void) | undefined;
  /** Called with the parameters of each `host/apply`, in order with the results. */
  onApply?: ((params: HostMethods["host/apply"]["params"]) => void) | undefined;
  /** Gets what the sidecar logs; without it, that goes to our standard error. */
  onStderr?: ((text: string) => void) | undefined;
  /** Gets a word on every line that could not be used. */
  onNoise?: ((what: string) => void) | undefined;
}

export interface RequestOptions {
  /** How long to wait for the answer, in milliseconds. */
  deadlineMs: number;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** The answer may wait for a person or a program: past the deadline it is enough that the sidecar answers something else. */
  patient?: boolean | undefined;
}

interface Pending {
  sessionId: string;
  /** When a question was answered that may have been asked on its account: the sidecar has the whole deadline from there on. */
  answeredAt: number;
  resolve: (result: unknown) => void;
  reject: (error: SidecarError) => void;
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** What a sidecar may write that cannot be used; a program that begins with such a line is none. */
const MAX_NOISE = 100;
/** What was written before the end is read within this time, even if a descendant keeps the pipe open. */
const LAST_WORDS_MS = 100;

export class Connection {
  /** Resolves with what ended it, once it has. */
  readonly ended: Promise<SidecarError>;

  readonly #options: ConnectionOptions;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #over = new AbortController();
  #ids = 0;
  /** The open questions of the sidecar, each with the last call that was made before it. */
  readonly #questions = new Set<{ after: number }>();
  #noises = MAX_NOISE;
  #end: SidecarError | undefined;
  #mayBringBack = false;
  #settleEnd!: (error: SidecarError) => void;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => (this.#settleEnd = resolve));
    this.#child = spawned(options);
    this.#listen();
    this.#holdOpen(false);
  }

  /** Whether it may be bringing code back, which it finishes when its input has ended; killed, it leaves the code half way. */
  get mayBringBack(): boolean {
    return this.#mayBringBack;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  request<M extends keyof Methods>(method: M, params: Methods[M]["params"], options: RequestOptions): Promise<Methods[M]["result"]> {
    const { signal } = options;
    if (this.#end) return Promise.reject(this.#end);
    if (signal?.aborted) return Promise.reject(aborted(method));
    const id = (this.#ids += 1);

    return new Promise<unknown>((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#pending.delete(id);
        if (this.#pending.size === 0) this.#holdOpen(false);
      };
      const fail = (error: SidecarError) => {
        finish();
        reject(error);
      };
      const onAbort = () => fail(aborted(method));
      const onDeadline = () => {
        const late = () => fail(new SidecarError("late", `${method} was not answered within ${options.deadlineMs} ms`));
        const wait = () => (timer = setTimeout(onDeadline, options.deadlineMs));
        // A dialog that was open already has nothing to do with this call, however long nobody answers it.
        const asks = [...this.#questions].some(({ after }) => after >= id);
        if (asks || Date.now() - pending.answeredAt < options.deadlineMs) wait();
        else if (options.patient) this.#probe(options.deadlineMs).then(() => this.#pending.has(id) && wait(), late);
        else late();
      };
      let timer = setTimeout(onDeadline, options.deadlineMs);
      signal?.addEventListener("abort", onAbort, { once: true });
      const sessionId = (params as { sessionId?: string }).sessionId ?? "";
      const pending: Pending = {
        sessionId,
        answeredAt: 0,
        reject: fail,
        resolve: (result) => {
          finish();
          resolve(result);
        },
      };
      this.#pending.set(id, pending);
      if (method === "hook/branch") this.#mayBringBack = true;
      this.#holdOpen(true);
      this.#write({ id, method, params });
    }) as Promise<Methods[M]["result"]>;
  }

  /** Lets it finish what it has read, and ends it by force if that takes longer than `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#holdOpen(true);
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.kill(), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #listen(): void {
    const { stdin, stdout, stderr } = this.#child;
    const lines = new Lines((line) => this.#line(line), MAX_LINE_BYTES);
    const take = (feed: () => void) => {
      try {
        feed();
      } catch (error) {
        this.#giveUp((error as Error).message);
      }
    };
    stdout?.on("data", (chunk: Buffer) => take(() => lines.push(chunk)));
    stdout?.on("end", () => take(() => lines.end()));
    stdout?.on("error", () => {});
    stdin?.on("error", () => {}); // it is gone: its end says so
    if (this.#options.onStderr) stderr?.setEncoding("utf8").on("data", this.#options.onStderr);

    this.#child.on("error", (error) => {
      // Also emitted when a signal cannot be sent, which ends nothing.
      if (this.#child.pid === undefined) this.#finish(notStarted(this.#options, error));
    });
    const gone = (code: number | null, signal: NodeJS.Signals | null) =>
      this.#finish(new SidecarError("exited", `the sidecar ended (${signal ?? `exit code ${code}`})`));
    this.#child.on("exit", (code, signal) => setTimeout(gone, LAST_WORDS_MS, code, signal).unref());
    this.#child.on("close", gone);
  }

  #finish(end: SidecarError): void {
    if (this.#end) return;
    this.#end = end;
    for (const { reject } of [...this.#pending.values()]) reject(end);
    this.#over.abort(end);
    this.#settleEnd(end);
  }

  /** A pending call must not let our process end; an idle sidecar must not keep it alive. */
  #holdOpen(open: boolean): void {
    if (!open && this.#child.stdin?.writableEnded) return; // it is being closed, which is waited for
    const { stdin, stdout, stderr } = this.#child;
    for (const held of [this.#child, stdin as Socket | null, stdout as Socket | null, stderr as Socket | null]) {
      if (open) held?.ref?.();
      else held?.unref?.();
    }
  }

  /** Resolves when the sidecar answers anything at all. */
  async #probe(deadlineMs: number): Promise<void> {
    try {
      await this.request("session/state", {}, { deadlineMs });
    } catch (error) {
      if ((error as SidecarError).code === undefined) throw error;
    }
  }

  #write(message: Record<string, unknown>): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #line(line: string): void {
    if (line === "" || this.#end) return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#noise(`the sidecar sent a line that is not JSON: ${line.slice(0, 200)}`);
      return;
    }
    if (!isObject(message)) this.#noise(`the sidecar sent a line that is no message: ${line.slice(0, 200)}`);
    else if (typeof message.method !== "string") this.#answer(message);
    else if (message.id === undefined) this.#notification(message.method, message.params);
    else void this.#question(message.id, message.method, message.params);
  }

  #answer(message: Record<string, unknown>): void {
    const pending = typeof message.id === "number" ? this.#pending.get(message.id) : undefined;
    if (!pending) {
      this.#noise(`an answer nobody waits for: ${JSON.stringify(message.id)}`);
    } else if ("error" in message) {
      pending.reject(answeredError(message.error));
    } else if (!("result" in message) || (message.result !== null && !isObject(message.result))) {
      pending.reject(new SidecarError("malformed", "the sidecar's answer holds no result"));
    } else {
      this.#noises = 0;
      this.#options.onResult?.(message.result, pending.sessionId);
      pending.resolve(message.result);
    }
  }

  #notification(method: string, params: unknown): void {
    if (method === "host/apply") this.#options.onApply?.(params as HostMethods["host/apply"]["params"]);
    else if (method === "$/log") void this.#options.handlers["$/log"]?.(params as HostMethods["$/log"]["params"], this.#over.signal);
    else this.#noise(`an unknown notification: ${method}`);
  }

  async #question(id: unknown, method: string, params: unknown): Promise<void> {
    const handler = this.#options.handlers[method as keyof HostHandlers] as
      | ((params: unknown, signal: AbortSignal) => unknown)
      | undefined;
    if (!handler) {
      this.#write({ id, error: { code: -32601, message: `this host does not answer ${method}` } });
      return;
    }
    const question = { after: this.#ids };
    this.#questions.add(question);
    try {
      this.#write({ id, result: (await handler(params, this.#over.signal)) ?? null });
    } catch (error) {
      this.#write({ id, error: { code: -32603, message: error instanceof Error ? error.message : String(error) } });
    } finally {
      this.#questions.delete(question);
      for (const [id, pending] of this.#pending) if (id <= question.after) pending.answeredAt = Date.now();
    }
  }

  #noise(what: string): void {
    this.#options.onNoise?.(what);
    this.#noises += 1;
    if (this.#noises > MAX_NOISE) this.#giveUp(what);
  }

  #giveUp(why: string): void {
    this.#finish(new SidecarError("malformed", `the sidecar's output cannot be understood: ${why}`));
    this.kill();
  }
}

const aborted = (method: string) => new SidecarError("aborted", `${method} was given up`);

function spawned(options: ConnectionOptions): ChildProcess {
  const { command, args, cwd, env, onStderr } = options;
  try {
    return spawn(command, [...args], {
      cwd,
      env,
      // Never our standard output: a host may speak a protocol of its own there.
      stdio: ["pipe", "pipe", onStderr ? "pipe" : "inherit"],
      windowsHide: true,
    });
  } catch (error) {
    throw notStarted(options, error as NodeJS.ErrnoException);
  }
}

/** Only where there is no program is there none: whatever else keeps one from starting may pass, and says nothing of what it would forbid. */
function notStarted({ command, cwd }: ConnectionOptions, error: NodeJS.ErrnoException): SidecarError {
  const isMissing = ["ENOENT", "EACCES", "ENOEXEC"].includes(error.code ?? "") && (cwd === undefined || existsSync(cwd));
  return new SidecarError(isMissing ? "missing" : "exited", `${command} cannot be started: ${error.message}`, { cause: error });
}
