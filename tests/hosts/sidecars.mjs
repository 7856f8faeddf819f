/**
 * The sidecar processes that a pi spawned.
 *
 * The extension runs a script that records its process id and becomes the real binary, so the list of processes need
 * not be searched. Independent of the protocol.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { sleep } from './pi.mjs';

export class Sidecars {
  /** The environment variables that name the extension's binary. @type {Record<string, string>} */
  env = {};

  #noted;
  #binary;

  /**
   * @param {string} directory
   * @param {string} [binary]  without it the extension locates its own, and no process is known
   */
  constructor(directory, binary) {
    this.#noted = join(directory, 'sidecars');
    this.#binary = binary;
    if (!binary) return;
    const script = join(directory, 'sidecar');
    writeFileSync(script, `#!/bin/sh\necho $$ >> '${this.#noted}'\nexec '${binary}' "$@"\n`);
    chmodSync(script, 0o755);
    this.env = { WORKFLOW_SIDECAR_BINARY: script };
  }

  /** The process ids, in the order of their start. */
  get pids() {
    return existsSync(this.#noted) ? readFileSync(this.#noted, 'utf8').trim().split('\n').map(Number) : [];
  }

  /** The ids of those that still run. */
  get alive() {
    return this.pids.filter(isAlive);
  }

  /** Sends a signal to the one that was started last. @param {NodeJS.Signals} signal */
  signal(signal) {
    const pid = this.pids.at(-1);
    if (pid === undefined) throw new Error('no sidecar was started');
    process.kill(pid, signal);
  }

  /** Waits until none runs, and returns true if that happened in time. @param {number} within milliseconds */
  async gone(within) {
    const deadline = Date.now() + within;
    while (this.alive.length > 0 && Date.now() < deadline) await sleep(20);
    return this.alive.length === 0;
  }

  /** Replays a recording, which must give the recorded result. @param {string} file */
  replay(file) {
    if (!this.#binary) throw new Error('there is no binary to replay with');
    const { status, stdout, stderr } = spawnSync(this.#binary, ['replay', file], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the recording does not replay:\n${stdout}${stderr}`);
  }

  /** Kills those that still run. */
  destroy() {
    for (const pid of this.alive) process.kill(pid, 'SIGKILL');
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
}

/** Returns true if the process has ended but is not reaped. @param {number} pid */
function isZombie(pid) {
  try {
    return /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
