/**
 * The conversion of a host's events into hook parameters, and of answers into what pi's handlers return.
 *
 * Nothing is decided here: every answer is converted alike, for any hook.
 */
import { isObject } from "./error.ts";

/** An event as the host emits it. */
export type HookEvent = Record<string, unknown>;

/** Selects the fields that the manifest lists, if the event has them. */
export function select(event: HookEvent, fields: readonly string[]): Record<string, unknown> {
  const selected: Record<string, unknown> = {};
  for (const field of fields) {
    const value = valueOf(event, field);
    if (value !== undefined) selected[field] = value;
  }
  return selected;
}

/** Reads a field of an event. What a response has used stands in its message. */
function valueOf(event: HookEvent, field: string): unknown {
  if (field === "messages" && event.messages !== undefined) return lastAssistant(event.messages);
  if (field !== "tokens" && field !== "microUsd") return event[field];
  const usage = isObject(event.message) && isObject(event.message.usage) ? event.message.usage : {};
  if (field === "tokens") return usage.totalTokens;
  const total = isObject(usage.cost) ? usage.cost.total : undefined;
  return typeof total === "number" ? Math.round(total * 1e6) : undefined;
}

/** Reduces the messages of a run to the end of the assistant's last one: a run may have megabytes. */
function lastAssistant(messages: unknown): object[] {
  const last = Array.isArray(messages) ? messages.findLast((message) => message?.role === "assistant") : undefined;
  if (!last) return [];
  const content: unknown[] = Array.isArray(last.content) ? last.content : [];
  const kept = content.flatMap((part) => {
    if (!isObject(part)) return [];
    if (part.type === "toolCall") return [{ type: part.type }];
    return part.type === "text" ? [{ type: part.type, text: part.text }] : [];
  });
  return [{ role: last.role, stopReason: last.stopReason, content: kept }];
}

/** Converts an answer into the result of pi's handler. */
export function toHandlerResult(result: unknown, event: HookEvent): object | undefined {
  if (!isObject(result)) return undefined;
  const { block, inject, mutation } = result;
  if (block !== undefined && block !== null) {
    const reason = isObject(block) && typeof block.reason === "string" ? block.reason : "The tool is blocked.";
    return { block: true, reason };
  }
  if (isObject(inject)) return { message: inject };
  if (!isObject(mutation)) return undefined;
  if (isObject(mutation.input) && isObject(event.input)) {
    replace(event.input, mutation.input); // pi reads changed arguments from the event itself
    return undefined;
  }
  return mutation;
}

function replace(target: Record<string, unknown>, source: Record<string, unknown>): void {
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, source);
}
