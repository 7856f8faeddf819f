import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, demo, nested } from '../definitions.mjs';
import { pause, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A second start during the countdown of the first: the first one\'s reminder never reaches the second.',
  divergence: 'B12',
  workflows: { demo, ...nested },
  replies: [say('I stop here.'), pause(say('On the film.'))],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    pi.answer(true);
    await pi.prompt('/workflow outer the film');
    if (stage.extension.reference) await pi.until(({ type }) => type === 'extension_error', 'the refused reminder');
    else await sleep(BEYOND_COUNTDOWN_MS);
    stage.model.release();
    await pi.settled();
  },
  expect({ recording, reference }) {
    assert.equal(texts(recording, 'errors').length, reference ? 1 : 0);
  },
};
