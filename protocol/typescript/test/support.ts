/**
 * What the tests share: a client of the fake sidecar, and a place for its files.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, type ClientOptions } from "../src/client.ts";
import type { Manifest } from "../src/types.ts";

export const fakeSidecar = fileURLToPath(new URL("fake-sidecar.mjs", import.meta.url));

/** The real sidecar, if one has been built. */
export const binary =
  process.env.WORKFLOW_SIDECAR_BINARY ??
  ["release", "debug"].map((profile) => fileURLToPath(new URL(`../../../target/${profile}/workflow-sidecar`, import.meta.url))).find(existsSync);

export interface Fake {
  answers?: Record<string, unknown>;
  hang?: string[];
  die?: string[];
  errors?: Record<string, unknown>;
  before?: Record<string, unknown[]>;
  raw?: Record<string, string>;
  stderr?: string;
  /** For how many milliseconds it goes on when its input has ended. */
  lingers?: number;
  /** Misbehaves only the first time. */
  once?: boolean;
}

export interface Place {
  directory: string;
  /** What to give to Node to run the fake so. */
  args: string[];
  /** The arguments that the newest sidecar of this place got beside these. */
  arguments(): string[];
  /** The calls that sidecars of this place got, oldest first. */
  calls(): { id?: unknown; method?: string; params?: any; result?: unknown; error?: any }[];
}

/** A directory for one test, and the arguments with which the fake behaves so. */
export function place(t: TestContext, fake: Fake): Place {
  const directory = mkdtempSync(join(tmpdir(), "sidecar-client-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const log = join(directory, "log");
  const behaviour = { ...fake, once: fake.once ? join(directory, "once") : undefined };
  return {
    directory,
    args: [fakeSidecar, JSON.stringify({ ...behaviour, log })],
    arguments: () => (existsSync(`${log}.arguments`) ? JSON.parse(readFileSync(`${log}.arguments`, "utf8")) : []),
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []),
  };
}

/** A client of the fake, closed when the test ends. */
export function clientOf(t: TestContext, { args }: Place, options: Partial<ClientOptions> = {}): Client {
  const client = new Client({
    command: process.execPath,
    args,
    deadlineMs: 5_000,
    initialize: () => ({ protocolVersion: 1, host: { name: "test", version: "1" }, cwd: "/" }),
    ...options,
  });
  t.after(() => client.close());
  return client;
}

export const emptyManifest: Manifest = {
  protocolVersion: 1,
  server: { name: "fake", version: "1" },
  hooks: [],
  tools: [],
  commands: [],
  messageTypes: [],
  entryTypes: [],
};

export const kindOf = (kind: string) => (error: unknown) => (error as { kind?: string }).kind === kind;

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
