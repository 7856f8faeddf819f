/**
 * The entry point that opencode loads.
 */
import { plugin } from "./plugin.ts";

export default { id: "workflow-sidecar", server: plugin };
