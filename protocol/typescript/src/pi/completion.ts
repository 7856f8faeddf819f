/**
 * Completions of a command's argument that come too late.
 *
 * pi's editor shows a list until the next one is there, and applies an item of it to the text as it is then. Where keys
 * arrive faster than it makes lists, that mangles what was typed since.
 */
import type { PiCompletion } from "./host.ts";

/** A command and a space: what follows is its argument. */
const ARGUMENT = /^\s*\/\S+\s/;

/** Wraps pi's completion: an item for an argument changes only the text for which it was proposed. */
export function whereProposed(current: PiCompletion): PiCompletion {
  const texts = new WeakMap<object, string>();
  const before = (lines: string[], line: number, column: number) => (lines[line] ?? "").slice(0, column);
  return {
    async getSuggestions(lines, cursorLine, cursorCol, options) {
      const text = before(lines, cursorLine, cursorCol);
      const found = await current.getSuggestions(lines, cursorLine, cursorCol, options);
      if (!found || !ARGUMENT.test(text)) return found;
      // Copies, because the same item may be proposed for several texts.
      const items = found.items.map((item) => ({ ...item }));
      for (const item of items) texts.set(item, text);
      return { ...found, items };
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const text = texts.get(item);
      const isLate = text !== undefined && text !== before(lines, cursorLine, cursorCol);
      return isLate ? { lines, cursorLine, cursorCol } : current.applyCompletion(lines, cursorLine, cursorCol, item, prefix);
    },
    shouldTriggerFileCompletion: (lines, cursorLine, cursorCol) => current.shouldTriggerFileCompletion?.(lines, cursorLine, cursorCol) ?? true,
  };
}
