/**
 * Shared helpers: a client of the fake sidecar, and a directory for its files.
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
  /** The delay in milliseconds between the end of its input and its exit. */
  lingers?: number;
  /** Misbehaves only the first time. */
  once?: boolean;
}

export interface Fixture {
  directory: string;
  /** Node's arguments that run the fake with this behaviour. */
  args: string[];
  /** The further arguments of the newest sidecar. */
  arguments(): string[];
  /** The calls that the sidecars received, oldest first. */
  calls(): { id?: unknown; method?: string; params?: any; result?: unknown; error?: any }[];
}

/** Creates a directory for one test, and Node's arguments for a fake with this behaviour. */
export function fixture(t: TestContext, fake: Fake): Fixture {
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
export function clientOf(t: TestContext, { args }: Fixture, options: Partial<ClientOptions> = {}): Client {
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
