/**
 * Intended differences in the meaning of files. Each is a change of the files: the package with the
 * changed files must behave like ours with the original ones. So a workflow that ours refuses is removed
 * for the package, and one that ours repairs is repaired for it; anything else is a difference.
 *
 * @module
 */

import { parse } from "yaml";
import { PROTO_SUBSTITUTE } from "./substitute-keys.mjs";
import { joined } from "../generate/definitions.mjs";

/** @typedef {import("../types.mjs").Tree} Tree */
/** @typedef {(id: string) => void} Note   called once for each use of a difference */
/** @typedef {Record<string, {error: string | null, refs: string[]}>} Survey  the package's reading of one tier's directories */

const yamlOf = (key) => `${key}/workflow.yaml`;
const isText = (content) => typeof content === "string";

/** Invalid YAML 1.2 that the package's parser accepts: control characters, half a surrogate pair, an unquoted byte order mark. */
const NOT_YAML = /[\x00-\x08\x0b\x0c\x0e-\x1f]|\\ud[89ab][0-9a-f]{2}(?!\\ud)|(?:: |- )\ufeff/i;

/** Applies the repairs that depend on one tier only. @param {Tree} tree @param {Note} note @returns {Tree} */
export function repaired(tree, note) {
  const files = linkedDirectories(tree, note);
  for (const [path, content] of Object.entries(files)) {
    if (!isText(content)) continue;
    let text = content;
    if (path.endsWith(".md") && /^\ufeff---/.test(text)) {
      note("B47");
      text = text.slice(1);
    }
    if (/!!float \d+$/m.test(text)) {
      note("YAML");
      text = text.replace(/!!float (\d+)$/gm, "$1");
    }
    if (path.endsWith(".md")) text = withName(withoutOddProfiles(text, note), note);
    if (path.endsWith("/workflow.yaml")) text = withoutBadLength(text, note);
    files[path] = text;
  }
  return withoutProto(files, note);
}

/** Replaces a linked workflow directory by its files (B25). */
function linkedDirectories(tree, note) {
  /** @type {Tree} */
  const files = {};
  for (const [path, content] of Object.entries(tree)) {
    const target = typeof content === "object" && "link" in content ? content.link : null;
    if (target === null || path.includes("/") || !isText(tree[yamlOf(target)])) {
      files[path] = content;
      continue;
    }
    note("B25");
    for (const [inner, text] of Object.entries(tree)) {
      if (inner.startsWith(`${target}/`)) files[path + inner.slice(target.length)] = text;
    }
  }
  return files;
}

/** Removes a list of profiles with items that are not strings (B56). */
function withoutOddProfiles(text, note) {
  const profiles = frontmatter(text)?.availableProfiles;
  if (!Array.isArray(profiles) || profiles.every((profile) => typeof profile === "string")) return text;
  note("B56");
  return text.replace(/^availableProfiles:[^\n]*\n(?:[ \t]+[^\n]*\n)*/m, "");
}

/** Adds the name that ours makes of the id of a phase without one. */
function withName(text, note) {
  const front = frontmatter(text);
  if (typeof front?.id !== "string" || front.id.trim() === "" || "name" in front) return text;
  note("Names");
  const words = front.id.replace(/[-_]/g, " ");
  const [first] = words;
  const name = first.toUpperCase() + words.slice(first.length);
  return text.replace(/^(\ufeff?---[^\n]*\n)/, `$1name: ${JSON.stringify(name)}\n`);
}

/** Removes a length that is not a whole number (B17). */
function withoutBadLength(text, note) {
  const length = parsed(text)?.sessionNameMaxLength;
  if (typeof length !== "number" || (Number.isInteger(length) && length >= 0)) return text;
  note("B17");
  return text.replace(/^sessionNameMaxLength:[^\n]*\n/m, "");
}

/** Renames the key `__proto__`, which a JavaScript object cannot have (B18). */
function withoutProto(files, note) {
  if (!(yamlOf("__proto__") in files)) return files;
  note("B18");
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [path.replace(/^__proto__\//, `${PROTO_SUBSTITUTE}/`), content]),
  );
}

/** Lists the workflows of one tier that ours refuses, with the reason's id. @param {Tree} tree @param {Survey} survey @returns {Map<string, string>} */
export function refused(tree, survey) {
  const reasons = new Map();
  for (const key of Object.keys(survey)) {
    const reason = reasonToRefuse(tree, key);
    if (reason) reasons.set(key, reason);
  }
  return reasons;
}

function reasonToRefuse(tree, key) {
  const text = tree[yamlOf(key)];
  const yaml = parsed(text);
  if (!yaml) return null;
  if (NOT_YAML.test(text)) return "YAML";
  if (yaml.loopable != null && typeof yaml.loopable !== "boolean") return "B34";
  if (yaml.show != null && yaml.show !== "user" && yaml.show !== "workflows") return "B34";
  for (const entry of yaml.phases ?? []) {
    if (typeof entry !== "string") continue;
    if (entry.startsWith("/") || entry.startsWith("${ROOT}")) return "B28";
    const phase = fileAt(tree, joined(key, entry));
    const reason = NOT_YAML.test(yamlOfPhase(phase)) ? "YAML" : reasonInPhase(frontmatter(phase));
    if (reason) return reason;
  }
  return null;
}

/** Names that no tool has: with a sign or white space, a path, a slip, in typographic quotes. */
const NO_TOOL = /[?[\]{}(),;|&^$!\\"'`<>=+%*\s\u0085“”]|^[.~/]|\/$|^(bsh|editt|wrte)$/u;

function reasonInPhase(front) {
  if (!front || typeof front !== "object") return null;
  if ("toolz" in front || "gate" in front) return "Strict keys";
  const { tools } = front;
  if (tools === undefined || tools === null) return null;
  if (typeof tools !== "object" || Array.isArray(tools)) return "B33";
  for (const [name, list] of Object.entries(tools)) {
    if (name !== "blacklist" && name !== "whitelist") return "Strict keys";
    if (!Array.isArray(list)) return "B33";
    if (list.some((item) => typeof item !== "string")) return "B56";
    if (list.some((item) => item.trim() !== item || item === "" || NO_TOOL.test(item))) return "Strict keys";
  }
  return null;
}

/**
 * Lists the workflows that are invalid in one tier only: tiers are validated before they are merged (B24). An override that parses but is not valid leaves
 * the global workflow in place; an override does not depend on an invalid global workflow.
 *
 * @param {Survey} project @param {Survey} global
 */
export function invalidOfBothTiers(project, global) {
  const both = Object.keys(project).filter((key) => key in global);
  return {
    project: both.filter((key) => project[key].error !== null && global[key].error === null),
    global: both.filter((key) => global[key].error !== null && project[key].error === null),
  };
}

/**
 * Lists the workflows with missing or cyclic references, with the ids of the package's errors about them.
 * Empty if the package has none.
 *
 * @param {Survey} merged  the valid workflows of both tiers
 */
export function entangled(merged) {
  const keys = Object.keys(merged).filter((key) => merged[key].error === null);
  const present = new Set(keys);
  const reach = new Map(keys.map((key) => [key, reachable(merged, present, key)]));
  const inCycle = new Set(keys.filter((key) => reach.get(key).has(key)));
  const gone = new Set(inCycle);
  const ids = new Set();
  for (const key of inCycle) {
    if (key.includes(". ")) ids.add("B08");
    const ring = merged[key].refs.filter((ref) => inCycle.has(ref) && reach.get(ref)?.has(key));
    if (new Set(ring).size > 1) ids.add("B09");
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (const key of keys) {
      if (gone.has(key)) continue;
      const broken = merged[key].refs.filter((ref) => !present.has(ref) || gone.has(ref));
      if (broken.length === 0) continue;
      const seen = broken.filter((ref) => inCycle.has(ref) || !(present.has(ref) || ref in Object.prototype));
      if (broken.some((ref) => !present.has(ref) && ref in Object.prototype)) ids.add("B19");
      else if (seen.length === 0) ids.add("B10");
      gone.add(key);
      changed = true;
    }
  }
  return ids.size > 0 ? { gone, ids } : { gone: new Set(), ids };
}

function reachable(merged, present, from) {
  const met = new Set();
  const waiting = [...merged[from].refs];
  while (waiting.length > 0) {
    const key = waiting.pop();
    if (!present.has(key) || met.has(key)) continue;
    met.add(key);
    waiting.push(...merged[key].refs);
  }
  return met;
}

/**
 * Lists internal workflows with the command of a later visible one (B32): the package finds the internal
 * one first and refuses.
 *
 * @param {Record<string, {error: string | null, commandName: string, show: string}>} merged  in the package's order
 */
export function shadowing(merged) {
  const entries = Object.entries(merged).filter(([, w]) => w.error === null);
  return entries
    .filter(([, w], at) => w.show === "workflows" && w.commandName !== "" && entries.slice(at).some(([, other]) => other.show === "user" && other.commandName === w.commandName))
    .map(([key]) => key);
}

/** Removes the commands of some workflows. @param {Tree} tree @param {string[]} keys @returns {Tree} */
export function withoutCommand(tree, keys) {
  const files = { ...tree };
  for (const key of keys) {
    const text = files[yamlOf(key)];
    if (isText(text)) files[yamlOf(key)] = text.replace(/^commandName:[^\n]*\n(?:[ \t]+[^\n]*\n)*/m, "");
  }
  return files;
}

/** Removes some workflows; shared files stay. @param {Tree} tree @param {Iterable<string>} keys @returns {Tree} */
export function without(tree, keys) {
  const files = { ...tree };
  for (const key of keys) delete files[yamlOf(key)];
  return files;
}

function parsed(text) {
  try {
    const value = parse(text, { logLevel: "error" });
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function fileAt(tree, path) {
  const content = tree[path];
  if (content && typeof content === "object" && "link" in content) return fileAt(tree, joined(path.slice(0, path.lastIndexOf("/")), content.link));
  return isText(content) ? content : null;
}

/** Returns the frontmatter of a phase file, as the host reads it. */
function yamlOfPhase(text) {
  const normal = (text ?? "").replace(/\r\n?/g, "\n");
  const end = normal.startsWith("---") ? normal.indexOf("\n---", 3) : -1;
  return end < 0 ? "" : normal.slice(4, end);
}

function frontmatter(text) {
  return parsed(yamlOfPhase(text));
}
