/**
 * The entries of one session in a file of their own, a line each, for hosts whose sessions cannot have entries.
 */
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type BranchEntry, newestOf } from "./branch.ts";
import { isObject } from "./error.ts";
import type { OfflineManifest } from "./offline.ts";

/** The size in bytes from which a file is rewritten with the entries that count. */
const LARGE = 256 * 1024;

export class EntryStore {
  readonly #file: string | null;
  #entries: BranchEntry[] = [];
  /** The length of the file as this process knows it. */
  #size = 0;
  /** True if the last line is incomplete: a process was killed while it wrote. */
  #isTorn = false;

  /** @param file where the entries are; null keeps them in memory */
  constructor(file: string | null) {
    this.#file = file;
    this.reload();
  }

  /** Copies the entries of a session to another one. */
  static copy(from: string, to: string): void {
    if (existsSync(from)) copyFileSync(from, to);
  }

  /** Reads the file again. */
  reload(): void {
    if (this.#file === null || !existsSync(this.#file)) return;
    const text = readFileSync(this.#file, "utf8");
    this.#size = Buffer.byteLength(text);
    this.#isTorn = text !== "" && !text.endsWith("\n");
    this.#entries = text.split("\n").flatMap((line) => {
      try {
        const entry: unknown = JSON.parse(line);
        return isObject(entry) ? [entry as unknown as BranchEntry] : [];
      } catch {
        return []; // an incomplete line
      }
    });
  }

  /** True if another process has changed the file. */
  get isOutdated(): boolean {
    if (this.#file === null) return false;
    return (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) !== this.#size;
  }

  newestFirst(): BranchEntry[] {
    return this.#entries.toReversed();
  }

  append(customType: string, data: unknown): void {
    const entry: BranchEntry = { type: "custom", customType, data };
    this.#entries.push(entry);
    if (this.#file === null) return;
    const line = `${this.#isTorn ? "\n" : ""}${JSON.stringify(entry)}\n`;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    appendFileSync(this.#file, line, { mode: 0o600 });
    this.#isTorn = false;
    this.#size += Buffer.byteLength(line);
  }

  /** Rewrites a large file with the entries that a session is restored from. */
  compact(types: OfflineManifest["entryTypes"]): void {
    if (this.#file === null || this.#size < LARGE) return;
    this.#entries = newestOf(this.newestFirst(), types);
    const text = this.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    writeFileSync(`${this.#file}.new`, text, { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
    this.#size = Buffer.byteLength(text);
    this.#isTorn = false;
  }

  /** Removes the file: the session was deleted. */
  remove(): void {
    if (this.#file !== null) rmSync(this.#file, { force: true });
  }
}
