import { anAllocation, event, pullFailed, STARTED } from '../../test/nomad-allocations.js';
import { pullTroubleOf } from './nomad.pull.js';

const trouble = (why: string, image?: string) => pullTroubleOf(anAllocation({}, pullFailed(why, image)));

test.each([
  'unauthorized',
  'unauthorized: authentication required',
  'API error (404): manifest for r/x:1 not found: manifest unknown: manifest unknown',
  'manifest unknown',
  'Error response from daemon: pull access denied for r/x, repository does not exist or may require login',
  'denied: requested access to the resource is denied',
  'no basic auth credentials',
  'invalid reference format: repository name must be lowercase',
  'no matching manifest for linux/arm64 in the manifest list entries',
  'API error (400): invalid tag format',
])('N11 E03 nothing helps with %s', (why) => {
  expect(trouble(why)).toMatchObject({
    isFinal: true,
    text: expect.stringContaining(`Failed to pull \`r/x:1\`: ${why}`),
  });
});

test.each([
  'net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)',
  'net/http: TLS handshake timeout',
  'Get "https://registry/v2/": dial tcp 10.0.0.9:443: connect: connection refused',
  'dial tcp: lookup registry on 10.0.0.2:53: no such host',
  'received unexpected HTTP status: 503 Service Unavailable',
  'toomanyrequests: You have reached your unauthenticated pull rate limit; denied',
  'unexpected EOF',
  'write /var/lib/docker/tmp/x: no space left on device',
  'x509: certificate has expired or is not yet valid',
  'context deadline exceeded',
  'words that nobody knows',
])('N11 another try may help with %s', (why) => {
  expect(trouble(why)).toMatchObject({ isFinal: false, text: expect.stringContaining('r/x:1') });
});

test.each([
  ['timeout:1', 'pull access denied for timeout, repository does not exist', true],
  [
    'registry.test/team/not-found:500',
    'Get "https://registry.test/v2/team/not-found/manifests/500": i/o timeout',
    false,
  ],
  ['e:1', 'manifest for e:1 not found: manifest unknown', true],
  ['r.test/unauthorized@sha256:00', 'something new about r.test/unauthorized@sha256:00', false],
])('what an image is called says nothing of why: %s', (image, why, isFinal) => {
  expect(trouble(why, image)).toMatchObject({ isFinal });
});

describe('the way out', () => {
  const DENIED = 'pull access denied for it, repository does not exist or may require login';

  test.each(['runner:1', 'team/runner:1', 'runner'])(
    'of %s, which may have been built on the nodes, is one of three',
    (image) => {
      expect(trouble(DENIED, image)?.text).toMatch(
        /image_delay = "72h".*keep a container of it.*push it to a registry$/,
      );
    },
  );

  test.each(['registry.test/runner:1', 'localhost/runner:1', 'registry:5000/runner:1'])('of %s is a login', (image) => {
    expect(trouble(DENIED, image)?.text).toMatch(/`registry` secret for that host$/);
  });

  test('of a tag that does not exist is in the words of the registry', () => {
    expect(trouble('manifest unknown')?.text).toMatch(/: manifest unknown$/);
  });
});

test('an image that came in the end was no trouble, and other failures are none of an image', () => {
  expect(pullTroubleOf(anAllocation({}, pullFailed('timeout'), event('Restarting'), STARTED))).toBeUndefined();
  expect(
    pullTroubleOf(anAllocation({}, event('Driver Failure', 'failed to create container: no such device'))),
  ).toBeUndefined();
  expect(pullTroubleOf(anAllocation({}))).toBeUndefined();
});

test('its newest trouble counts, with no more of it than fits a line', () => {
  const both = anAllocation(
    {},
    pullFailed('unauthorized'),
    event('Restarting'),
    pullFailed(`timeout ${'\u001b[2J'.repeat(900)}`),
  );
  expect(pullTroubleOf(both)).toMatchObject({ isFinal: false, text: expect.stringMatching(/^[^\p{Cc}]{20,400}$/u) });
});
