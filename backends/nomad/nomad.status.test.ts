import { JobAllocation } from './nomad.replies.js';
import { chooseAllocation, endOf, provenanceOf, standingOf } from './nomad.status.js';

const event = (Type: string, Details: object = {}, more: object = {}) => ({ Type, Details, ...more });
const STARTED = event('Started');
const terminated = (exit_code: string, more: object = {}) => event('Terminated', { exit_code, signal: '0', ...more });

const an = (parts: object, ...Events: object[]): JobAllocation =>
  JobAllocation.parse({
    ID: 'a1',
    NodeName: 'rack-1',
    DesiredStatus: 'run',
    ClientStatus: 'complete',
    TaskStates: Events.length > 0 ? { case: { State: 'dead', Failed: false, Restarts: 0, Events } } : null,
    ...parts,
  });

const end = (allocation: JobAllocation, more: object = {}) =>
  endOf({ allocation, log: 'complete', maxConcurrent: 20, driver: 'docker', ...more });

describe('endOf', () => {
  test.each<[string, JobAllocation, string, RegExp]>([
    [
      'N19 a node that was lost and came back',
      an(
        { DesiredStatus: 'stop', DesiredDescription: 'alloc is lost since its node is down' },
        STARTED,
        terminated('137'),
      ),
      'NODE_LOST',
      /node rack-1 went down/,
    ],
    [
      'N31 one that was stopped before it ran',
      an({ DesiredStatus: 'stop', DesiredDescription: 'alloc not needed due to job update' }),
      'ALLOCATION_LOST',
      /never started/,
    ],
    [
      'D33 the word of the driver',
      an({}, STARTED, terminated('137', { oom_killed: 'true' })),
      'OOM_KILLED',
      /memoryMb/,
    ],
  ])('%s', (_title, allocation, code, message) => {
    expect(end(allocation)).toEqual({ kind: 'failed', failure: { code, message: expect.stringMatching(message) } });
  });

  test('D33 a kill alone is an end like others', () => {
    expect(end(an({ ClientStatus: 'failed' }, STARTED, terminated('137')))).toEqual({
      kind: 'silent',
      detail: 'exit code 137',
    });
  });
});

test('N17 the verdict belongs to the allocation that was seen, and others are named', () => {
  const [b, a] = [an({ ID: 'b', CreateIndex: 9, ClientStatus: 'running' }), an({ ID: 'a', CreateIndex: 3 })];
  expect(chooseAllocation([b, a], undefined)).toEqual({ allocation: a, others: [b] });
  expect(chooseAllocation([b], 'a')).toEqual({ others: [b] });
  expect(standingOf(b)).toBe('running');
  expect(provenanceOf({ allocation: a, others: [b] })).toMatchObject({
    anomalies: [expect.stringMatching(/b \(running\)/)],
  });
});
