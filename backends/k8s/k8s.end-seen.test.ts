import { outcome } from '../../test/k8s-outcome.js';
import { seenEvents, seenJob, seenPod } from '../../test/k8s-seen.js';

const ofSeen = (name: string) => ({ pod: seenPod(name), events: seenEvents(name), job: seenJob(name) });

describe('as a live cluster told of it', () => {
  test.each<[title: string, name: string, as: string, reason: RegExp]>([
    [
      'K11 E45 memory of the process',
      'oom-main',
      'config OOM_KILLED',
      /the 20Mi of.*node-1 \(exit code 137\): raise `resources.memoryMb`/,
    ],
    ['K11 memory of a child alone', 'oom-child', 'config OOM_KILLED', /\(exit code 0\): raise `resources.memoryMb`/],
    [
      'K11 a kill alone',
      'kill9',
      'agent ABORTED',
      /exit code 137; if it ran out of memory, raise `resources.memoryMb`/,
    ],
    ['an end like others', 'exit3', 'agent ABORTED', /result: exit code 3$/],
    [
      'E45 a command that is not there',
      'nocmd',
      'harness COMMAND_NOT_FOUND',
      /is not there: node node-1 says: .*"\/nope"/,
    ],
    [
      'a command that cannot be executed',
      'devnull',
      'harness COMMAND_NOT_FOUND',
      /cannot be executed: .*permission denied/,
    ],
    [
      'an image without a user',
      'wd',
      'config BAD_SPEC',
      /cannot be started as it is declared: node node-1 says: .*unable to find user 0/,
    ],
    ['what comes before it is not there', 'initbad', 'harness COMMAND_NOT_FOUND', /"\/nope"/],
    [
      'what comes before it failed',
      'initfail',
      'infra ALLOCATION_LOST',
      /container payload.*failed on node node-1 \(exit code 4\)/,
    ],
    [
      'what comes before it ran out of memory',
      'initoom',
      'config OOM_KILLED',
      /container payload.*raise `resources.memoryMb`/,
    ],
    [
      'more disk than it may have',
      'disk',
      'agent ABORTED',
      /more than the disk.*exit code 137\): Pod ephemeral local storage usage exceeds/,
    ],
    [
      'more in a volume than it may have',
      'emptydir',
      'agent ABORTED',
      /more than the disk.*EmptyDir volume "d" exceeds the limit/,
    ],
    ['the time of its pod was over', 'poddeadline', 'agent TIMEOUT', /was over after 8 s \(exit code 137\)/],
    ['K13 a sidecar runs on', 'sidecar', 'agent ABORTED', /result: exit code 0$/],
    [
      'deleted, TERM answered with 0, its Job complete',
      'term',
      'infra EVICTED',
      /somebody deleted its pod.*on node node-1 \(exit code 0\)/,
    ],
    ['deleted, killed after its grace', 'notrap', 'infra EVICTED', /somebody deleted its pod.*\(exit code 137\)/],
    ['deleted by force', 'forced', 'infra EVICTED', /somebody deleted its pod/],
    [
      'evicted through the API',
      'evicted',
      'infra EVICTED',
      /evicted by others.*node-1 \(exit code 137\): Eviction API: evicting/,
    ],
    [
      'preempted',
      'victim',
      'infra EVICTED',
      /preempted for a pod of higher priority.*\(exit code 137\): default-scheduler/,
    ],
    ['its Job suspended', 'suspendrun', 'infra EVICTED', /its Job was suspended in Kubernetes/],
    ['its Job deleted', 'jobgone', 'infra EVICTED', /its Job was deleted in Kubernetes/],
    [
      'a node that did not match',
      'hostport',
      'infra ALLOCATION_LOST',
      /node node-1 did not take it.*NodeAffinity: Pod was rejected/,
    ],
    ['a node without room', 'outof', 'infra ALLOCATION_LOST', /did not take it.*OutOfcpu.*capacity: 2000/],
  ])('%s', (_title, name, as, reason) => {
    const { job, ...ending } = ofSeen(name);
    const end = outcome({ ...ending, ...(job && { job }) }, job === undefined);
    expect(end).toEqual({ as, retried: as.startsWith('infra'), reason: expect.stringMatching(reason) });
  });
});
