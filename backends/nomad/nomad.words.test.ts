import fc from 'fast-check';
import { endOf, type LogStanding } from './nomad.end.js';
import { JobAllocation } from './nomad.replies.js';

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('Terminated', 'Started', 'Killing', 'stop', 'run', 'lost', 'failed', 'a\u001b[31m\u0000\u202e\n'),
);
const anyEvent = fc.record({ Type: word, DisplayMessage: word, Message: word, Details: fc.dictionary(word, word) });
const anything = fc.record({
  ID: fc.stringMatching(/^[\w-]{1,64}$/),
  NodeName: word,
  ClientStatus: word,
  DesiredStatus: word,
  DesiredDescription: word,
  PreemptedByAllocation: word,
  TaskStates: fc.oneof(
    fc.constant(null),
    fc.dictionary(word, fc.record({ Failed: fc.boolean(), Events: fc.array(anyEvent) })),
  ),
});

test('whatever Nomad says, the end is told on one line that has an end, and moves no cursor', () => {
  const log = fc.constantFrom<LogStanding>('complete', 'short', 'gone', 'unreachable', 'unverified');
  fc.assert(
    fc.property(anything, log, (raw, log) => {
      const found = endOf({ allocation: JobAllocation.parse(raw), log, maxConcurrent: 20, driver: 'docker' });
      const text = found.kind === 'silent' ? found.detail : found.failure.message;
      expect(text).toMatch(/^[^\p{Cc}\p{Cf}]{5,1500}$/u);
    }),
  );
});
