/**
 * Tool calls of opencode, under the names that rules are written for.
 *
 * The engine knows opencode's arguments (`filePath`, `workdir`). A patch is a call of `edit` or `write` for each file,
 * because rules name these tools.
 */
import { isObject } from "../error.ts";

export interface EngineCall {
  toolName: string;
  input: unknown;
}

/** The engine's names of tools that have another one. */
const NAMES: Record<string, string> = { glob: "find", list: "ls" };
const PATCH_TOOLS = ["apply_patch", "patch"];
const BEGIN_OF_PATCH = "*** Begin Patch";

/** The engine's name of a tool, for a result. */
export const engineName = (tool: string): string => (PATCH_TOOLS.includes(tool) ? "edit" : (NAMES[tool] ?? tool));

/** The calls that a call stands for. Each of them has to be allowed. */
export function engineCalls(tool: string, input: unknown): EngineCall[] {
  const same = { toolName: engineName(tool), input };
  const patch = textsOf(input).find((text) => text.includes(BEGIN_OF_PATCH));
  if (PATCH_TOOLS.includes(tool)) return patch === undefined ? [same] : patchedFiles(patch);
  // A shell line can contain a patch as well.
  return tool === "bash" && patch !== undefined ? [same, ...patchedFiles(patch)] : [same];
}

const textsOf = (input: unknown): string[] => (isObject(input) ? Object.values(input).filter((value) => typeof value === "string") : []);

/** The calls that a patch stands for, one for each file. A patch without a file is an `edit` of an unknown one. */
function patchedFiles(patch: string): EngineCall[] {
  const files: { toolName: string; input: { path: string; content: string } }[] = [];
  for (const line of patch.split(/\r?\n/)) {
    const [, head, path] = /^\s*\*\*\* (Add File|Move to|Update File|Delete File):(.*)$/.exec(line) ?? [];
    if (head !== undefined && path !== undefined) {
      files.push({ toolName: head === "Add File" || head === "Move to" ? "write" : "edit", input: { path: path.trim(), content: "" } });
    } else if (line.startsWith("+")) {
      const last = files.at(-1);
      if (last) last.input.content += `${line.slice(1)}\n`;
    }
  }
  return files.length === 0 ? [{ toolName: "edit", input: { patch } }] : files;
}
