/**
 * Styles of texts, where pi draws on a terminal.
 */
import { fstatSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { PiContext } from "./host.ts";

const RESET = "\u001b[0m";
const LATER = "Decide later";
const LOOK_MS = 200;

/** True where pi draws on a terminal. Before 0.78 it does not tell the mode. */
export const isTerminal = ({ hasUI, mode }: PiContext): boolean => hasUI && (mode ?? (process.stdout.isTTY ? "tui" : "rpc")) === "tui";

/** True where pi reads its commands from a pipe with a name, which other processes can open: a pair of sockets has none. */
export const readsPipe = (ctx: PiContext): boolean => ctx.hasUI && !isTerminal(ctx) && fstatSync(0).isFIFO();

/** The title of a dialog. pi draws all of it in bold and in colour: here only the first line is. */
export const dialogTitle = (title: string, ctx: PiContext): string => (isTerminal(ctx) ? title.replaceAll("\n", `\n${RESET}`) : title);

/** True if the person has typed a text that is not sent yet. */
export const hasText = (ctx: PiContext): boolean => (ctx.ui.getEditorText?.() ?? "").trim() !== "";

/** Waits until the person has sent what they type: pi's dialog takes the place of the editor, and their keys. */
export async function untilSent(ctx: PiContext, signal: AbortSignal): Promise<void> {
  ctx.ui.notify("The workflow has a question for you. It is shown as soon as the editor is empty.", "warning");
  while (hasText(ctx) && !signal.aborted) await setTimeout(LOOK_MS);
}

/** Asks for one of the options. Where pi draws them, one that answers nothing comes first: a hasty Enter agrees to nothing. */
export async function choose(title: string, options: string[], ctx: PiContext, signal: AbortSignal): Promise<string | null> {
  if (!isTerminal(ctx)) return (await ctx.ui.select(title, options, { signal })) ?? null;
  const chosen = await ctx.ui.select(dialogTitle(title, ctx), [LATER, ...options], { signal });
  return chosen === undefined || chosen === LATER ? null : chosen;
}

/** Asks a yes-or-no question. Where pi draws it, no comes first. */
export const confirm = async (title: string, message: string, ctx: PiContext, signal: AbortSignal): Promise<boolean> =>
  isTerminal(ctx)
    ? (await ctx.ui.select(dialogTitle(`${title}\n\n${message}`, ctx), ["No", "Yes"], { signal })) === "Yes"
    : ctx.ui.confirm(title, message, { signal });

/** A status line: one about a pause stands out. */
export const statusText = (text: string, ctx: PiContext): string => (isTerminal(ctx) && text.includes("⏸") ? ctx.ui.theme.fg("warning", text) : text);
