/**
 * The entry point that pi loads. pi lists an extension by the name of its directory.
 */
import { createRequire } from "node:module";
import { Text } from "@earendil-works/pi-tui";
import { extension } from "../../src/pi/extension.ts";
import { manifest } from "../../src/pi/manifest.ts";

/** The environment variable with the deadline of an answer, in milliseconds. */
const DEADLINE_VARIABLE = "WORKFLOW_SIDECAR_DEADLINE";

const deadlineMs = Number(process.env[DEADLINE_VARIABLE]);

export default extension({
  Text,
  manifest,
  version: createRequire(import.meta.url)("../../package.json").version,
  ...(deadlineMs > 0 && { deadlineMs }),
});
