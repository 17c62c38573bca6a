import { GIT_CREDENTIAL_FILE, gitCredentialFile } from '../../policy/git-credential.js';
import type { Answer } from './admin.js';
import { LiveCase } from './live-case.js';
import { describeLive, Site } from './site.js';

const PASSWORD = 'canary-9f1c';

describeLive('what jobs are given', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  /** Looks at what there is once the job is there, and before it starts. */
  const before = async <Found>(live: LiveCase, look: () => Promise<Found>): Promise<Found> => {
    let found: Found | undefined;
    expect(
      await live.backend.submit(live.job, live.ref, async () => {
        found = await look();
        return true;
      }),
    ).toBe('created');
    if (found === undefined) throw new Error('it was not asked whether its attempt goes on');
    return found;
  };

  const ownersOf = ({ metadata }: Answer): unknown[] => {
    const { ownerReferences = [] } = metadata as { ownerReferences?: { kind: string; name: string }[] };
    return ownerReferences.map(({ kind, name }) => `${kind}/${name}`);
  };

  test('all that a job is given belongs to it before it starts', async () => {
    const registry = { username: 'puller', password: PASSWORD };
    const image = 'registry.invalid/agent:1';
    const live = new LiveCase(site, site.backend(), { job: { registry, image, network: 'none' } });
    const found = await before(live, async () => ({
      secrets: await live.owned(site.path('secrets')),
      policies: await live.owned(site.policies()),
      pods: await live.owned(site.path('pods')),
    }));
    const job = `Job/${live.ref.name}`;
    expect(found.pods).toEqual([]);
    expect(found.secrets.map(ownersOf)).toEqual([[job], [job]]);
    expect(new Set(found.secrets.map(({ type }) => type))).toEqual(
      new Set(['Opaque', 'kubernetes.io/dockerconfigjson']),
    );
    expect(found.policies.map(ownersOf)).toEqual([[job]]);
    // Nothing is allowed: of an empty list the API tells nothing.
    expect(found.policies[0]?.spec).toEqual({
      podSelector: { matchLabels: { 'everdict.dev/allocation': live.ref.name } },
      policyTypes: ['Egress'],
    });
    const objects = JSON.stringify([await live.owned(site.jobs()), await live.owned(site.path('pods'))]);
    for (const secret of [PASSWORD, live.ref.nonce, site.token]) expect(objects).not.toContain(secret);
    await live.stop();
  }, 120_000);

  test('the credential of a checkout can be deleted by its job', async () => {
    const file = `/everdict/payload/${GIT_CREDENTIAL_FILE}`;
    const live = new LiveCase(site, site.backend(), { command: `wc -l <${file}; rm ${file}; ls /everdict/payload` });
    const credential = Buffer.from(gitCredentialFile({ username: 'x', password: PASSWORD }));
    live.job.payload = new Map([...live.job.payload, [GIT_CREDENTIAL_FILE, credential]]);
    const { outcome, output } = await live.run();
    expect(outcome).toBe('passed');
    expect(output.split('\n')).toEqual(expect.arrayContaining(['2', 'command']));
    expect(output.split('\n')).not.toContain(GIT_CREDENTIAL_FILE);
  }, 120_000);
});
