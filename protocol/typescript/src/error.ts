/**
 * The error class of this package.
 */
import type { ErrorData, ErrorKind } from "./types.ts";

/**
 * The kind of a failure: those of the sidecar's error answers, and those of a sidecar that cannot be reached.
 *
 * - `missing`: there is no binary, or none that can be run
 * - `exited`: the sidecar ended before it answered, or could not be started just now
 * - `late`: no answer came within the deadline
 * - `malformed`: the output is not a valid answer
 * - `resting`: it failed repeatedly, and the next start is not due yet
 * - `aborted`: the caller's signal fired
 * - `closed`: the client was closed
 */
export type FailureKind = ErrorKind | "missing" | "exited" | "late" | "malformed" | "resting" | "aborted" | "closed";

export class SidecarError extends Error {
  override readonly name = "SidecarError";
  readonly kind: FailureKind;
  /** The JSON-RPC code, if the sidecar answered with an error. */
  readonly code: number | undefined;
  /** The location of the problem in the parameters. */
  readonly path: string | undefined;

  constructor(kind: FailureKind, message: string, more: { code?: number; path?: string | undefined; cause?: unknown } = {}) {
    super(message, "cause" in more ? { cause: more.cause } : undefined);
    this.kind = kind;
    this.code = more.code;
    this.path = more.path;
  }

  /** True if the sidecar must be started again before it can answer. */
  get isLoss(): boolean {
    return this.kind === "exited" || this.kind === "late" || this.kind === "malformed";
  }
}

/** Converts the error of an answer, of any shape. */
export function toSidecarError(error: unknown): SidecarError {
  const { code, message, data } = (isObject(error) ? error : {}) as { code?: unknown; message?: unknown; data?: Partial<ErrorData> };
  return new SidecarError(
    data?.kind ?? "internal",
    typeof message === "string" ? message : "the sidecar answered with an error that says nothing",
    { ...(typeof code === "number" && { code }), path: data?.path },
  );
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The message of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
