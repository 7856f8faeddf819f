/** The story that a drill tells of its host: a workflow from its start to its end. A host has its own calls of tools. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { includes, proves } from './world.mjs';

/**
 * @typedef {object} Told A world in which a prompt goes on with the session of the last one.
 * @property {(text: string, replies: any[]) => Promise<{ texts: string[] }>} prompt Answers with what the model read, a text a request.
 * @property {(name: string) => string} file
 * @property {(...args: string[]) => Promise<{ stdout: string }>} sidecar
 *
 * @param {Told} world
 * @param {{ say: (text: string) => any, shell: (line: string) => any, write: (path: string) => any, step: (action: string) => any, repeats?: boolean }} calls
 *   `repeats`: the host prints no answer to a command, so the model repeats it.
 */
export async function wholeWorkflow({ prompt, file, sidecar }, { say, shell, write, step, repeats = false }) {
  proves('start and context', 'blocked tool', 'blocked shell write', 'gate', 'approval by prompt');
  const replies = [
    shell('cat README.md'),
    write(file('a.txt')),
    shell('echo x > b.txt'),
    say('I stop early.'),
    step('next'),
    write(file('c.txt')),
    step('next'),
    shell('touch fixed.txt'),
    step('next'),
    step('next'),
    say('I wait.'),
  ];
  const { texts } = await prompt('workflow bugfix the export is empty', replies);
  assert.equal(texts.length, replies.length, 'every reply was asked for');
  includes(texts[0], /Fix this: the export is empty/);
  includes(texts[0], /Find the cause\./);
  includes(texts[1], /# demo/);
  includes(texts[2], /blocked/);
  assert.ok(!existsSync(file('a.txt')) && !existsSync(file('b.txt')), 'nothing was written in Analyze');
  includes(texts[4], /is still in /);
  includes(texts[5], /Analyze → F Fix/);
  assert.ok(existsSync(file('c.txt')), 'Fix may write');
  includes(texts[7], /Gate failed: test -f fixed\.txt/);
  includes(texts[9], /Fix → R Review/);
  includes(texts.at(-1), /Is it good\?/);
  for (const command of ['workflow status', '/workflow files are broken']) {
    const { texts } = await prompt(command, repeats ? [say('As it says.')] : []);
    assert.equal(texts.length, repeats ? 1 : 0, command);
    if (repeats) includes(texts[0], /word for word/);
  }
  await prompt('workflow approve approve', [say('Done.')]);
  const runs = await sidecar('runs', '--format', 'json');
  assert.equal(JSON.parse(runs.stdout)[0].active, false, runs.stdout);
  await prompt('and now?', [write(file('d.txt')), say('ok')]);
  assert.ok(existsSync(file('d.txt')), 'the run is over');
  await atTheDoor({ prompt, file }, { say, write, step });
}

/** What holds without a run, where the settings say so. */
async function atTheDoor({ prompt, file }, { say, write, step }) {
  const settings = file('.pi/workflow-sidecar.json5');
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, "{ withoutRun: { tools: 'read-only', start: 'bugfix' } }");
  const { texts } = await prompt('add e', [write(file('e.txt')), say('Shall I?')]);
  includes(texts.at(-1), /workflow bugfix \{description\}.*workflow quick \{description\}.*workflow off 30m/s);
  assert.ok(!existsSync(file('e.txt')), 'nothing is written without a run');
  const quick = await prompt('workflow quick add e', [write(file('e.txt')), step('next'), say('Done.')]);
  includes(quick.texts[0], /add e/);
  assert.ok(existsSync(file('e.txt')), 'a quick run may write');
  await prompt('add f', [write(file('f.txt')), say('Shall I?')]);
  assert.ok(!existsSync(file('f.txt')), 'the quick run is over');
  await prompt('workflow off 30m', [say('As it says.')]);
  await prompt('add f', [write(file('f.txt')), say('ok')]);
  assert.ok(existsSync(file('f.txt')), 'the user has lifted it');
}
