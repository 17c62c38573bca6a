import { outcome } from '../../test/k8s-outcome.js';
import { aJob, anEvent } from '../../test/k8s-pods.js';

describe('a pod that is gone', () => {
  const created = anEvent('Job', 'SuccessfulCreate', 'Created pod: ev-1-abcde');

  test.each<[string, string, string, RegExp]>([
    ['TaintManagerEviction', 'Marking for deletion Pod lab/ev-1-abcde', 'infra EVICTED', /a taint/],
    ['Preempted', 'Preempted by pod 7f on node rack-1', 'infra EVICTED', /preempted: Preempted: Preempted by pod 7f/],
    ['Evicted', 'The node was low on resource: memory.', 'infra EVICTED', /low on resource: memory/],
    ['NodeNotReady', 'Node is not ready', 'infra NODE_LOST', /its node was lost/],
  ])('is told of by its event %s', (reason, message, as, text) => {
    const events = [created, anEvent('Pod', reason, message)];
    expect(outcome({ events, log: 'gone' })).toMatchObject({ as, reason: expect.stringMatching(text) });
    expect(outcome({ events: events.slice(1), placedAs: 'p1', log: 'gone' })).toMatchObject({ as });
  });

  test('says nothing where the events are of another pod, or of an earlier Job of that name', () => {
    const other = { involvedObject: { kind: 'Pod', name: 'ev-1-zzzzz', uid: 'p9' } };
    const earlier = { involvedObject: { kind: 'Job', name: 'ev-1', uid: 'j0' } };
    const events = [
      anEvent('Job', 'SuccessfulCreate', 'Created pod: ev-1-zzzzz', earlier),
      anEvent('Pod', 'Evicted', 'The node was low on resource: memory.', other),
    ];
    expect(outcome({ events, log: 'gone' }).as).toBe('infra ALLOCATION_LOST');
    expect(outcome({ events, placedAs: 'p1', log: 'gone' }).as).toBe('infra RESULT_LOST');
  });

  test('is never an empty success', () => {
    const job = aJob({
      status: { succeeded: 1, conditions: [{ type: 'Complete', status: 'True', reason: 'CompletionsReached' }] },
    });
    expect(outcome({ job, log: 'complete' })).toMatchObject({
      as: 'infra ALLOCATION_LOST',
      reason: expect.stringMatching(/CompletionsReached/),
    });
  });

  test('is told of by its Job', () => {
    const job = aJob({
      status: {
        conditions: [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message: 'Job was active longer' }],
      },
    });
    expect(outcome({ job, log: 'gone' })).toMatchObject({
      as: 'infra EVICTED',
      reason: expect.stringMatching(/time limit, which is not of ours/),
    });
  });
});
