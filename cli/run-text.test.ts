import { anAttempt, aRun } from '../test/cli-fakes.js';
import { outcomeOf } from './report.js';
import { attemptText, runText } from './run-text.js';

const words = 'no node has 50,000 MB of memory left';

test('a run that its cluster does not start says why', () => {
  const run = aRun({ state: 'running', outcome: null, reason: null, placement: words });
  expect(runText(run, 120)).toContain(`waits     for the cluster to place its job: ${words}\n`);
  const waiting = {
    reason: 'placement' as const,
    scope: 'runtime desk',
    limit: null,
    used: null,
    ahead: 0,
    note: words,
  };
  expect(outcomeOf(aRun({ ...run, waiting }))).toBe(`running: placement, ${words}`);
});

test('an attempt names what runs it, where, and why it does not start', () => {
  const text = attemptText(anAttempt({ placedAs: '0b1c', waiting: words, provenance: { node: 'rack-1' } }));
  for (const line of ['placed as   0b1c', `waiting     ${words}`, 'node        rack-1']) expect(text).toContain(line);
});
