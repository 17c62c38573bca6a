import type { AttemptEnd } from '../contracts/attempt.js';
import { Grader } from '../contracts/grader.js';
import { aRecord } from '../test/builders.js';
import type { JobRecord } from './record.js';
import { type Ended, errored, verdictOf, withLastWords } from './results.js';

const exitCode = (expected: number) => Grader.parse({ kind: 'exit-code', expected });
const equals = (value: string) => Grader.parse({ kind: 'equals', value });

function judge(record: JobRecord | undefined, parts: Partial<Ended> = {}) {
  return verdictOf({
    graders: [],
    end: { kind: 'record' },
    record,
    timeoutSec: 5,
    setupSec: 600,
    graderSec: 300,
    ...parts,
  });
}

describe('verdictOf a record', () => {
  test.each([
    [
      'is not judged by output that could not be kept',
      aRecord({ isLost: true }),
      [],
      { outcome: 'errored', errorClass: 'infra', errorCode: 'RESULT_LOST' },
    ],
    ['passes with exit code 0 and no graders', aRecord(), [], { outcome: 'passed', scores: [] }],
    [
      'fails with another exit code and no graders',
      aRecord({ status: 3 }),
      [],
      { outcome: 'failed', reason: 'exit code 3' },
    ],
    [
      'fails with exit code 137, which a record shows to be no infrastructure',
      aRecord({ status: 137 }),
      [],
      { outcome: 'failed', reason: 'exit code 137' },
    ],
    [
      'passes when all graders do, whatever the exit code',
      aRecord({ status: 3 }),
      [equals('42')],
      { outcome: 'passed' },
    ],
    [
      'fails with the detail of the first score that does',
      aRecord(),
      [equals('42'), exitCode(1)],
      { outcome: 'failed', reason: 'exit code 0, expected 1' },
    ],
    [
      'is the command’s fault when it was not found',
      aRecord({ status: 127 }),
      [equals('42')],
      { outcome: 'errored', errorClass: 'harness', errorCode: 'COMMAND_NOT_FOUND' },
    ],
    [
      'is the command’s fault when it cannot be executed',
      aRecord({ status: 126 }),
      [],
      { outcome: 'errored', errorClass: 'harness', errorCode: 'COMMAND_NOT_FOUND' },
    ],
    ['takes 127 where a grader expects it', aRecord({ status: 127 }), [exitCode(127)], { outcome: 'passed' }],
    [
      'takes 127 for not found where a grader expects 126',
      aRecord({ status: 127 }),
      [exitCode(126)],
      { errorCode: 'COMMAND_NOT_FOUND' },
    ],
    [
      'is the harness’s fault when setup fails',
      aRecord({ status: null, setupFailed: { index: 2, status: 1 } }),
      [],
      {
        outcome: 'errored',
        errorClass: 'harness',
        errorCode: 'SETUP_FAILED',
        reason: 'setup step 2 ended with exit code 1',
      },
    ],
    [
      'is the harness’s fault when files cannot be prepared',
      aRecord({ status: null, setupFailed: { index: 0, status: 128 } }),
      [],
      { errorCode: 'SETUP_FAILED', reason: 'preparing the files or the checkout ended with exit code 128' },
    ],
    [
      'is the harness’s fault when setup takes too long',
      aRecord({ status: null, timer: 'setup', setupMs: 600_120, setupFailed: { index: 1, status: 143 } }),
      [],
      { errorCode: 'SETUP_FAILED', reason: 'setup took 600.1 s, more than the allowed 600 s' },
    ],
    [
      'is the harness’s fault when a tool is missing',
      aRecord({ status: null, toolMissing: 'git' }),
      [],
      { errorClass: 'harness', errorCode: 'TOOL_MISSING', reason: expect.stringContaining('`git`') },
    ],
    [
      'is the agent’s fault when time runs out, with the time measured',
      aRecord({ status: 143, timer: 'command', commandMs: 5_030 }),
      [equals('42')],
      {
        outcome: 'errored',
        errorClass: 'agent',
        errorCode: 'TIMEOUT',
        reason: 'stopped after 5.0 s: `timeoutSec` is 5',
      },
    ],
  ])('%s', (_title, record, graders, want) => {
    expect(judge(record, { graders })).toMatchObject(want);
  });

  test.each<AttemptEnd>([
    { kind: 'record' },
    { kind: 'silent', detail: 'exit code 137' },
    { kind: 'failed', failure: { code: 'NODE_LOST', message: 'node a is down' } },
    { kind: 'cancelled' },
  ])('stands whatever the end says: %j', (end) => {
    expect(judge(aRecord(), { end })).toEqual({ outcome: 'passed', scores: [] });
  });
});

describe('verdictOf an attempt without a record', () => {
  test.each<[string, AttemptEnd, object]>([
    [
      'a normal end is the agent’s',
      { kind: 'silent', detail: 'exit code 1' },
      { errorClass: 'agent', errorCode: 'ABORTED', reason: 'ended without a result: exit code 1' },
    ],
    [
      'a bare 137 hints at memory',
      { kind: 'silent', detail: 'exit code 137' },
      {
        errorClass: 'agent',
        errorCode: 'ABORTED',
        reason: expect.stringContaining('`resources.memoryMb` (it is 512 now)'),
      },
    ],
    [
      'evidence keeps its code and message',
      { kind: 'failed', failure: { code: 'EVICTED', message: 'memory pressure on node a' } },
      { errorClass: 'infra', errorCode: 'EVICTED', reason: 'memory pressure on node a' },
    ],
    [
      'out of memory is configuration',
      { kind: 'failed', failure: { code: 'OOM_KILLED', message: 'raise resources.memoryMb' } },
      { errorClass: 'config', errorCode: 'OOM_KILLED' },
    ],
    ['a record that is gone is lost', { kind: 'record' }, { errorClass: 'infra', errorCode: 'RESULT_LOST' }],
  ])('%s', (_title, end, want) => {
    expect(judge(undefined, { end, memoryMb: 512 })).toMatchObject({ outcome: 'errored', ...want });
  });

  test('what we stopped is cancelled', () => {
    expect(judge(undefined, { end: { kind: 'cancelled' } })).toEqual({ outcome: 'cancelled' });
  });
});

test.each([
  ['a syntax error', { status: 2, isUnparsable: true }, [], 'SYNTAX_ERROR'],
  ['unless its exit code is what is expected', { status: 2, isUnparsable: true }, [2], undefined],
])('a command that the shell could not parse is the harness’s: %s', (_title, record, expected, code) => {
  const graders = expected.map((status): Grader => ({ id: 'exit', kind: 'exit-code', expected: status }));
  const verdict = judge(aRecord(record), { graders });
  expect(verdict.outcome === 'errored' ? verdict.errorCode : undefined).toBe(code);
});

test('a verdict takes what the job said along, if it said anything', () => {
  const verdict = errored('SETUP_FAILED', 'setup step 1 ended with exit code 9');
  expect(withLastWords(verdict, 'no such file')).toMatchObject({
    reason: 'setup step 1 ended with exit code 9; it said: no such file',
  });
  expect(withLastWords(verdict, '')).toEqual(verdict);
});

test('an errored verdict carries the class of its code', () => {
  expect(errored('QUEUE_TIMEOUT', 'waited 24 h')).toEqual({
    outcome: 'errored',
    errorClass: 'infra',
    errorCode: 'QUEUE_TIMEOUT',
    reason: 'waited 24 h',
  });
});
