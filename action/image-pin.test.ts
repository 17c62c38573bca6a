import { Session } from '../cli/session.js';
import { type Answer, type Asked, aPlatform, aTerminal, problem } from '../test/cli-fakes.js';
import { pinImage, pinnedVersion } from './image-pin.js';

const DIGEST = '0123456789abcdef'.repeat(4);
const IMAGE = `ghcr.io/acme/agent@sha256:${DIGEST}`;
const PINNED = '1.2.3-0.image-0123456789abcdef';
const HARNESS = {
  id: 'solver',
  version: '1.2.3',
  kind: 'command',
  command: 'solve',
  image: 'ghcr.io/acme/agent:1.2.3',
};

async function pin(
  ref: string,
  image: string,
  { isTagAllowed = false, spec = HARNESS, reply = ({ body }: Asked): Answer => ({ status: 201, body }) } = {},
) {
  const answer = (asked: Asked): Answer => {
    if (asked.method === 'POST' || asked.path.endsWith(PINNED)) return reply(asked);
    return { body: spec };
  };
  const platform = await aPlatform(answer);
  try {
    const session = new Session(aTerminal(), { url: platform.url });
    return { ref: await pinImage(session, ref, { image, isTagAllowed }), asked: platform.asked };
  } finally {
    await platform.close();
  }
}

test('a version of the harness that differs only in its image is registered and named', async () => {
  const { ref, asked } = await pin('solver', IMAGE);
  expect(ref).toBe(`solver@${PINNED}`);
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /harnesses/solver/versions/latest',
    'POST /harnesses',
  ]);
  const registered = JSON.parse(asked[1]?.body ?? '') as object;
  expect(registered).toMatchObject({ ...HARNESS, version: PINNED, image: IMAGE });
});

test('a harness that has this image already is taken as it is', async () => {
  const { ref, asked } = await pin('solver@1.2.3', IMAGE, { spec: { ...HARNESS, image: IMAGE } });
  expect(ref).toBe('solver@1.2.3');
  expect(asked).toHaveLength(1);
});

test('a workflow that may not register uses what a member did, and is told where nobody has', async () => {
  const forbidden = problem(403, { code: 'FORBIDDEN', detail: 'ci may not' });
  const there = { body: { ...HARNESS, version: PINNED, image: IMAGE } };
  const ci =
    (found: Answer) =>
    ({ method }: Asked): Answer =>
      method === 'POST' ? forbidden : found;
  expect((await pin('solver', IMAGE, { reply: ci(there) })).ref).toBe(`solver@${PINNED}`);
  const absent = problem(404, { code: 'NOT_FOUND', detail: 'there is none' });
  await expect(pin('solver', IMAGE, { reply: ci(absent) })).rejects.toThrow(/solver@1\.2\.3-0\..* CI may not/);
});

test('a tag is refused before the platform is asked, unless it is allowed', async () => {
  const tag = 'ghcr.io/acme/agent:main';
  await expect(pin('solver', tag)).rejects.toThrow(/names no digest .* allow-mutable-image/);
  await expect(pin('solver', `${IMAGE}0`)).rejects.toThrow(/names no digest/);
  expect((await pin('solver', tag, { isTagAllowed: true })).ref).toMatch(/^solver@1\.2\.3-0\.image-[0-9a-f]{16}$/);
});

test.each([
  ['1.2.3', '1.2.3-0.image-ab'],
  ['1.2.3-rc.1', '1.2.3-0.rc.1.image-ab'],
  ['1.2.3+build', '1.2.3-0.image-ab+build'],
])('the pinned version of %s is %s, which sorts below it', (version, pinned) => {
  expect(pinnedVersion({ id: 'solver', version }, 'ab')).toBe(pinned);
});

test('a version that has no order cannot be pinned below', () => {
  expect(() => pinnedVersion({ id: 'solver', version: '7' }, 'ab')).toThrow(/solver has 7/);
});
