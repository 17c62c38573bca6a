import { createServer } from 'node:http';
import { LiveCase } from './live-case.js';
import { describeLive, Site } from './site.js';

/** `host:port` of this machine at which the nodes ask by plain HTTP. */
const { EVERDICT_TEST_REGISTRY: REGISTRY } = process.env;
const withRegistry = REGISTRY ? test : test.skip;

describeLive('images', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  const pulling = (image: string, job = {}) =>
    new LiveCase(site, site.backend({ patience: { pullErrorMs: 20_000 } }), { job: { image, ...job } }).run();

  test('K01 an image that cannot be pulled is told within a minute, by the words of its node', async () => {
    const [unknown, bad] = await Promise.all([
      pulling('registry.invalid/agent:1'),
      pulling('registry.invalid/Agent:1'),
    ]);
    expect([unknown.outcome, unknown.isRetried]).toEqual(['infra IMAGE_PULL_FAILED', true]);
    expect(unknown.reason).toMatch(/registry\.invalid\/agent:1.*(no such host|lookup)/s);
    expect(unknown.tookMs).toBeLessThan(60_000);
    expect(bad.outcome).toMatch(/^(config IMAGE_UNAVAILABLE|config BAD_SPEC)$/);
    expect(bad.reason).toMatch(/registry\.invalid\/Agent:1/);
  }, 180_000);

  withRegistry(
    'E03 an image that is not there, or not for us, is told by the word of its registry',
    async () => {
      const [, port] = (REGISTRY ?? '').split(':');
      const given: string[] = [];
      const server = createServer(({ url = '', headers }, answer) => {
        if (headers.authorization) given.push(headers.authorization);
        const isPrivate = url.startsWith('/v2/private/');
        answer.writeHead(isPrivate ? 401 : 404, {
          'content-type': 'application/json',
          ...(isPrivate && { 'www-authenticate': 'Basic realm="test"' }),
        });
        answer.end(
          JSON.stringify({ errors: [{ code: isPrivate ? 'UNAUTHORIZED' : 'MANIFEST_UNKNOWN', message: '' }] }),
        );
      });
      await new Promise<void>((resolve) => server.listen(Number(port), () => resolve()));
      try {
        const registry = { username: 'puller', password: 'pull-password' };
        const [absent, closed] = await Promise.all([
          pulling(`${REGISTRY}/absent:1`),
          pulling(`${REGISTRY}/private:1`, { registry }),
        ]);
        expect([absent.outcome, absent.isRetried]).toEqual(['config IMAGE_UNAVAILABLE', false]);
        expect(absent.reason).toMatch(/not found/);
        expect([closed.outcome, closed.isRetried]).toEqual(['config IMAGE_UNAVAILABLE', false]);
        expect(closed.reason).toMatch(/unauthori[sz]ed|401/i);
        expect(given).toContain(`Basic ${Buffer.from('puller:pull-password').toString('base64')}`);
        expect(JSON.stringify([absent, closed])).not.toContain('pull-password');
      } finally {
        server.closeAllConnections();
        server.close();
      }
    },
    180_000,
  );
});
