/** A server of PostgreSQL with the tables of the store, and a login for each role. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = '/usr/lib/postgresql';
const programs = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : [];

/** The directory of its programs, if it is installed. */
export const postgres = programs.find((directory) => existsSync(join(directory, 'initdb')));

/** Starts a server. @param {string} binary */
export function startPostgres(binary) {
  const directory = mkdtempSync('/tmp/wf-pg');
  const data = join(directory, 'data');
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'] : [];
  if (user.length > 0) chownSync(directory, ...owner());
  /** @param {string} program @param {string[]} args @param {string} [input] */
  const run = (program, args, input) => {
    const [first, ...rest] = [...user, join(postgres ?? '', program), ...args];
    // The server keeps the streams that it is started with.
    const stdio = /** @type {const} */ (['pipe', 'ignore', program === 'pg_ctl' ? 'ignore' : 'inherit']);
    assert.equal(spawnSync(first, rest, { cwd: '/', input, stdio }).status, 0, program);
  };
  run('initdb', ['-D', data, '-A', 'trust', '-N', '-U', 'postgres']);
  run('pg_ctl', ['-D', data, '-w', '-l', join(directory, 'log'), '-o', `-c listen_addresses= -c unix_socket_directories=${directory}`, 'start']);
  const schema = spawnSync(binary, ['runs', '--schema'], { encoding: 'utf8' }).stdout;
  const logins = 'CREATE ROLE agent LOGIN IN ROLE workflow_agent; CREATE ROLE approver LOGIN IN ROLE workflow_approver;';
  run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-U', 'postgres', '-h', directory, 'postgres'], `${schema}\n${logins}`);
  return {
    /** The address for a login. @param {string} login */
    url: (login) => `postgres://${login}@${encodeURIComponent(directory)}/postgres`,
    stop() {
      run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop']);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The user and the group of the server. @returns {[number, number]} */
function owner() {
  const id = (/** @type {string} */ of) => Number(spawnSync('id', [of, 'postgres'], { encoding: 'utf8' }).stdout);
  return [id('-u'), id('-g')];
}
