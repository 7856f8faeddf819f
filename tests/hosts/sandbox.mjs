/**
 * The environment of one pi: a home, agent directory and working directory that are independent of this machine.
 *
 * Responsible for files and environment variables; starts no processes.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A directory's content: text, or a directory. @typedef {{[name: string]: string | Tree}} Tree */

/**
 * @typedef {object} Sandbox
 * @property {string} root
 * @property {string} home
 * @property {string} agent     pi's agent directory
 * @property {string} cwd
 * @property {string} sessions
 * @property {Record<string, string>} env
 */

/**
 * @param {object} contents
 * @param {Tree} [contents.workflows]  workflows of the agent directory
 * @param {Tree} [contents.agent]    further files of the agent directory
 * @param {Tree} [contents.project]    files of the working directory
 * @param {Record<string, unknown>} [contents.settings]  pi's settings, in addition to those of every run
 * @param {Record<string, string>} [contents.env]
 * @param {string} modelUrl
 * @returns {Sandbox}
 */
export function createSandbox({ workflows = {}, agent: own = {}, project = {}, settings = {}, env = {} }, modelUrl) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pi-host-')));
  const home = join(root, 'home');
  const agent = join(root, 'agent');
  const cwd = join(root, 'project');
  const sessions = join(root, 'sessions');
  writeTree(root, {
    home: {},
    sessions: {},
    project,
    agent: {
      ...own,
      workflows,
      'models.json': JSON.stringify(provider(modelUrl)),
      'settings.json': JSON.stringify({ ...quietSettings, ...settings }),
    },
  });
  return { root, home, agent, cwd, sessions, env: { ...environment(home, agent, modelUrl), ...env } };
}

/** Removes a sandbox from the disk. @param {Sandbox} sandbox */
export const clear = ({ root }) => rmSync(root, { recursive: true, force: true });

/** The arguments that make pi use the scripted model only. */
export const commandLine = (/** @type {Sandbox} */ { sessions }) => [
  ...['--provider', 'scripted', '--model', 'scripted', '--session-dir', sessions],
  ...['--offline', '--no-extensions', '--no-skills', '--no-prompt-templates', '--no-themes', '--no-context-files'],
];

/** @param {string} directory @param {Tree} tree */
function writeTree(directory, tree) {
  for (const [name, content] of Object.entries(tree)) {
    const path = join(directory, name);
    mkdirSync(typeof content === 'string' ? dirname(path) : path, { recursive: true });
    if (typeof content === 'string') writeFileSync(path, content);
    else writeTree(path, content);
  }
}

/** @param {string} modelUrl */
const provider = (modelUrl) => ({
  providers: {
    scripted: {
      baseUrl: `${modelUrl}/v1`,
      api: 'openai-completions',
      apiKey: 'none',
      compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
      models: ['scripted', 'second'].map((id) => ({ id, name: id, reasoning: false, input: ['text'], contextWindow: 128_000, maxTokens: 4_000 })),
    },
  },
});

/** Settings without retries, compaction and telemetry. */
const quietSettings = {
  quietStartup: true,
  enableInstallTelemetry: false,
  retry: { enabled: false, provider: { maxRetries: 0 } },
  compaction: { enabled: false },
};

/** @param {string} home @param {string} agent @param {string} modelUrl */
const environment = (home, agent, modelUrl) => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  PI_CODING_AGENT_DIR: agent,
  PI_OFFLINE: '1',
  PI_SKIP_VERSION_CHECK: '1',
  PI_TELEMETRY: '0',
  HTTP_PROXY: modelUrl,
  HTTPS_PROXY: modelUrl,
  NO_PROXY: '127.0.0.1',
});
