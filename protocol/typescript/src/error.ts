/**
 * The one kind of error that this package throws.
 */
import type { ErrorData, ErrorKind } from "./types.ts";

/**
 * What went wrong with a call: the sidecar's own kinds, and those of a sidecar that cannot be asked.
 *
 * - `missing`: there is no binary, or none that can be run
 * - `exited`: the sidecar ended before it answered, or could not be started just now
 * - `late`: no answer came within the deadline
 * - `malformed`: what came is no answer
 * - `resting`: it failed repeatedly and is not started again just yet
 * - `aborted`: the caller's signal fired
 * - `closed`: the client was closed
 */
export type FailureKind = ErrorKind | "missing" | "exited" | "late" | "malformed" | "resting" | "aborted" | "closed";

export class SidecarError extends Error {
  override readonly name = "SidecarError";
  readonly kind: FailureKind;
  /** The JSON-RPC code, if the sidecar answered with an error. */
  readonly code: number | undefined;
  /** Where in the parameters it went wrong. */
  readonly path: string | undefined;

  constructor(kind: FailureKind, message: string, more: { code?: number; path?: string | undefined; cause?: unknown } = {}) {
    super(message, "cause" in more ? { cause: more.cause } : undefined);
    this.kind = kind;
    this.code = more.code;
    this.path = more.path;
  }

  /** The sidecar has to be started anew before it can answer anything. */
  get isLoss(): boolean {
    return this.kind === "exited" || this.kind === "late" || this.kind === "malformed";
  }
}

/** The error that an answer carries, whatever shape it has. */
export function answeredError(error: unknown): SidecarError {
  const { code, message, data } = (isObject(error) ? error : {}) as { code?: unknown; message?: unknown; data?: Partial<ErrorData> };
  return new SidecarError(
    data?.kind ?? "internal",
    typeof message === "string" ? message : "the sidecar answered with an error that says nothing",
    { ...(typeof code === "number" && { code }), path: data?.path },
  );
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
