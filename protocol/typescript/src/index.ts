/**
 * The client of workflow-sidecar for any Node host, and the types of the protocol.
 */
export { BINARY_VARIABLE, sidecarBinary } from "./binary.ts";
export { Client, type ClientOptions, type Request } from "./client.ts";
export { Connection, type ConnectionOptions, type HostHandlers, type RequestOptions } from "./connection.ts";
export { type FailureKind, SidecarError } from "./error.ts";
export * from "./types.ts";
