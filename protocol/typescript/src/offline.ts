/**
 * The members of a manifest that apply while no sidecar can be reached.
 *
 * Not every sidecar's manifest has them; `withOffline` adds those for the entries of version 1. Nothing else in the
 * extension depends on the content of an entry.
 */
import type { CommandDeclaration, EntryType, Manifest } from "./types.ts";

/** The members of an entry that mark an active run. */
export interface ActiveMark {
  /** An entry without this member is ignored. */
  key: string;
  /** The member that is true while tools must not run without a decision. */
  active: string;
}

/** A command that works without a sidecar: the newest entry of a type is appended again with changes. */
export interface OfflineCommand {
  customType: string;
  change: Record<string, unknown>;
  /** The message to the user. */
  done: string;
  /** The message to the user if nothing is active. */
  nothing: string;
}

export type OfflineManifest = Omit<Manifest, "entryTypes" | "commands"> & {
  entryTypes: (EntryType & { mark?: ActiveMark })[];
  commands: (CommandDeclaration & { offline?: OfflineCommand })[];
};

const MARKS: Record<string, ActiveMark> = {
  "workflow:state": { key: "workflowKey", active: "active" },
};

const COMMANDS: Record<string, OfflineCommand> = {
  "cancel-workflow": {
    customType: "workflow:state",
    change: { active: false, cancelled: true, completionNotified: true },
    done: "Workflow cancelled, without the sidecar.",
    nothing: "No active workflow to cancel.",
  },
};

/** Adds the missing members to a manifest. */
export function withOffline(manifest: Manifest): OfflineManifest {
  return {
    ...manifest,
    entryTypes: manifest.entryTypes.map((type) => fill(type, "mark", MARKS[type.customType])),
    commands: manifest.commands.map((command) => fill(command, "offline", COMMANDS[command.name])),
  };
}

function fill<T extends object, K extends string, V>(into: T, member: K, value: V | undefined): T & { [k in K]?: V } {
  return value === undefined || member in into ? into : { ...into, [member]: value };
}

/** Lists the commands that work without a sidecar. */
export const offlineCommands = (manifest: OfflineManifest): string[] => manifest.commands.filter((command) => command.offline).map((command) => `/${command.name}`);

/** The reason to block tools without a decision while a workflow is active. */
export const ACTIVE = "a workflow is active";

/** Formats the block reason of a tool call that could not be decided. */
export const undecidedReason = (tool: unknown, condition: string, cause: string, hint: string): string =>
  `The tool "${String(tool)}" is blocked: ${condition}, and the sidecar cannot be asked whether the tool may run (${cause}). Stop and tell the user. ${hint}`.trim();

/** Formats the text in place of a result that could not be checked. */
export const withheldText = (tool: unknown, condition: string, cause: string): string =>
  `The tool "${String(tool)}" has run, but what it said is withheld: ${condition}, and the sidecar cannot be asked what of it may be read (${cause}). Stop and tell the user.`;
