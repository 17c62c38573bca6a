import { aPod, running, waiting } from '../../test/k8s-pods.js';
import { seenPod } from '../../test/k8s-seen.js';
import { pullFailureOf, pullTroubleOf } from './k8s.pull.js';

const IMAGE = 'registry.test/team/x:1';
const FRONT = `failed to pull and unpack image "${IMAGE}": failed to resolve reference "${IMAGE}": `;

const pulled = (reason: string, message?: string, image = IMAGE) =>
  pullTroubleOf(aPod({ spec: { containers: [{ name: 'main', image }] }, status: waiting(reason, message) }));

test.each([
  `${IMAGE}: not found`,
  `pulling from host registry.test failed with status code [manifests 1]: 401 Unauthorized`,
  'failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized',
  'pulling from host registry.test failed with status code [manifests 1]: 403 Forbidden',
  'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
  'reading manifest 1 in registry.test/team/x: manifest unknown',
  'pulling from host registry.test failed with status code [manifests 500]: 404 Not Found',
  'no match for platform in manifest: not found',
])('K01 E03 E45 nothing helps with %s', (why) => {
  const trouble = pulled('ErrImagePull', `rpc error: code = NotFound desc = ${FRONT}${why}`);
  expect(trouble).toMatchObject({
    isFinal: true,
    text: expect.stringContaining(`on node rack-1: ${why.replace(/ \[.*\]/, '')}`),
  });
});

test.each([
  'failed to do request: Head "https://registry.test/v2/team/x/manifests/1": dial tcp: lookup registry.test on 192.0.2.53:53: no such host',
  'failed to do request: Head "https://registry.test/v2/team/x/manifests/1": dial tcp 192.0.2.1:443: i/o timeout',
  'failed to do request: Head "https://registry.test/v2/team/x/manifests/1": dial tcp 192.0.2.1:443: connect: connection refused',
  'failed to do request: Head "https://registry.test/v2/team/x/manifests/1": tls: failed to verify certificate: x509: certificate signed by unknown authority',
  'pulling from host registry.test failed with status code [manifests 1]: 429 Too Many Requests',
  'pulling from host registry.test failed with status code [manifests 1]: 500 Internal Server Error',
  'failed to extract layer sha256:00: write /x: no space left on device',
  'failed to unpack image on snapshotter overlayfs: unexpected media type text/html for sha256:b7: not found',
  'words that nobody knows',
  '',
])('E45 another try may help with %s', (why) => {
  expect(pulled('ErrImagePull', `${FRONT}${why}`)).toMatchObject({ isFinal: false });
});

test('K01 whether its node pulls or waits for the next try, it is the same trouble', () => {
  const why = `${FRONT}${IMAGE}: not found`;
  const first = pulled('ErrImagePull', why);
  expect(pulled('ImagePullBackOff', `Back-off pulling image "${IMAGE}": ErrImagePull: ${why}`)).toEqual(first);
  expect(
    pulled(
      'ImagePullBackOff',
      `Back-off pulling image "${IMAGE}": ErrImagePull: rpc error: code = NotFound desc = ${why}`,
    ),
  ).toEqual(first);
  expect(pulled('ImagePullBackOff', `Back-off pulling image "${IMAGE}"`)).toEqual({
    isFinal: false,
    isUnasked: false,
    text: `the image ${IMAGE} cannot be pulled on node rack-1: ImagePullBackOff`,
  });
});

test.each<[string, boolean, RegExp]>([
  [
    'img-host',
    false,
    /^the image registry.invalid\/x:1 cannot be pulled on node node-1: failed to do request: .*no such host$/,
  ],
  ['img-invalid', true, /^the image a b cannot be pulled.*invalid reference format; give `image` a name/],
  ['img-upper', true, /Foo\/BAR:1.*must be lowercase; give `image` a name/],
  ['img-never', true, /is not present with pull policy of Never; load it on every node/],
])('E45 as a live cluster told of it: %s', (name, isFinal, text) => {
  expect(pullTroubleOf(seenPod(name))).toEqual({
    isFinal,
    isUnasked: isFinal,
    text: expect.stringMatching(text),
  });
});

test('an upper-case name is one that no registry can have, by older words', () => {
  expect(pulled('ErrImagePull', 'invalid reference format: repository name must be lowercase')).toMatchObject({
    isFinal: true,
    isUnasked: true,
    text: expect.stringMatching(/give `image` a name/),
  });
});

test('E03 E45 an image that does not come in time is not there, or could not be had', () => {
  const of = (why: string) => pulled('ErrImagePull', `${FRONT}${why}`);
  const failures = [of(`${IMAGE}: not found`), of('i/o timeout')].map((trouble) => trouble && pullFailureOf(trouble));
  expect(failures).toEqual([
    {
      code: 'IMAGE_UNAVAILABLE',
      message: expect.stringMatching(/^the image registry.test\/team\/x:1 cannot be pulled/),
    },
    { code: 'IMAGE_PULL_FAILED', message: expect.stringMatching(/i\/o timeout$/) },
  ]);
});

test('what an image is called says nothing of why', () => {
  const name = 'registry.test/team/not-found:500';
  expect(pulled('ErrImagePull', `failed to resolve reference "${name}": i/o timeout`, name)?.isFinal).toBe(false);
  expect(pulled('ErrImagePull', 'timeout:1: not found', 'timeout:1')?.isFinal).toBe(true);
});

test('K01 an image that its registry keeps needs a login', () => {
  expect(pulled('ErrImagePull', `${FRONT}401 Unauthorized`)?.text).toMatch(/`registry` secret for that host$/);
  expect(pulled('ErrImagePull', `${FRONT}${IMAGE}: not found`)?.text).toMatch(/: not found$/);
});

test('the image of what comes before it, or is put beside it, is waited for as well', () => {
  const initContainerStatuses = [
    { name: 'proxy-init', image: 'p:1', state: { waiting: { reason: 'ErrImagePull', message: 'p:1: not found' } } },
  ];
  const trouble = pullTroubleOf(aPod({ status: { ...waiting('PodInitializing'), initContainerStatuses } }));
  expect(trouble).toMatchObject({ isFinal: true, text: expect.stringMatching(/^the image p:1 cannot be pulled/) });
});

test('what waits for something else, or runs, has an image', () => {
  expect(pulled('ContainerCreating')).toBeUndefined();
  expect(pullTroubleOf(aPod({ status: running }))).toBeUndefined();
  expect(pullTroubleOf(aPod())).toBeUndefined();
});

test('no more of it than fits a line', () => {
  expect(pulled('ErrImagePull', `timeout ${'\u001b[2J'.repeat(900)}`)?.text).toMatch(/^[^\p{Cc}]{20,500}$/u);
});
