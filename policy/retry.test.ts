import { type ErrorClass, RUN_ERROR_CODES, type RunErrorCode } from '../contracts/attempt.js';
import { errored } from './results.js';
import { nextStep } from './retry.js';

const RETRIED = [
  'ALLOCATION_LOST',
  'CLUSTER_UNREACHABLE',
  'EVICTED',
  'IMAGE_PULL_FAILED',
  'NODE_LOST',
  'PLACEMENT_TIMEOUT',
  'RESULT_LOST',
  'START_TIMEOUT',
];

/** Who is to blame for what an attempt on a cluster ends as. */
const BLAMED: Record<ErrorClass, RunErrorCode[]> = {
  infra: [
    ...['NODE_LOST', 'EVICTED', 'IMAGE_PULL_FAILED', 'ALLOCATION_LOST', 'RESULT_LOST', 'PLACEMENT_TIMEOUT'],
    ...['START_TIMEOUT', 'CLUSTER_UNREACHABLE', 'CLUSTER_AUTH', 'NAME_TAKEN', 'QUEUE_TIMEOUT'],
    ...['PLATFORM_TERMINATED', 'PLATFORM_ERROR'],
  ] as RunErrorCode[],
  config: [
    ...['BAD_SPEC', 'DEMAND_EXCEEDS_ENVELOPE', 'CAPABILITY_MISSING', 'SECRET_MISSING', 'IMAGE_UNAVAILABLE'],
    ...['PAYLOAD_TOO_LARGE', 'OOM_KILLED'],
  ] as RunErrorCode[],
  harness: ['SETUP_FAILED', 'COMMAND_NOT_FOUND', 'TOOL_MISSING'],
  agent: ['TIMEOUT', 'ABORTED'],
};

test.each(Object.entries(BLAMED))('what %s is to blame for', (blamed, codes) => {
  expect(codes.map((code) => RUN_ERROR_CODES[code])).toEqual(codes.map(() => blamed));
});

describe('nextStep', () => {
  test('tries again only for infrastructure that may be whole the next time', () => {
    const codes = Object.keys(RUN_ERROR_CODES) as RunErrorCode[];
    const retried = codes.filter((code) => nextStep(errored(code, ''), 1, 2).kind === 'retry');
    expect(retried.toSorted()).toEqual(RETRIED);
  });

  test.each(['passed', 'failed', 'cancelled'] as const)('settles what %s', (outcome) => {
    expect(nextStep({ outcome }, 1, 2)).toEqual({ kind: 'settle' });
  });

  test.each([
    [1, 2, { kind: 'retry', delayMs: 1_000 }],
    [2, 2, { kind: 'retry', delayMs: 2_000 }],
    [3, 2, { kind: 'settle' }],
    [1, 0, { kind: 'settle' }],
    [7, 10, { kind: 'retry', delayMs: 60_000 }],
    [10, 10, { kind: 'retry', delayMs: 60_000 }],
    [11, 10, { kind: 'settle' }],
  ])('after attempt %i with %i retries', (attempt, infraRetries, want) => {
    expect(nextStep(errored('NODE_LOST', 'node a is down'), attempt, infraRetries)).toEqual(want);
  });
});
