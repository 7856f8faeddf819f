/**
 * The knowledge about rules that apply without an active workflow.
 *
 * The rules are in settings files that only a sidecar can read. Until one has reported, the existence of such a file
 * counts as a rule.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { SidecarError } from "./error.ts";

const SETTINGS_FILE = "workflow-sidecar.json5";

/** The location of the settings files. */
export interface SettingsLocation {
  /** The project, unless the user does not trust it. */
  cwd: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
}

export class GuardStatus {
  #reported: boolean | undefined;
  #isMissing = false;
  #settings: SettingsLocation = { cwd: undefined };

  /** Forgets earlier reports: a session starts or moves. */
  reset(settings: SettingsLocation): void {
    this.#reported = undefined;
    this.#settings = settings;
  }

  /** Records the answer to the session's start. */
  onRestored({ guarded = false }: { guarded?: boolean }): void {
    this.#reported = guarded;
  }

  /** Records any other answer. */
  onAnswer(result: object): void {
    if ("guarded" in result && typeof result.guarded === "boolean") this.#reported = result.guarded;
  }

  /** Records that the sidecar could not be reached. */
  onError(error: unknown): void {
    if (!(error instanceof SidecarError) || error.kind === "resting") return; // the cause of the earlier failure is not in it
    this.#isMissing = error.kind === "missing";
  }

  /** The reason to block tools without a decision although no workflow is active; `undefined` if there is none. */
  get blockReason(): string | undefined {
    if (this.#reported !== undefined) return this.#reported ? "the settings have rules on tools" : undefined;
    // Without a binary no rule was ever in force.
    if (this.#isMissing) return undefined;
    const file = candidates(this.#settings).find((file) => existsSync(file));
    return file && `${file} may have rules on tools`;
  }
}

function candidates({ cwd, env = process.env }: SettingsLocation): string[] {
  const configured = env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");
  const agentDir = /^~(?=\/|$)/.test(configured) ? join(homedir(), configured.slice(1)) : configured;
  return [join(agentDir, SETTINGS_FILE), ...(cwd === undefined ? [] : [join(cwd, ".pi", SETTINGS_FILE)])];
}
