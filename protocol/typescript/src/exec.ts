/**
 * `host/exec` for hosts whose own function to run a command takes neither a directory nor variables.
 */
import type { HostMethods } from "./types.ts";

type ExecParams = HostMethods["host/exec"]["params"];
type ExecResult = HostMethods["host/exec"]["result"];

/** A command and its arguments. */
export type CommandLine = [command: string, args: string[]];

/** Adds variables to a command. */
export function withEnv({ command, args, env = {} }: ExecParams): CommandLine {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return variables.length === 0 ? [command, args] : ["env", [...variables, command, ...args]];
}

/** Adds a directory to a command. */
export function inDirectory([command, args]: CommandLine, cwd: string | undefined): CommandLine {
  return cwd === undefined ? [command, args] : ["sh", ["-c", 'cd -- "$0" && exec "$@"', cwd, command, ...args]];
}

/** Leaves out the beginning of outputs that are longer than the sidecar needs. */
export function bounded({ stdout, stderr, ...rest }: ExecResult, { maxOutput }: ExecParams): ExecResult {
  const end = (text: string): [string, boolean] => {
    const bytes = Buffer.from(text);
    if (maxOutput === undefined || bytes.length <= maxOutput) return [text, false];
    return [bytes.subarray(bytes.length - maxOutput).toString(), true];
  };
  const [[out, outCut], [err, errCut]] = [end(stdout), end(stderr)];
  return { ...rest, stdout: out, stderr: err, ...((outCut || errCut) && { truncated: true }) };
}
