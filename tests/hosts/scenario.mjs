/**
 * One scenario on one host with one extension: setup, execution, cleanup.
 *
 * A scenario consists of files, the model's replies and the user's actions.
 */
import { readFileSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ScriptedModel } from './model.mjs';
import { Pi } from './pi.mjs';
import { Normalizer, Recorder } from './recording.mjs';
import { clear, commandLine, createSandbox } from './sandbox.mjs';
import { Sidecars } from './sidecars.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const probe = join(here, 'probe.js');

/**
 * @typedef {object} Extension
 * @property {string} path       a directory whose package.json has `pi.extensions`
 * @property {boolean} reference it is the npm package itself
 * @property {string} [sidecar]  the binary that it spawns
 */

/**
 * @typedef {object} Scenario
 * @property {string} about                       the behaviour, in one sentence
 * @property {import('./sandbox.mjs').Tree} workflows
 * @property {import('./sandbox.mjs').Tree} [agent]  further files of the agent directory
 * @property {import('./sandbox.mjs').Tree} [project]
 * @property {Record<string, unknown>} [settings]
 * @property {import('./model.mjs').Reply[]} replies
 * @property {(stage: Stage) => Promise<void>} play
 * @property {(seen: Seen) => void} [expect]
 * @property {string[]} [differences]             ids of the intended differences that occur; `id@host` on one host only
 * @property {(block: import('./recording.mjs').Block) => boolean} [ignores]  blocks that depend on the machine's speed
 * @property {string} [divergence]                id of the difference after which the runs are not comparable: it explains
 *                                                all other differences, and only `expect` decides
 * @property {boolean} [ours]                     it tests features that the reference does not have
 * @property {boolean} [needsBinary]              it needs the sidecar's process: only with --sidecar
 * @property {boolean} [wraps]                    the probe loads the extension, to call its commands
 */

/**
 * @typedef {object} Seen
 * @property {import('./recording.mjs').Recording} recording
 * @property {import('./model.mjs').Request[]} requests
 * @property {boolean} reference
 * @property {string} host
 */

/** The parameter of a scenario's `play`. */
export class Stage {
  /** All started pi processes; the last one is `pi`. @type {Pi[]} */
  started = [];

  /**
   * @param {object} props
   * @param {import('./hosts.mjs').Host} props.host
   * @param {Extension} props.extension
   * @param {boolean} props.wraps
   * @param {ScriptedModel} props.model
   * @param {import('./sandbox.mjs').Sandbox} props.sandbox
   * @param {Recorder} props.recorder
   */
  constructor({ host, extension, wraps, model, sandbox, recorder }) {
    this.host = host;
    this.extension = extension;
    this.model = model;
    this.sandbox = sandbox;
    this.recorder = recorder;
    this.wraps = wraps;
    this.sidecars = new Sidecars(sandbox.root, extension.sidecar);
  }

  /** The running pi. */
  get pi() {
    return this.started[this.started.length - 1];
  }

  /**
   * Starts pi. In RPC mode unless the arguments say otherwise.
   *
   * @param {string[]} [args]  in addition to those of every pi
   * @param {Record<string, string>} [env]
   * @returns {Pi}
   */
  start(args = ['--mode', 'rpc'], env = {}) {
    const { extension, host, sandbox, recorder } = this;
    const subject = this.wraps ? [] : ['--extension', extension.path];
    const settings = { ...sandbox.env, ...this.sidecars.env, ...env };
    if (this.wraps) settings.PROBE_WRAPS = entryPoint(extension.path);
    const pi = new Pi({
      host,
      args: [...commandLine(sandbox), ...subject, '--extension', probe, ...args],
      env: settings,
      cwd: sandbox.cwd,
      readsCommands: args.includes('rpc'),
      observe: (record) => recorder.record(record),
    });
    this.started.push(pi);
    return pi;
  }

  /** Ends pi as a client does, and records its exit. */
  async close() {
    const { code, signal } = await this.pi.close();
    this.recorder.add('process', `pi ended: ${signal ?? code}`);
  }

  /** Lists the session files, oldest first. @returns {string[]} */
  sessionFiles() {
    const files = readdirSync(this.sandbox.sessions, { recursive: true, withFileTypes: true });
    return files.filter((file) => file.name.endsWith('.jsonl')).map((file) => join(file.parentPath ?? file.path, file.name)).sort();
  }
}

/**
 * @param {string} name
 * @param {Scenario} scenario
 * @param {import('./hosts.mjs').Host} host
 * @param {Extension} extension
 * @returns {Promise<Seen & {outsideRequests: string[], stderr: string}>}
 */
export async function playScenario(name, scenario, host, extension) {
  /** @type {Recorder | undefined} */
  let recorder;
  const model = new ScriptedModel(scenario.replies, (request, index) => recorder?.request(request, index));
  const url = await model.listen();
  const sandbox = createSandbox(scenario, url);
  recorder = new Recorder(new Normalizer(replacements(sandbox, url, extension)), scenario.ignores);
  const stage = new Stage({ host, extension, wraps: scenario.wraps ?? false, model, sandbox, recorder });
  try {
    await scenario.play(stage);
    if (stage.pi && !stage.pi.ended) await stage.close();
    finish(stage);
    return {
      recording: { host: host.version, scenario: name, blocks: recorder.blocks },
      requests: model.requests,
      reference: extension.reference,
      host: host.version,
      outsideRequests: model.outsideRequests,
      stderr: stage.started.map((pi) => pi.stderr).join(''),
    };
  } finally {
    for (const pi of stage.started) await pi.destroy();
    stage.sidecars.destroy();
    model.close();
    clear(sandbox);
  }
}

/** Adds the parts of the recording that are available at the end. @param {Stage} stage */
function finish(stage) {
  for (const [index, file] of stage.sessionFiles().entries()) {
    stage.recorder.sessionFile(`${index + 1}`, readFileSync(file, 'utf8'));
  }
}

/**
 * @param {import('./sandbox.mjs').Sandbox} sandbox
 * @param {string} url
 * @param {Extension} extension
 * @returns {[string, string][]}
 */
const replacements = (sandbox, url, extension) => [
  [sandbox.cwd, '<project>'],
  [sandbox.agent, '<agent>'],
  [sandbox.sessions, '<sessions>'],
  [sandbox.home, '<home>'],
  [sandbox.root, '<root>'],
  [extension.path, '<extension>'],
  [realpathSync(extension.path), '<extension>'],
  [url, '<model>'],
];

/** Returns the file of an extension's directory that pi loads. @param {string} directory */
function entryPoint(directory) {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return resolve(directory, manifest.pi.extensions[0]);
}

/**
 * Returns the extension in that directory.
 *
 * @param {string} path
 * @param {string} [sidecar]
 * @returns {Extension}
 */
export function extensionAt(path, sidecar) {
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  if (!manifest.pi?.extensions?.length) throw new Error(`${path} is no pi extension: its package.json has no pi.extensions`);
  return { path: resolve(path), reference: manifest.name === '@harms-haus/pi-workflows', ...(sidecar ? { sidecar } : {}) };
}
