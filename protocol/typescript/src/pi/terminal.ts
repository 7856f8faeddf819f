/**
 * Styles of texts, where pi draws on a terminal.
 */
import type { PiContext } from "./host.ts";

const RESET = "\u001b[0m";

/** True where pi draws on a terminal. Before 0.78 it does not tell the mode. */
export const isTerminal = ({ hasUI, mode }: PiContext): boolean => hasUI && (mode ?? (process.stdout.isTTY ? "tui" : "rpc")) === "tui";

/** The title of a dialog. pi draws all of it in bold and in colour: here only the first line is. */
export const dialogTitle = (title: string, ctx: PiContext): string => (isTerminal(ctx) ? title.replaceAll("\n", `\n${RESET}`) : title);

/** Asks a yes-or-no question. Where pi draws it, no comes first: a hasty Enter agrees to nothing. */
export const confirm = async (title: string, message: string, ctx: PiContext, signal: AbortSignal): Promise<boolean> =>
  isTerminal(ctx)
    ? (await ctx.ui.select(dialogTitle(`${title}\n\n${message}`, ctx), ["No", "Yes"], { signal })) === "Yes"
    : ctx.ui.confirm(title, message, { signal });

/** A status line: one about a pause stands out. */
export const statusText = (text: string, ctx: PiContext): string => (isTerminal(ctx) && text.includes("⏸") ? ctx.ui.theme.fg("warning", text) : text);
