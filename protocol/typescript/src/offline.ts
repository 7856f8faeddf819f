/**
 * What a manifest says of the time when there is no sidecar to ask.
 *
 * These members are not in every sidecar's manifest; `withOffline` fills in what the entries of version 1 mean.
 * Nothing else in the extension knows what is in an entry.
 */
import type { CommandDeclaration, EntryType, Manifest } from "./types.ts";

/** How to tell from an entry whether something is active. */
export interface ActiveMark {
  /** An entry without this member is passed over. */
  key: string;
  /** The member that is true while tools must not run unasked. */
  active: string;
}

/** How a command is done without a sidecar: the newest entry of a type is appended again, changed. */
export interface OfflineCommand {
  customType: string;
  change: Record<string, unknown>;
  /** What the user is told. */
  done: string;
  /** What the user is told when nothing is active. */
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

/** The commands that work without a sidecar. */
export const waysOut = (manifest: OfflineManifest): string[] => manifest.commands.filter((command) => command.offline).map((command) => `/${command.name}`);

/** Why nothing may go unasked while a workflow is active. */
export const ACTIVE = "a workflow is active";

/** What the agent is told of a tool call that nobody could decide. */
export const undecided = (tool: unknown, holds: string, why: string, wayOut: string): string =>
  `The tool "${String(tool)}" is blocked: ${holds}, and the sidecar cannot be asked whether the tool may run (${why}). Stop and tell the user. ${wayOut}`.trim();

/** What the agent reads in place of a result of which nobody could say what it may read. */
export const withheld = (tool: unknown, holds: string, why: string): string =>
  `The tool "${String(tool)}" has run, but what it said is withheld: ${holds}, and the sidecar cannot be asked what of it may be read (${why}). Stop and tell the user.`;
