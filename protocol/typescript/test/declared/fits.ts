/**
 * A compile-time check of the extension's types of pi against the declarations of each host.
 */
import type {
  BeforeAgentStartEventResult,
  ExtensionAPI,
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionEvent,
  ExtensionFactory,
  RegisteredCommand,
  SessionEntry,
  ToolCallEventResult,
  ToolDefinition,
} from "@earendil-works/pi-coding-agent";
import workflows from "../../extensions/workflow-sidecar/index.ts";
import type { TreeEntry } from "../../src/branch.ts";
import type { PiApi, PiCommand, PiCommandContext, PiContext, PiTool } from "../../src/pi/host.ts";

export const factory: ExtensionFactory = workflows;

// Values that pi provides.
export const api = (given: ExtensionAPI): PiApi => given;
export const context = (given: ExtensionContext): PiContext => given;
export const commandContext = (given: ExtensionCommandContext): PiCommandContext => given;
export const customEntry = (given: SessionEntry & { type: "custom" }): TreeEntry => given;

// Values that pi accepts.
export const tool = (ours: PiTool): ToolDefinition => ours as Omit<PiTool, "parameters"> & { parameters: object };
export const command = (ours: PiCommand): Omit<RegisteredCommand, "name" | "sourceInfo"> => ours;
export const blocked: ToolCallEventResult = { block: true, reason: "" };
export const injected: BeforeAgentStartEventResult = { message: { customType: "", content: "", display: false } };

/** The events that a run depends on. */
export const events: ExtensionEvent["type"][] = [
  "session_start",
  "session_shutdown",
  "session_tree",
  "session_compact",
  "context",
  "before_agent_start",
  "agent_start",
  "agent_end",
  "turn_start",
  "turn_end",
  "tool_call",
  "input",
];
