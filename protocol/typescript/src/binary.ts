/**
 * The location of the sidecar's binary: the package for this platform, the environment variable, or the PATH, in this order.
 */
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { SidecarError } from "./error.ts";

/** The environment variable that names a binary where the package for this platform is not installed. */
export const BINARY_VARIABLE = "WORKFLOW_SIDECAR_BINARY";

const KEY = Symbol.for("workflow-sidecar.binary");

/** What was found, by environment. The process keeps it: some versions of pi load this module anew for each session. */
const found = ((globalThis as { [KEY]?: WeakMap<NodeJS.ProcessEnv, string> })[KEY] ??= new WeakMap());

/**
 * Returns the path of the binary, to be spawned with the argument `serve`. Throws a `SidecarError` that says what to install.
 *
 * It stays the same in a process: a program that a tool of the agent puts before it is not started when the sidecar was lost.
 */
export function sidecarBinary(env: NodeJS.ProcessEnv = process.env): string {
  const binary = found.get(env) ?? find(env);
  found.set(env, binary);
  return binary;
}

function find(env: NodeJS.ProcessEnv): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = `workflow-sidecar-${platform}`;
  const packaged = packagedBinary(name);
  if (packaged) return packaged;
  const named = env[BINARY_VARIABLE];
  if (named) {
    if (existsSync(named)) return named;
    throw new SidecarError("missing", `${BINARY_VARIABLE} is ${named}, and there is no such file`);
  }
  const installed = onPath(env.PATH ?? "");
  if (installed) return installed;
  throw new SidecarError(
    "missing",
    `there is no sidecar for ${platform}: install the package ${name} beside workflow-sidecar (npm leaves it out with --omit=optional), ` +
      `or run "cargo install --locked --path crates/workflow-sidecar" in a checkout, which puts it on the PATH, or set ${BINARY_VARIABLE} to its path`,
  );
}

const FILE = process.platform === "win32" ? "workflow-sidecar.exe" : "workflow-sidecar";

/** Returns the binary of the package for this platform, if that is installed. */
function packagedBinary(name: string): string | undefined {
  try {
    // import.meta.resolve is not available under jiti, which loads this file in pi.
    const binary = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "bin", FILE);
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined; // not installed
  }
}

/** Returns the binary of the first directory of the PATH that has one. */
function onPath(path: string): string | undefined {
  const candidates = path.split(delimiter).filter((directory) => directory !== "").map((directory) => join(directory, FILE));
  return candidates.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}
