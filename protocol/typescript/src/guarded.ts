/**
 * What is known of rules that hold without a workflow: what a sidecar said, or that nobody has said anything yet.
 *
 * The rules are in settings files that only a sidecar can read. Until one has, it counts that there is such a file.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { SidecarError } from "./error.ts";

const SETTINGS_FILE = "workflow-sidecar.json5";

/** Where settings may be. */
export interface SettingsOf {
  /** The project, unless the user does not trust it. */
  cwd: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
}

export class Guarded {
  #said: boolean | undefined;
  #isMissing = false;
  #settings: SettingsOf = { cwd: undefined };

  /** A session starts, or stands somewhere else: what was said before is not said of it. */
  begin(settings: SettingsOf): void {
    this.#said = undefined;
    this.#settings = settings;
  }

  /** The sidecar took the session up. */
  begun({ guarded = false }: { guarded?: boolean }): void {
    this.#said = guarded;
  }

  /** The sidecar answered something. */
  answered(result: object): void {
    if ("guarded" in result && typeof result.guarded === "boolean") this.#said = result.guarded;
  }

  /** The sidecar could not be asked. */
  failed(error: unknown): void {
    if (!(error instanceof SidecarError) || error.kind === "resting") return; // that says nothing of why it failed before
    this.#isMissing = error.kind === "missing";
  }

  /** Why nothing may go unasked though no workflow is active; `undefined` if it may. */
  get why(): string | undefined {
    if (this.#said !== undefined) return this.#said ? "the settings have rules on tools" : undefined;
    // Whoever has no binary never had a rule that held.
    if (this.#isMissing) return undefined;
    const file = candidates(this.#settings).find((file) => existsSync(file));
    return file && `${file} may have rules on tools`;
  }
}

function candidates({ cwd, env = process.env }: SettingsOf): string[] {
  const said = env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");
  const agentDir = /^~(?=\/|$)/.test(said) ? join(homedir(), said.slice(1)) : said;
  return [join(agentDir, SETTINGS_FILE), ...(cwd === undefined ? [] : [join(cwd, ".pi", SETTINGS_FILE)])];
}
