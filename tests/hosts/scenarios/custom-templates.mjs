import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Every text that a workflow may replace is replaced, with its variables.',
  differences: ['host-moved@0.74.2'],
  workflows: {
    worded: workflow(
      'Worded',
      [
        phase('One', '1️⃣', { tools: { blacklist: ['write', 'bash'] }, availableProfiles: ['scout', 'guide'], does: 'Blocked: {blockedToolsList}. Tool: {toolName}. {phaseId} of {workflowName} ({workflowKey}), task {taskId}. {unknown}' }),
        phase('Two', '2️⃣', { does: 'After {previousPhaseName}, before {nextPhaseName}, on {breadcrumbPath}.' }),
      ],
      {
        initialMessage: '{workflowName} {workflowKey} {description} {firstPhaseId} {firstPhaseName} {firstPhaseEmoji} {firstPhaseProfiles}',
        sessionNamePrefix: 'Job: ',
        sessionNameMaxLength: 8,
        roleInstruction: 'You lead {workflowName}, in {phaseName}.',
        advanceReminder: 'Then {toolName} leads to {nextPhaseName}.',
        blockReasonTemplate: '{toolName} is closed in {phaseName} of {workflowName}; open: {allowedTools}.',
        completionMessage: '✅ **{workflowName}**: {taskDescription} took {phaseCount} phases ({taskId}).',
        notDoneReminder: 'Not done with {phaseEmoji} {phaseName} of {workflowName} ({workflowKey}): {taskDescription}. {phaseInstructions}',
      },
    ),
  },
  replies: [call('write', { path: 'a.txt', content: 'no' }), say('I stop.'), call('workflow_step', { action: 'next' }), call('workflow_step', { action: 'next' }), say('Done.'), say('Yes.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow worded a long description');
    await pi.settled(2);
    await pi.prompt('Really?');
    await pi.settled();
  },
  expect({ recording }) {
    assert.deepEqual(texts(recording, 'session'), ['name "Job: a long d…"']);
    assert.match(texts(recording, 'messages', /^result of write/)[0], /write is closed in One of Worded; open: all except: write, bash\./);
    assert.match(texts(recording, 'messages', /^user$/)[1], /Not done with 1️⃣ One of Worded \(worded\): a long description\./);
    assert.match(texts(recording, 'messages', /^workflow:complete/)[0], /Worded\*\*: a long description took 2 phases/);
  },
};
