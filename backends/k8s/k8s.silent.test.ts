import fc from 'fast-check';
import { aJob, anEvent, aPod, disrupted, GOING, main, type PodParts } from '../../test/k8s-pods.js';
import { endOf, type LogStanding } from './k8s.end.js';
import { waitingOf } from './k8s.waiting.js';

const TEXT = fc.oneof(fc.constantFrom('', 'context deadline exceeded', 'exec: "/bin/sh"', 'not found'), fc.string());
const END = fc.record(
  {
    exitCode: fc.constantFrom(0, 1, 128, 137, 143, 255),
    reason: fc.constantFrom('Completed', 'Error', 'OOMKilled', 'StartError', 'ContainerStatusUnknown', 'Unknown', 'x'),
    message: TEXT,
    startedAt: fc.constantFrom('1970-01-01T00:00:00Z', '2026-01-01T00:00:00Z'),
  },
  { requiredKeys: ['exitCode'] },
);
const WAITING = fc.record(
  {
    reason: fc.constantFrom('ContainerCreating', 'ErrImagePull', 'InvalidImageName', 'CreateContainerError', 'x'),
    message: TEXT,
  },
  { requiredKeys: [] },
);
const STATE = fc.oneof(
  fc.record({ terminated: END }),
  fc.record({ waiting: WAITING }),
  fc.constantFrom({ running: {} }, {}),
);
const STATUS = fc
  .tuple(
    fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown', undefined),
    fc.option(fc.constantFrom('Evicted', 'NodeLost', 'DeadlineExceeded', 'OutOfcpu', 'Terminated', 'x'), {
      nil: undefined,
    }),
    fc.option(fc.tuple(STATE, fc.nat(2)), { nil: undefined }),
    fc.option(fc.constantFrom('PreemptionByScheduler', 'DeletionByTaintManager', 'x'), { nil: undefined }),
  )
  .map(([phase, reason, container, disruption]) => ({
    ...{ phase, reason },
    ...(container && main(container[0], { restartCount: container[1] })),
    ...(disruption && disrupted(disruption)),
  }));
const POD: fc.Arbitrary<PodParts> = fc.record({
  metadata: fc.constantFrom({}, {}, GOING),
  status: STATUS,
  deleted: fc.boolean(),
});
const LOG = fc.constantFrom<LogStanding>('complete', 'unverified', 'short', 'gone', 'unreachable');
const EVENTS = fc.subarray([
  anEvent('Pod', 'Killing', 'Stopping container main'),
  anEvent('Pod', 'Evicted', 'low on memory'),
  anEvent('Pod', 'NodeNotReady'),
]);

test('a case is silent only where its process ended by itself, and all of its log is there', () => {
  fc.assert(
    fc.property(POD, LOG, EVENTS, (parts, log, events) => {
      const pod = aPod(parts);
      const end = endOf({ pod, job: aJob(), log, events });
      if (end.kind === 'failed') return expect(end.failure.message.length).toBeGreaterThan(10);
      const terminated = pod.status.containerStatuses[0]?.state.terminated;
      expect(terminated?.exitCode).toBeDefined();
      expect(['OOMKilled', 'StartError', 'ContainerStatusUnknown', 'Unknown']).not.toContain(terminated?.reason);
      expect([pod.deleted, pod.metadata.deletionTimestamp]).toEqual([undefined, undefined]);
      expect(pod.status.conditions).toEqual([]);
      expect(log).toBe('complete');
      expect(events.filter(({ reason }) => reason !== 'NodeNotReady')).toEqual([]);
      if (pod.status.phase === 'Failed') expect(pod.status.reason).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

test('why a job waits is always told, on a line', () => {
  fc.assert(
    fc.property(fc.option(POD, { nil: undefined }), EVENTS, TEXT, (parts, events, message) => {
      const job = aJob();
      const all = [...events, anEvent('Job', 'FailedCreate', message)];
      const { detail } = waitingOf({ job, ...(parts && { pod: aPod(parts) }), events: all });
      expect(detail).toMatch(/^[^\p{Cc}]{10,900}$/u);
    }),
  );
});
