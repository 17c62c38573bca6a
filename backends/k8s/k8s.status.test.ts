import { aJob, aPod, GOING, main, type PodParts, running, terminated, waiting } from '../../test/k8s-pods.js';
import { seenPod } from '../../test/k8s-seen.js';
import { needsEvents } from './k8s.events.js';
import { choosePod, lastWord, mayRun, provenanceOf, standingOf } from './k8s.status.js';

test.each<[string, PodParts, string]>([
  ['that nothing is told of', { status: {} }, 'pending'],
  ['whose container is made', { status: waiting('ContainerCreating') }, 'pending'],
  ['whose image is pulled', { status: waiting('ErrImagePull') }, 'pending'],
  ['that runs', { status: running }, 'running'],
  ['that runs, and is to go', { metadata: GOING, status: running }, 'running'],
  ['whose node tells no more', { status: { ...running, phase: 'Unknown' } }, 'running'],
  ['that ended, its phase behind', { status: { ...terminated(3), phase: 'Running' } }, 'ended'],
  ['that failed so fast that it is Pending', { status: { ...terminated(3), phase: 'Pending' } }, 'ended'],
  ['that is Succeeded', { status: terminated(0) }, 'ended'],
  ['that is Failed, with nothing told of containers', { status: { phase: 'Failed', reason: 'Evicted' } }, 'ended'],
  ['that is gone, the last that was seen of it running', { deleted: true, status: running }, 'ended'],
  ['that is to go before it started', { metadata: GOING, status: waiting('ErrImagePull') }, 'ended'],
  [
    'that waits to be started again',
    {
      status: {
        phase: 'Running',
        ...main({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: { terminated: { exitCode: 1 } } }),
      },
    },
    'ended',
  ],
])('a pod %s is as it is', (_title, parts, standing) => {
  const pod = aPod(parts);
  expect(standingOf(pod)).toBe(standing);
  expect(mayRun(pod)).toBe(standing !== 'ended');
});

test('K13 a pod whose own container ended has ended, whatever runs beside it', () => {
  expect(seenPod('sidecar').status.phase).toBe('Running');
  expect(standingOf(seenPod('sidecar'))).toBe('ended');
});

describe('K09 the verdict belongs to one pod', () => {
  const a = aPod({
    metadata: { uid: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { phase: 'Failed', reason: 'NodeLost' },
  });
  const b = aPod({
    metadata: { uid: 'b', name: 'ev-1-b', creationTimestamp: '2026-01-01T00:09:00Z' },
    status: running,
  });

  test('to the first that was made, in whatever order they come', () => {
    expect(choosePod([b, a], undefined)).toEqual({ pod: a, others: [b] });
    expect(choosePod([], undefined)).toEqual({ others: [] });
  });

  test('to the one that was seen, also when another one is left alone', () => {
    expect(choosePod([a, b], 'b')).toEqual({ pod: b, others: [a] });
    expect(choosePod([b], 'a')).toEqual({ others: [b] });
  });

  test('to none of an earlier Job of that name', () => {
    const ownerReferences = [{ kind: 'Job', name: 'ev-1', uid: 'j0' }];
    const earlier = aPod({ metadata: { uid: 'z', creationTimestamp: '2025-01-01T00:00:00Z', ownerReferences } });
    expect(choosePod([earlier, b], undefined, aJob())).toEqual({ pod: b, others: [earlier] });
    expect(choosePod([earlier], undefined, aJob())).toEqual({ others: [earlier] });
  });

  test('others are told of', () => {
    expect(provenanceOf({ pod: a, others: [b] })).toEqual({
      node: 'rack-1',
      pod: 'ev-1-abcde',
      podUid: 'a',
      anomalies: ['re-executed: Kubernetes made another pod of it, ev-1-b (Running): it does not count'],
    });
  });
});

test('where it ran is told, with the image and what should not have happened', () => {
  const state = { terminated: { exitCode: 0, reason: 'OOMKilled', startedAt: '2026-01-01T00:00:00Z' } };
  const pod = aPod({
    status: { phase: 'Succeeded', ...main(state, { image: 'r/x:1', imageID: 'r/x@sha256:00', restartCount: 1 }) },
  });
  expect(provenanceOf({ pod, others: [] })).toEqual({
    node: 'rack-1',
    pod: 'ev-1-abcde',
    podUid: 'p1',
    image: 'r/x:1',
    imageId: 'r/x@sha256:00',
    anomalies: [
      'oom: memory ran out in its container (exit code 0)',
      'Kubernetes started it once more, which its pod forbids',
    ],
  });
});

test('K11 with a record in hand, a child that ran out of memory is a note', () => {
  expect(provenanceOf({ pod: seenPod('oom-child'), others: [] }).anomalies).toEqual([expect.stringMatching(/^oom: /)]);
  expect(provenanceOf({ pod: seenPod('exit3'), others: [] })).not.toHaveProperty('anomalies');
});

test('what removes a pod that has ended did not end it', () => {
  const ended = aPod({ status: terminated(0) });
  const gone = aPod({ metadata: GOING, deleted: true, status: terminated(0) });
  expect(lastWord(ended, gone)).toBe(ended);
  expect(lastWord(aPod({ status: running }), gone)).toBe(gone);
  expect(lastWord(undefined, gone)).toBe(gone);
  const evicted = aPod({ status: { ...terminated(137), reason: 'Evicted' } });
  expect(lastWord(aPod({ status: { ...terminated(137), phase: 'Running' } }), evicted)).toBe(evicted);
});

test.each<[string, PodParts | undefined, boolean]>([
  ['has none yet', undefined, true],
  ['has one that is not placed', { spec: { nodeName: undefined } }, false],
  ['has one that is being made', { status: waiting('ContainerCreating') }, true],
  ['has one of which its node tells why', { status: waiting('ErrImagePull') }, false],
  ['has one that runs', { status: running }, false],
  ['has one that ended, and may have been stopped', { status: terminated(0) }, true],
  ['has one that is gone', { deleted: true, status: terminated(0) }, true],
  ['has one that ended untold', { status: { phase: 'Failed' } }, true],
])('a Job that %s is told of by its pod, or by events', (_title, parts, needs) => {
  expect(needsEvents(parts ? { pod: aPod(parts) } : {})).toBe(needs);
});
