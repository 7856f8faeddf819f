/**
 * The location of the sidecar's binary: the environment variable, or the package for this platform.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SidecarError } from "./error.ts";

/** The environment variable that names another binary than the installed one. */
export const BINARY_VARIABLE = "WORKFLOW_SIDECAR_BINARY";

/** Returns the path of the binary, to be spawned with the argument `serve`. Throws a `SidecarError` that says what to install. */
export function sidecarBinary(env: NodeJS.ProcessEnv = process.env): string {
  const named = env[BINARY_VARIABLE];
  if (named) {
    if (existsSync(named)) return named;
    throw new SidecarError("missing", `${BINARY_VARIABLE} is ${named}, and there is no such file`);
  }
  const platform = `${process.platform}-${process.arch}`;
  const name = `workflow-sidecar-${platform}`;
  const file = process.platform === "win32" ? "workflow-sidecar.exe" : "workflow-sidecar";
  try {
    // import.meta.resolve is not available under jiti, which loads this file in pi.
    const binary = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "bin", file);
    if (existsSync(binary)) return binary;
  } catch {
    // not installed
  }
  throw new SidecarError(
    "missing",
    `there is no sidecar for ${platform}: install the package ${name} beside workflow-sidecar (npm leaves it out with --omit=optional), ` +
      `or build one with "cargo build --release" and set ${BINARY_VARIABLE} to its path`,
  );
}
