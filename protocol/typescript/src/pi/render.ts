/**
 * Rendering of messages, tool calls and tool results as the manifest declares it.
 */
import type { MessageDisplay, ToolDeclaration } from "../types.ts";
import { isObject } from "../error.ts";
import type { PiComponent, PiTheme } from "./host.ts";

/** pi's own text component. */
export type TextComponent = new (text: string, paddingX: number, paddingY: number) => PiComponent;

export function renderMessage(Text: TextComponent, display: MessageDisplay, message: { content: unknown }, theme: PiTheme): PiComponent {
  const content = withBold(display.text ?? (typeof message.content === "string" ? message.content : ""), theme);
  const text = theme.fg(display.color, display.bold ? theme.bold(content) : content);
  const prefix = display.prefix === undefined ? "" : theme.fg(display.prefixColor ?? display.color, display.prefix);
  return new Text(prefix + text, 0, 0);
}

/** Renders the tool's name and its required arguments. */
export function renderCall(Text: TextComponent, tool: ToolDeclaration, args: unknown, theme: PiTheme): PiComponent {
  const { required } = tool.parameters;
  const shown = (Array.isArray(required) ? required : []).flatMap((name) => {
    const value = isObject(args) ? args[name] : undefined;
    return typeof value === "string" ? [value] : [];
  });
  return new Text(theme.fg("toolTitle", theme.bold(`${tool.name} `)) + theme.fg("accent", shown.join(" ")), 0, 0);
}

/** The types of results that are shown in full; others show their first line, with the user's comment, until they are expanded. */
const WHOLE = new Set(["cancel", "complete"]);

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

export function renderResult(Text: TextComponent, result: unknown, { expanded = false }: { expanded?: boolean }, theme: PiTheme): PiComponent {
  const { content, resultType, details } = (isObject(result) ? result : {}) as { content?: unknown; resultType?: unknown; details?: unknown };
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const text = isObject(first) && typeof first.text === "string" ? first.text : "";
  const comment = isObject(details) && typeof details.comment === "string" ? ` "${firstLine(details.comment)}"` : "";
  const shown = expanded || WHOLE.has(resultType as string) ? text : firstLine(text) + comment;
  return new Text(theme.fg("toolOutput", withBold(shown, theme)), 0, 0);
}

/** Text between asterisks as Markdown writes it. A glob, such as `src/**`, is none. */
const BOLD = /(?<![^\s(])\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*(?![\w/*])/g;

/** Draws what is in asterisks in bold. */
const withBold = (text: string, theme: PiTheme): string => text.replace(BOLD, (_, inner: string) => theme.bold(inner));
