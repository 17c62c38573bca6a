import { anAllocation, event, pullFailed, STARTED, terminated } from '../../test/nomad-allocations.js';
import { startTimeout } from '../start-timeouts.js';
import { startFailureOf, startProgressOf } from './nomad.start.js';

const RECEIVED = event('Received', 'Task received by client');

test.each([
  [
    [RECEIVED, event('Task Setup', 'Building Task Directory'), event('Driver', 'Downloading image')],
    /^pulling its image on node rack-1 \(Downloading image\)$/,
  ],
  [
    [RECEIVED, event('Task Setup', 'Building Task Directory')],
    /^starting on node rack-1: Task Setup: Building Task Directory$/,
  ],
  [[RECEIVED], /^placed on node rack-1, and nothing is heard of it yet$/],
  [[], /^placed on node rack-1, and nothing is heard of it yet$/],
  [
    [RECEIVED, pullFailed('timeout'), event('Restarting', 'Task restarting in 15s')],
    /^to be started again on node rack-1 after: Failed to pull `r\/x:1`: timeout$/,
  ],
  [
    [RECEIVED, STARTED, terminated('1'), event('Restarting')],
    /^to be started again on node rack-1 after: Exit Code: 1$/,
  ],
])('N13 how far it has come: %#', (events, text) => {
  const allocation = anAllocation({ ClientStatus: 'pending' }, ...events);
  expect(startProgressOf(allocation)).toMatch(text);
  expect(startTimeout(startProgressOf(allocation), 900)).toEqual({
    code: 'START_TIMEOUT',
    message: `not started 900 s after it was placed: ${startProgressOf(allocation)}`,
  });
});

const driver = (text: string) => event('Driver Failure', text, { driver_error: text });

test.each<[object, string, RegExp]>([
  [pullFailed('unauthorized'), 'IMAGE_UNAVAILABLE', /r\/x:1/],
  [pullFailed('i/o timeout'), 'IMAGE_PULL_FAILED', /i\/o timeout/],
  [
    event('Failed Validation', '', { validation_error: 'failed to parse config: no such key' }),
    'BAD_SPEC',
    /no such key/,
  ],
  [
    driver('OCI runtime create failed: exec: "/bin/sh": stat /bin/sh: no such file or directory'),
    'TOOL_MISSING',
    /image has no \/bin\/sh/,
  ],
  [driver('exec: "agent": executable file not found in $PATH'), 'COMMAND_NOT_FOUND', /agent/],
  [driver('fork/exec /bin/sh: argument list too long'), 'BAD_SPEC', /variables/],
  [driver('Unknown runtime specified runsc'), 'BAD_SPEC', /`runtime`/],
  [driver('Minimum memory limit allowed is 6MB'), 'BAD_SPEC', /`resources.memoryMb`/],
  [
    driver('Cannot connect to the Docker daemon at unix:///var/run/docker.sock'),
    'ALLOCATION_LOST',
    /driver on node rack-1.*Docker daemon/,
  ],
  [event('Killing', 'Template failed: (dynamic): parse: template: :1: unexpected "}"'), 'BAD_SPEC', /write its files/],
  [event('Killing', 'Template failed: rename: no space left on device'), 'ALLOCATION_LOST', /no space left/],
  [event('Failed Artifact Download', 'getter subprocess failed: exit status 1'), 'ALLOCATION_LOST', /exit status 1/],
  [event('Task hook failed', 'logmon: file name too long'), 'ALLOCATION_LOST', /logmon/],
  [event('Setup Failure', 'failed to build task dirs'), 'ALLOCATION_LOST', /task dirs/],
])('why it did not start: %j', (reason, code, message) => {
  const allocation = anAllocation({ ClientStatus: 'failed' }, RECEIVED, reason, event('Not Restarting'));
  expect(startFailureOf(allocation)).toEqual({ code, message: expect.stringMatching(message) });
});

test('what started, or says nothing, did not fail to start', () => {
  expect(startFailureOf(anAllocation({}, STARTED, terminated('1')))).toBeUndefined();
  expect(startFailureOf(anAllocation({}))).toBeUndefined();
});
