/**
 * The published package under a mock pi host, in this process: one session, the handlers that the
 * package registered, and its effects. Independent of cases and time.
 *
 * @module
 */

import { createJiti } from "jiti";

const jiti = createJiti(import.meta.url);
/** Loads a module of the package's source. @type {(path: string, options?: {default: true}) => Promise<any>} */
export const source = (path, options) => jiti.import(`@harms-haus/pi-workflows/src/${path}`, options);
const extension = await source("index.ts", { default: true });

/** One session of the package: the mock host, the registered handlers, the effects. */
export class Session {
  /** @param {{cwd: string, agentDir: string}} place */
  constructor({ cwd, agentDir }) {
    process.env.PI_CODING_AGENT_DIR = agentDir;
    this.cwd = cwd;
    this.branch = [];
    this.effects = [];
    this.hasUI = true;
    this.answer = false;
    this.handlers = new Map();
    this.tools = new Map();
    this.commands = new Map();
    extension(this.pi());
  }

  record(effect) {
    this.effects.push(effect);
  }

  /** Returns the part of the ExtensionAPI that the package uses. */
  pi() {
    return {
      on: (event, handler) => this.handlers.set(event, handler),
      registerTool: (tool) => this.tools.set(tool.name, tool),
      registerCommand: (name, command) => this.commands.set(name, command),
      registerMessageRenderer: () => {},
      appendEntry: (customType, data) => this.record({ kind: "entry", customType, data: structuredClone(data) }),
      sendMessage: (message, options) => this.record({ kind: "message", ...message, options }),
      sendUserMessage: (content, options) => this.record({ kind: "user", content, ...options }),
      setSessionName: (name) => this.record({ kind: "name", name }),
    };
  }

  /** Returns the part of the ExtensionContext that the package uses. A host without UI answers dialogs with no. */
  context() {
    const hasUI = this.hasUI;
    return {
      cwd: this.cwd,
      hasUI,
      sessionManager: { getBranch: () => this.branch },
      ui: {
        setStatus: (key, text) => this.record({ kind: "status", key, text: text ?? null }),
        setWidget: (key, lines, options) =>
          this.record({ kind: "widget", key, lines: lines ?? null, placement: options?.placement }),
        notify: (message, level) => this.record({ kind: "notify", message, level }),
        confirm: async (title, message) => {
          this.record({ kind: "confirm", title, message, asked: hasUI });
          return hasUI && this.answer;
        },
      },
    };
  }

  async hook(name, event) {
    const handler = this.handlers.get(name);
    return handler ? await handler(event, this.context()) : undefined;
  }
}
