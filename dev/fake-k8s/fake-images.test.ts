import { FakeImages, type ImageRule } from './fake-images.js';

const HASH = 'a'.repeat(64);
const resolving = (image: string): string =>
  `failed to pull and unpack image "${image}": failed to resolve reference "${image}": `;

test.each<[ImageRule, string, string]>([
  [
    'not-found',
    'r.example/x:1',
    `rpc error: code = NotFound desc = ${resolving('r.example/x:1')}r.example/x:1: not found`,
  ],
  [
    'unauthorized',
    'r.example/x:1',
    `${resolving('r.example/x:1')}failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized`,
  ],
  [
    'time-out',
    'r.example:5000/team/x',
    `${resolving('r.example:5000/team/x')}failed to do request: Head "https://r.example:5000/v2/team/x/manifests/latest": dial tcp 192.0.2.1:443: i/o timeout`,
  ],
])('a registry that answers with %s is told in the words of a runtime', (rule, image, message) => {
  const images = new FakeImages();
  images.rules.set(image, rule);
  expect(images.troubleOf({ name: 'main', image })).toEqual({ reason: 'ErrImagePull', message });
});

test.each([
  ['busybox', /^docker\.io\/library\/busybox@sha256:[0-9a-f]{64}$/],
  ['team/x:1', /^docker\.io\/team\/x@sha256:[0-9a-f]{64}$/],
  ['r.example:5000/x:1', /^r\.example:5000\/x@sha256:[0-9a-f]{64}$/],
  [`r.example/x@sha256:${HASH}`, new RegExp(`^r\\.example/x@sha256:${HASH}$`)],
])('an image is named by its digest: %s', (image, id) => {
  expect(new FakeImages().idOf(image)).toMatch(id);
});
